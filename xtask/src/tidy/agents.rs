//! Agents' names: only `antiphon-formats` knows them.
//!
//! Other code that has to know something about an agent asks its layout, so that an agent is added
//! in one place. The names are read from the formats themselves. Comments and tests may name any
//! agent.

use std::collections::BTreeSet;

use super::lexer::{is_word, test_items};
use super::{Finding, Source};

const FORMATS: &str = "crates/antiphon-formats/src/";

/// Files, and folders of files, that may name agents, and why.
const MAY_NAME: &[(&str, &str)] = &[
    ("crates/antiphon/src/commands/search.rs", "the help shows a filter as people type it"),
    ("crates/antiphon-views/src/prices/name.rs", "vendors of models are called like their agents"),
    ("crates/antiphon-views/src/window.rs", "models are called like their agents"),
    ("crates/antiphon/src/commands/statusline.rs", "the help says whose status line it is"),
    ("crates/antiphon-views/src/context_reference.rs", "`CLAUDE.md` is a file of every project"),
    ("crates/antiphon-documents/src/session.rs", "`claude_md` is a word of the standard"),
    ("crates/antiphon-documents/src/interfaces/single.rs", "the same, as published"),
    ("crates/antiphon-views/src/svg.rs", "`&amp;` is an entity"),
    ("crates/antiphon-pages/src/text.rs", "the same"),
    ("crates/antiphon-pages/src/markdown.rs", "the same"),
];

pub(super) fn check(files: &[Source], findings: &mut Vec<Finding>) {
    let agents = agents(files);
    let tests: BTreeSet<String> = files.iter().flat_map(test_modules).collect();
    let is_test = |file: &Source| {
        let module = file.path.strip_suffix(".rs").unwrap_or_default();
        tests.iter().any(|test| module == test || module.starts_with(&format!("{test}/")))
    };
    for file in files.iter().filter(|file| is_bound(file) && !is_test(file)) {
        let literals = file.product_literals();
        for agent in &agents {
            for byte in named(&literals, agent).filter(|&byte| !is_example(file, byte)) {
                let what = format!("the agent `{agent}` is named in a literal");
                let instead = "ask the format or its layout; an agent is added in one crate";
                findings.push(file.finding(byte, what, instead));
            }
        }
    }
}

fn is_bound(file: &Source) -> bool {
    let is_product = file.path.starts_with("crates/") && file.is_below("src") && file.is_rust();
    let may_name = MAY_NAME.iter().any(|(place, _)| file.path.starts_with(place));
    is_product && !file.path.starts_with(FORMATS) && !may_name
}

/// Whether this is in an example of the help: a command that people type.
fn is_example(file: &Source, byte: usize) -> bool {
    let before = file.text.get(..byte).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.starts_with("  antiphon ")
}

/// The first word of each agent's name, by which it is known wherever it keeps something.
fn agents(files: &[Source]) -> BTreeSet<String> {
    let formats = files.iter().filter(|file| file.path.starts_with(FORMATS) && !file.is_test());
    let agents = formats.filter(|file| file.product_code().contains("kept: Some("));
    agents.filter_map(first_word).collect()
}

/// The first word of the name in a format's file.
fn first_word(format: &Source) -> Option<String> {
    const NAME: &str = "name: \"";
    let name = format.product_code().find(NAME)? + NAME.len();
    let word = format.text.get(name..)?.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    Some(word.to_owned())
}

/// The modules in files of their own that a file declares for tests only: their paths, without an
/// extension.
fn test_modules(file: &Source) -> Vec<String> {
    if !file.is_rust() {
        return Vec::new();
    }
    let code = file.code();
    let (folder, name) = file.path.rsplit_once('/').unwrap_or_default();
    let folder = match name.trim_end_matches(".rs") {
        "lib" | "main" | "mod" => folder.to_owned(),
        module => format!("{folder}/{module}"),
    };
    let items = test_items(&code).into_iter().filter_map(|item| code.get(item));
    let module = |item: &str| {
        let (_, name) = item.strip_suffix(';')?.rsplit_once("mod ")?;
        name.bytes().all(is_word).then(|| format!("{folder}/{name}"))
    };
    items.filter_map(module).collect()
}

/// The places of a word in any spelling: `.claude`, `CLAUDE_HOME`, `ClaudeCode`.
fn named<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let lower = text.to_ascii_lowercase();
    let places: Vec<usize> = lower.match_indices(word).map(|(at, _)| at).collect();
    places.into_iter().filter(move |&at| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        let is_upper = text.get(at..).is_some_and(|it| it.starts_with(char::is_uppercase));
        // `Pi` begins a word in `myPi`, and none in `API` or `Pidgin`.
        let begins = before.is_none_or(|c| !c.is_alphanumeric() || c.is_lowercase() && is_upper);
        begins && after.is_none_or(|c| !c.is_alphanumeric() || c.is_uppercase())
    })
}
