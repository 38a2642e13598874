//! Recorded text on its way to a page.
//!
//! A text is cleaned as a whole and cut only then: half of a secret is no secret that a rule knows.

use antiphon_model::is_dangerous;
use antiphon_views::{clip, size};

use crate::Page;

/// A recorded text without secrets and terminal colours. It is still hostile: a page takes it only
/// through [`push_html`](Self::push_html) or [`push_line`](Self::push_line).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Clean(String);

impl Page<'_> {
    pub(crate) fn clean(&self, text: &str) -> Clean {
        // Without its colours a secret may come together that was not one before.
        let plain = without_colours(text);
        Clean((self.redact)(&plain))
    }

    /// The beginning of a text, on one line.
    pub(crate) fn clean_line(&self, text: &str, width: usize) -> Clean {
        Clean(clip(&self.clean(text).0, width))
    }
}

impl Clean {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// The beginning of this text, on one line.
    pub(crate) fn line(&self, width: usize) -> Self {
        Self(clip(&self.0, width))
    }

    /// Two parts, the first of about `bytes`, divided between lines if there is one.
    pub(crate) fn split(&self, bytes: usize) -> (Self, Option<Self>) {
        if self.0.len() <= bytes + bytes / 4 {
            return (self.clone(), None);
        }
        let head = self.0.floor_char_boundary(bytes);
        let line = self.0.get(..head).and_then(|it| it.rfind('\n')).map(|at| at + 1);
        let head = line.filter(|&at| at > bytes / 2).unwrap_or(head);
        let (head, tail) = self.0.split_at(head);
        (Self(head.to_owned()), Some(Self(tail.to_owned())))
    }

    /// The beginning and the end of a long text, and between them how much is left out.
    pub(crate) fn shortened(mut self, bytes: usize) -> Self {
        if self.0.len() <= bytes + bytes / 4 {
            return self;
        }
        let head = self.0.floor_char_boundary(bytes / 3 * 2);
        let tail = self.0.ceil_char_boundary(self.0.len() - bytes / 3);
        let line_end = |text: &str| text.rfind('\n').map(|at| at + 1);
        let head =
            self.0.get(..head).and_then(line_end).filter(|&at| at > head / 2).unwrap_or(head);
        let next_line = self.0.get(tail..).and_then(|rest| rest.find('\n')).map(|at| tail + at + 1);
        let tail = next_line.filter(|&at| at < self.0.len() - bytes / 6).unwrap_or(tail);
        let note = format!("\n… {} left out …\n", size(tail - head));
        self.0.replace_range(head..tail, &note);
        self
    }

    /// Writes it as the text of an element. This is the only way from recorded text into markup.
    pub(crate) fn push_html(&self, out: &mut String) {
        push_html(out, &self.0);
    }

    /// Writes it on one line of text, with everything visible.
    pub(crate) fn push_line(&self, out: &mut String) {
        out.push_str(&one_line(&self.0));
    }

    /// The same text with everything visible that is not.
    pub(crate) fn visible(&self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for c in self.0.chars() {
            match c {
                '\n' | '\t' => out.push(c),
                c => push_visible(&mut out, c),
            }
        }
        out
    }
}

/// A text on one line, with everything visible.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            c => push_visible(&mut out, c),
        }
    }
    out
}

/// A part of a clean text, as a parser of Markdown gives it.
pub(crate) fn push_html(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if is_hidden(c) => {
                out.push_str("<i class=\"hidden\">");
                push_visible(out, c);
                out.push_str("</i>");
            }
            c => out.push(c),
        }
    }
}

/// Whether a character cannot be seen, or changes how others are seen.
fn is_hidden(c: char) -> bool {
    // The last two of each plane are no characters, and HTML forbids them.
    is_dangerous(c) || u32::from(c) & 0xfffe == 0xfffe
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\u{1b}' => out.push('␛'),
        c if is_hidden(c) => out.push_str(&format!("U+{:04X}", u32::from(c))),
        c => out.push(c),
    }
}

/// The text without sequences that only set colours, and with one kind of line end.
fn without_colours(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains(['\u{1b}', '\r']) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\u{1b}', '\r']) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        if let Some(behind) = found.strip_prefix('\r') {
            // A terminal writes over the line; here the lines stand one below the other.
            out.push_str(if behind.starts_with('\n') { "" } else { "\n" });
            rest = behind;
        } else if let Some(behind) = colour(found) {
            rest = behind;
        } else {
            out.push('\u{1b}');
            rest = found.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out.into()
}

/// What follows a sequence that sets a colour.
fn colour(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    parameters
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == ';' || c == ':')
        .strip_prefix('m')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_other_sequences_are_seen() {
        let clean =
            Clean(without_colours("\u{1b}[1;31mred\u{1b}[0m\r\n\u{1b}[2Jgone\rover").into());
        assert_eq!(clean.as_str(), "red\n\u{1b}[2Jgone\nover");
        assert_eq!(clean.visible(), "red\n␛[2Jgone\nover");
        let mut html = String::new();
        clean.push_html(&mut html);
        assert_eq!(html, "red\n<i class=\"hidden\">␛</i>[2Jgone\nover");
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let text: String = (0..1000).map(|n| format!("line {n}\n")).collect();
        let short = Clean(text.clone()).shortened(300);
        assert!(short.as_str().starts_with("line 0\n") && short.as_str().ends_with("line 999\n"));
        assert!(short.as_str().contains("\n… 9 KB left out …\n"), "{}", short.as_str());
        let whole = Clean("é".repeat(100));
        assert_eq!(whole.clone().shortened(160), whole);
        assert!(Clean("é".repeat(1000)).shortened(100).as_str().len() < 160);
        let (head, tail) = Clean(text.clone()).split(100);
        assert!(head.as_str().ends_with('\n'));
        assert_eq!(format!("{}{}", head.as_str(), tail.unwrap().as_str()), text);
    }
}
