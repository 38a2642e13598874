//! Examples for all rules: what each finds, and what looks similar and is no secret.
//!
//! The secrets are random, and split into parts, so that this file is not mistaken for a leak.

mod contexts;
mod tokens_a_to_h;
mod tokens_i_to_z;

use std::collections::BTreeSet;

use crate::{Counts, Redactor, rule_names};

pub(super) struct Example {
    rule: &'static str,
    /// The parts of a text with a secret.
    found: &'static [&'static str],
    not_found: &'static str,
}

fn examples() -> impl Iterator<Item = &'static Example> {
    let tokens = tokens_a_to_h::EXAMPLES.iter().chain(tokens_i_to_z::EXAMPLES);
    tokens.chain(contexts::EXAMPLES)
}

fn redacted(text: &str) -> (String, Counts) {
    let mut counts = Counts::default();
    let text = Redactor::default().redact(text, &mut counts).into_owned();
    (text, counts)
}

#[test]
fn every_rule_finds_its_example_and_leaves_the_other() {
    for example in examples() {
        let text = example.found.concat();
        let (found, counts) = redacted(&text);
        let rules: Vec<_> = counts.iter().collect();
        assert_eq!(rules, [(example.rule, 1)], "{text}: {found}");
        let marker = format!("[redacted:{}]", example.rule);
        assert!(found.contains(&marker), "{found}");
        let is_random = |part: &str| part.len() >= 10 && part.bytes().any(|b| b.is_ascii_digit());
        let left = example.found.iter().find(|part| is_random(part) && found.contains(**part));
        assert_eq!(
            left.filter(|part| !part.contains(':') && !part.ends_with('/')),
            None,
            "{found}"
        );
        assert_eq!(redacted(example.not_found).0, example.not_found);
        assert_eq!(redacted(&found).0, found);
    }
}

#[test]
fn every_rule_has_an_example() {
    let examples: BTreeSet<&str> = self::examples().map(|example| example.rule).collect();
    assert_eq!(rule_names().collect::<BTreeSet<_>>(), examples);
    assert_eq!(examples.len(), self::examples().count(), "one each");
}

#[test]
fn every_rule_is_described() {
    let described = include_str!("../../../../docs/redaction.md");
    for rule in rule_names().chain([crate::ENVIRONMENT_RULE]) {
        assert!(described.contains(&format!("| `{rule}` |")), "no row for {rule}");
    }
}
