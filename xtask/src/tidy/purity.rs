//! The pure crates: no I/O, no clock, no order that comes from a hash.
//!
//! Their results are the same for the same log on any machine, and this rule guarantees it. Their
//! tests are exempt.

use super::words::find;
use super::{Finding, Source};

/// Crates that do not exist yet are covered from their first line.
const PURE: &[&str] = &[
    "antiphon-documents",
    "antiphon-formats",
    "antiphon-model",
    "antiphon-pages",
    "antiphon-redact",
    "antiphon-views",
];

const IO: &str = "take the bytes as an argument; files and sockets belong to the callers";
const CLOCK: &str = "take the time from the event, or as an argument";
const HASH: &str = "use BTreeMap or BTreeSet, whose order is the same everywhere";

/// Modules of `std`.
const MODULES: &[(&str, &str)] = &[
    ("fs", IO),
    ("net", IO),
    ("process", IO),
    ("env", "take the setting as an argument; the binary alone reads the environment"),
];

const WORDS: &[(&str, &str)] = &[
    ("SystemTime", CLOCK),
    ("Instant", CLOCK),
    ("Timestamp::now", CLOCK),
    ("HashMap", HASH),
    ("HashSet", HASH),
];

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    let is_pure = |name: &&str| {
        let below = file.path.strip_prefix("crates/").and_then(|path| path.strip_prefix(*name));
        below.is_some_and(|below| below.starts_with("/src/"))
    };
    if !file.is_rust() || !PURE.iter().any(is_pure) {
        return;
    }
    let code = file.product_code();
    let mut report = |byte, what: &str, instead| {
        findings.push(file.finding(byte, format!("`{what}` in a pure crate"), instead));
    };
    for &(word, instead) in WORDS {
        for byte in find(&code, word) {
            report(byte, word, instead);
        }
    }
    for &(module, instead) in MODULES {
        let path = format!("std::{module}");
        for byte in find(&code, &path).chain(grouped(&code, module)) {
            report(byte, &path, instead);
        }
    }
}

/// Where `use std::{...}` names the module.
fn grouped<'c>(code: &'c str, module: &'c str) -> impl Iterator<Item = usize> + 'c {
    const OPEN: &str = "std::{";
    find(code, OPEN).flat_map(move |at| {
        let start = at + OPEN.len();
        let group = code.get(start..).unwrap_or_default();
        let mut depth = 0usize;
        let mut starts_item = true;
        let mut places = Vec::new();
        for (byte, character) in group.char_indices() {
            let item = group.get(byte..).unwrap_or_default();
            if depth == 0 && starts_item && find(item, module).next() == Some(0) {
                places.push(start + byte);
            }
            match character {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                _ => {}
            }
            starts_item = character == ',' || (starts_item && character.is_whitespace());
        }
        places
    })
}
