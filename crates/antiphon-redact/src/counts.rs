//! How many secrets each rule found.

use std::collections::BTreeMap;
use std::fmt;

use crate::keywords::{MARKER, marker_end};
use crate::{ENVIRONMENT_RULE, rule_names};

/// Findings, counted by rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    pub fn add(&mut self, rule: &'static str) {
        *self.0.entry(rule).or_default() += 1;
    }

    /// Counts the markers in a text, by rule.
    pub fn of_markers(text: &str) -> Self {
        let mut counts = Self::default();
        for (at, _) in text.match_indices(MARKER) {
            let marker = text.get(at..).unwrap_or_default();
            let name = marker_end(marker).and_then(|end| marker.get(MARKER.len()..end - 1));
            let is_it = |rule: &&str| name == Some(*rule);
            rule_names().chain([ENVIRONMENT_RULE]).find(is_it).into_iter().for_each(|rule| {
                counts.add(rule);
            });
        }
        counts
    }

    pub fn merge(&mut self, other: &Self) {
        for (&rule, count) in &other.0 {
            *self.0.entry(rule).or_default() += count;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// The rules by name, each with its count.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(&rule, &count)| (rule, count))
    }

    pub fn by_rule(&self) -> &BTreeMap<&'static str, u64> {
        &self.0
    }
}

/// Writes `2 github-token, 1 jwt`.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (rule, count)) in self.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{count} {rule}")?;
        }
        Ok(())
    }
}
