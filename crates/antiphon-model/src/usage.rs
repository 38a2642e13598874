//! Tokens. Stored once, at the message that used them; every total is derived.

use std::ops::AddAssign;

use serde::Serialize;

use crate::json;

/// The tokens of one request, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Input tokens that came from no cache.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// The part of `output` that was reasoning.
    pub reasoning: u64,
    /// Input tokens that were read from a cache.
    pub cache_read: u64,
    /// Tokens written to a cache, for five minutes or one hour.
    pub cache_write: u64,
    /// The part of `cache_write` that is kept for one hour.
    pub cache_write_1h: u64,
}

impl Usage {
    /// Reads the log's own `usage` object. Unknown keys are ignored; a value that is not a whole
    /// number counts as absent.
    pub(crate) fn from_json(raw: &str) -> Option<Self> {
        let mut usage = Self::default();
        let (mut has_known, mut has_any) = (false, false);
        json::members(raw, |key, value| {
            has_any = true;
            let slot = match key {
                "input" => &mut usage.input,
                "output" => &mut usage.output,
                "reasoning" => &mut usage.reasoning,
                "cache_read" => &mut usage.cache_read,
                "cache_write" => &mut usage.cache_write,
                "cache_write_1h" => &mut usage.cache_write_1h,
                _ => return,
            };
            has_known = true;
            if let Ok(number) = value.parse() {
                *slot = number;
            }
        })
        .ok()?;
        // Counts under names of another vocabulary must not silently become zero.
        (has_known || !has_any).then_some(usage)
    }

    /// The log's own `usage` object. Zeros are left out, except for input and output.
    pub fn to_json(&self) -> String {
        let mut members = json::Members::default();
        members.number("input", Some(self.input));
        members.number("output", Some(self.output));
        let optional = [
            ("reasoning", self.reasoning),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
            ("cache_write_1h", self.cache_write_1h),
        ];
        for (key, tokens) in optional {
            members.number(key, (tokens > 0).then_some(tokens));
        }
        members.object()
    }

    /// All input and output tokens.
    pub fn sum(&self) -> u64 {
        let parts = [self.input, self.output, self.cache_read, self.cache_write];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |a: &mut u64, b: u64| *a = a.saturating_add(b);
        add(&mut self.input, other.input);
        add(&mut self.output, other.output);
        add(&mut self.reasoning, other.reasoning);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.cache_write_1h, other.cache_write_1h);
    }
}
