//! The keywords of all rules, found in one pass.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use crate::rule::Rule;
use crate::rules;

/// The beginning of a marker. It is a keyword like any other, whose text is skipped.
pub(crate) const MARKER: &str = "[redacted:";

/// Words that begin like a keyword, occur on every line of a log and are none.
const DECOYS: &[&str] = &["tokens", "Tokens", "tokeniz", "token_count"];

/// The longest name of a rule.
pub(crate) const NAME_BYTES_MAX: usize = 40;

/// All keywords, and the rules that each of them triggers.
#[derive(Debug)]
pub(crate) struct Keywords {
    automaton: Option<AhoCorasick>,
    /// For each keyword: the rules, those with the longest keywords first.
    rules: Vec<Vec<Called>>,
    pub(crate) longest: usize,
}

/// A rule that a keyword triggers, and the length of the rule's own keyword, with which it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called {
    pub(crate) rule: &'static Rule,
    pub(crate) length: usize,
}

/// A keyword in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit<'k> {
    pub(crate) at: usize,
    /// Empty for a marker, and for words that are not keywords.
    pub(crate) rules: &'k [Called],
}

pub(crate) static KEYWORDS: LazyLock<Keywords> = LazyLock::new(Keywords::new);

impl Keywords {
    fn new() -> Self {
        let all: Vec<(&'static Rule, String)> = rules::all()
            .flat_map(|rule| rule.spellings().into_iter().map(move |word| (rule, word)))
            .collect();
        let mut words: Vec<&str> = all.iter().map(|(_, word)| word.as_str()).collect();
        words.push(MARKER);
        words.extend(DECOYS);
        words.sort_unstable();
        words.dedup();
        let mut own: BTreeMap<&str, Vec<&'static Rule>> = BTreeMap::new();
        for (rule, word) in &all {
            own.entry(word).or_default().push(rule);
        }
        // The longest keyword of a place is found: it triggers the rules of all keywords it begins
        // with.
        let called = |word: &&str| {
            let lengths = (1..=word.len()).rev().filter(|_| !DECOYS.contains(word));
            let rules = lengths.filter_map(|length| Some((length, own.get(word.get(..length)?)?)));
            rules
                .flat_map(|(length, rules)| rules.iter().map(move |rule| Called { rule, length }))
                .collect()
        };
        let rules = words.iter().map(called).collect();
        let longest = words.iter().map(|word| word.len()).max().unwrap_or_default();
        // The words are constants, and few enough for an automaton.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .ok();
        Self { automaton, rules, longest }
    }

    /// The first keyword of a text from a place on.
    pub(crate) fn next(&self, text: &str, from: usize) -> Option<Hit<'_>> {
        let found = self.automaton.as_ref()?.find(Input::new(text).range(from..text.len()))?;
        let rules = self.rules.get(found.pattern().as_usize())?;
        Some(Hit { at: found.start(), rules })
    }
}

impl Keywords {
    /// The first keyword from a place on that triggers a rule.
    pub(crate) fn next_of_rule(&self, text: &str, mut from: usize) -> Option<usize> {
        loop {
            let hit = self.next(text, from)?;
            if !hit.rules.is_empty() {
                return Some(hit.at);
            }
            from = hit.at + 1;
        }
    }
}

/// Where the marker ends that a text begins with.
pub(crate) fn marker_end(text: &str) -> Option<usize> {
    let name = text.strip_prefix(MARKER)?;
    let end = name.bytes().position(|byte| byte == b']')?;
    let of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_name = end <= NAME_BYTES_MAX && name.bytes().take(end).all(of_name);
    is_name.then_some(MARKER.len() + end + 1)
}
