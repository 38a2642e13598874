//! Token counts as the API reports them.

use antiphon_model::Usage;

use crate::line::Object;

/// Reads a `usage` object, whose `input_tokens` excludes the cache.
pub(crate) fn usage(usage: &Object<'_>) -> Usage {
    let number = |name| usage.number(name).unwrap_or_default();
    let hour =
        usage.object("cache_creation").and_then(|kinds| kinds.number("ephemeral_1h_input_tokens"));
    let thinking = usage.object("output_tokens_details").and_then(|d| d.number("thinking_tokens"));
    Usage {
        input: number("input_tokens"),
        output: number("output_tokens"),
        reasoning: thinking.unwrap_or_default(),
        cache_read: number("cache_read_input_tokens"),
        cache_write: number("cache_creation_input_tokens"),
        cache_write_1h: hour.unwrap_or_default(),
    }
}
