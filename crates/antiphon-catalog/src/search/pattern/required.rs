//! The literals that every match of a pattern contains.
//!
//! `Time(d out|s upon) after \d+` needs `time`, ` after ` and one of `d out` and `s upon`. that
//! are too short to rule anything out are left out.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Of more alternatives, one is almost always there.
const ALTERNATIVES_MAX: usize = 32;
const GROUPS_MAX: usize = 16;
/// A literal must have so many letters or digits in a row.
const LETTERS_MIN: usize = 3;

/// Groups of literals in lower case, of each of which a match contains one; none if nothing is
/// known.
pub(super) fn required(pattern: &str) -> Vec<Vec<String>> {
    // As it is written: letters of either case are compared in lower case anyway.
    let parsed = ParserBuilder::new().multi_line(true).build().parse(pattern);
    let Ok(hir) = parsed else { return Vec::new() };
    let mut groups = groups(&hir);
    // The most telling first, so that these are kept.
    groups.sort_by_key(|group| std::cmp::Reverse(worth(group)));
    groups.truncate(GROUPS_MAX);
    groups
}

// The parser bounds how deeply a pattern may be nested, and so how deep this goes.
fn groups(hir: &Hir) -> Vec<Vec<String>> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Vec::new(),
        HirKind::Literal(_) | HirKind::Class(_) => {
            literal(hir).and_then(|text| group(&text)).into_iter().collect()
        }
        HirKind::Repetition(repeated) if repeated.min == 0 => Vec::new(),
        HirKind::Repetition(repeated) => groups(&repeated.sub),
        HirKind::Capture(capture) => groups(&capture.sub),
        HirKind::Concat(parts) => {
            let (mut found, mut run) = (Vec::new(), String::new());
            for part in parts {
                match literal(part) {
                    Some(text) => run.push_str(&text),
                    None => {
                        found.extend(group(&std::mem::take(&mut run)));
                        found.extend(groups(part));
                    }
                }
            }
            found.extend(group(&run));
            found
        }
        HirKind::Alternation(branches) => {
            let mut any = Vec::new();
            for branch in branches {
                let best = groups(branch).into_iter().max_by_key(|group| worth(group));
                // A branch that needs nothing: so does the whole.
                let Some(mut best) = best else { return Vec::new() };
                any.append(&mut best);
            }
            if any.len() > ALTERNATIVES_MAX { Vec::new() } else { vec![any] }
        }
    }
}

/// What a part matches, if it is one text whatever its case.
fn literal(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
        HirKind::Capture(capture) => literal(&capture.sub),
        // `[kK]`, which `(?i)k` is.
        HirKind::Class(Class::Unicode(class)) => {
            const VARIANTS_MAX: usize = 4;
            let ranges = class.ranges().iter();
            let letters = ranges.flat_map(|range| range.start()..=range.end());
            let letters: Vec<char> = letters.take(VARIANTS_MAX + 1).collect();
            let first: String = letters.first()?.to_lowercase().collect();
            let is_one = letters.iter().all(|letter| letter.to_lowercase().eq(first.chars()));
            (is_one && letters.len() <= VARIANTS_MAX).then_some(first)
        }
        HirKind::Empty
        | HirKind::Look(_)
        | HirKind::Class(Class::Bytes(_))
        | HirKind::Repetition(_)
        | HirKind::Concat(_)
        | HirKind::Alternation(_) => None,
    }
}

/// A literal as a group of its own, if it says enough.
fn group(text: &str) -> Option<Vec<String>> {
    let text = text.to_lowercase();
    (longest_run(&text) >= LETTERS_MIN).then(|| vec![text])
}

/// How much a group rules out, roughly: as much as its shortest literal.
fn worth(group: &[String]) -> usize {
    group.iter().map(|text| longest_run(text)).min().unwrap_or_default()
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    runs.map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_that_every_match_contains() {
        let check = |pattern: &str, wanted: &[&[&str]]| {
            let mut found = required(pattern);
            found.sort();
            let mut wanted: Vec<Vec<String>> = wanted
                .iter()
                .map(|group| group.iter().map(|&text| text.to_owned()).collect())
                .collect();
            wanted.sort();
            assert_eq!(found, wanted, "{pattern}");
        };
        check("connection", &[&["connection"]]);
        check(r"timed? ?out after \d+ s", &[&["time"], &["out after "]]);
        check("Time(d out|s upon) after", &[&["time"], &["d out", "s upon"], &[" after"]]);
        check("Time(d out|s up) after", &[&["time"], &[" after"]]);
        check("error|warning|note", &[&["error", "warning", "note"]]);
        check("error|.*", &[]);
        check("(abc)?def", &[&["def"]]);
        check("(abc){0,3}", &[]);
        check("(abc){2,3}x", &[&["abc"]]);
        check("(?i)Kelvin", &[&["kelvin"]]);
        check("[Tt]est", &[&["test"]]);
        check("[ab]est", &[&["est"]]);
        check(r"\bfn \w+_test\b", &[&["_test"]]);
        check(r"\d+", &[]);
        check("a.b", &[]);
        check("", &[]);
        check("(", &[]);
    }
}
