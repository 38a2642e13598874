//! Words that are forbidden in Rust files, each with what to write instead.

use super::lexer::is_word;
use super::{Finding, Source};

struct Banned {
    word: &'static str,
    instead: &'static str,
}

/// In all code, tests included.
const EVERYWHERE: &[Banned] = &[
    Banned { word: "dbg!(", instead: "remove it, or assert what you looked for" },
    Banned { word: "todo!(", instead: "write it, or return an error that says so" },
    Banned { word: "unimplemented!(", instead: "write it, or return an error that says so" },
    Banned { word: "#[ignore", instead: "make the test fast, or remove it" },
];

const IN_COMMENTS: &[Banned] =
    &[Banned { word: "FIXME", instead: "fix it, or write a TODO with the number of an issue" }];

const IN_JOURNAL: &[Banned] = &[Banned {
    word: "BufWriter",
    instead: "a log line is one write: build the line, then write it whole",
}];

const PRINTING: &[Banned] = &[
    Banned { word: "println!(", instead: PRINT },
    Banned { word: "eprintln!(", instead: PRINT },
    Banned { word: "print!(", instead: PRINT },
    Banned { word: "eprint!(", instead: PRINT },
];

const PRINT: &str = "go through crates/antiphon/src/terminal, which escapes what was recorded";

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    if !file.is_rust() {
        return;
    }
    let code = file.code();
    search(file, &code, EVERYWHERE, findings);
    search(file, &file.comments(), IN_COMMENTS, findings);
    if file.path.starts_with("crates/antiphon-journal/src/") {
        search(file, &code, IN_JOURNAL, findings);
    }
    if !may_print(file) {
        search(file, &file.product_code(), PRINTING, findings);
    }
}

fn may_print(file: &Source) -> bool {
    ["crates/antiphon/src/terminal/", "crates/antiphon/src/terminal.rs", "xtask/"]
        .iter()
        .any(|place| file.path.starts_with(place))
        || ["benches", "examples"].iter().any(|folder| file.is_below(folder))
        // Cargo reads what a build script prints.
        || file.file_name() == "build.rs"
}

fn search(file: &Source, text: &str, banned: &[Banned], findings: &mut Vec<Finding>) {
    for Banned { word, instead } in banned {
        for byte in find(text, word) {
            findings.push(file.finding(byte, format!("`{word}`"), instead));
        }
    }
}

/// The places of a word that is not part of a longer one.
pub(super) fn find<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let bytes = text.as_bytes();
    let touches = |outside: Option<&u8>, edge: Option<&u8>| {
        outside.is_some_and(|&byte| is_word(byte)) && edge.is_some_and(|&byte| is_word(byte))
    };
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let after = bytes.get(at + word.len());
        !touches(before, word.as_bytes().first()) && !touches(after, word.as_bytes().last())
    })
}
