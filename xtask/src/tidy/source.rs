//! One file, as the rules see it: its path from the root, its text, and for Rust, its parts.

use super::Finding;
use super::lexer::{self, Part};

/// A text file of the repository.
#[derive(Debug)]
pub(super) struct Source {
    /// From the root of the repository, with `/` between the parts.
    pub(super) path: String,
    pub(super) text: String,
    /// For each byte of `text`; empty if the file is not Rust.
    parts: Vec<Part>,
}

impl Source {
    pub(super) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let parts = if path.ends_with(".rs") { lexer::parts(text.as_bytes()) } else { Vec::new() };
        Self { path, text, parts }
    }

    pub(super) fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    pub(super) fn has_extension(&self, extensions: &[&str]) -> bool {
        let extension = self.file_name().rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|extension| extensions.contains(&extension))
    }

    pub(super) fn is_rust(&self) -> bool {
        self.has_extension(&["rs"])
    }

    /// Whether the file is somewhere below a folder of that name.
    pub(super) fn is_below(&self, folder: &str) -> bool {
        self.path.rsplit('/').skip(1).any(|part| part == folder)
    }

    /// Whether all of the file is test code.
    pub(super) fn is_test(&self) -> bool {
        self.file_name() == "tests.rs" || self.is_below("tests")
    }

    /// The lines with their numbers. A `\r` stays on its line, where a rule can see it.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        // The text after the last line feed is a line only if there is some.
        self.text
            .split_inclusive('\n')
            .map(|line| line.strip_suffix('\n').unwrap_or(line))
            .zip(1..)
            .map(|(line, number)| (number, line))
    }

    /// The Rust code: comments and the contents of literals are blanked, places stay.
    pub(super) fn code(&self) -> String {
        self.only(Part::Code)
    }

    /// [`Self::code`] without what is compiled for tests only.
    pub(super) fn product_code(&self) -> String {
        self.without_tests(self.code())
    }

    /// The contents of literals, without those that are compiled for tests only; places stay.
    pub(super) fn product_literals(&self) -> String {
        self.without_tests(self.only(Part::Literal))
    }

    /// Blanks what is compiled for tests only, in a text with the same places as this file.
    fn without_tests(&self, text: String) -> String {
        if self.is_test() {
            return String::new();
        }
        let mut bytes = text.into_bytes();
        for item in lexer::test_items(&self.code()) {
            let item = bytes.get_mut(item).into_iter().flatten();
            item.filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        // An item begins and ends with a character of its own, so none is cut.
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The comments: everything else is blanked, places stay.
    pub(super) fn comments(&self) -> String {
        self.only(Part::Comment)
    }

    /// How many characters of each line are outside literals.
    pub(super) fn widths_without_literals(&self) -> Vec<usize> {
        let mut widths = vec![0];
        for (character, part) in self.characters() {
            match (character, widths.last_mut()) {
                ('\n', _) => widths.push(0),
                (_, Some(width)) if part != Part::Literal => *width += 1,
                _ => {}
            }
        }
        widths
    }

    /// Reports a violation at a byte of the text.
    pub(super) fn finding(&self, byte: usize, what: String, instead: &'static str) -> Finding {
        let before = self.text.as_bytes().iter().take(byte);
        let line = 1 + before.filter(|&&byte| byte == b'\n').count();
        self.finding_on_line(line, what, instead)
    }

    pub(super) fn finding_on_line(
        &self,
        line: usize,
        what: String,
        instead: &'static str,
    ) -> Finding {
        Finding { path: self.path.clone(), line, what, instead }
    }

    fn only(&self, wanted: Part) -> String {
        let mut text = String::with_capacity(self.text.len());
        for (character, part) in self.characters() {
            if part == wanted || character == '\n' {
                text.push(character);
            } else {
                text.extend(std::iter::repeat_n(' ', character.len_utf8()));
            }
        }
        text
    }

    fn characters(&self) -> impl Iterator<Item = (char, Part)> {
        self.text
            .char_indices()
            .map(|(at, character)| (character, self.parts.get(at).copied().unwrap_or(Part::Code)))
    }
}
