//! What both programs write about an answer: its parts, and its token counts.

use antiphon_model::{Message, Usage, is_blank};

use crate::claude_code::block::add_content;
use crate::line::{Object, Record, elements};

/// Adds text, a list of parts, or one part. Returns whether there was anything to add.
pub(super) fn say<'a>(record: &Record<'a>, message: &mut Message<'a>, content: &'a str) -> bool {
    let pieces = |message: &Message<'a>| {
        let first = [message.content, message.reasoning];
        first.iter().flatten().count() + message.more_content.len()
    };
    let before = pieces(message);
    match content.as_bytes().first() {
        _ if is_blank(content) => {}
        Some(b'[') => elements(content).into_iter().for_each(|raw| part(record, message, raw)),
        Some(b'{') => part(record, message, content),
        _ => add_content(message, record.body(content)),
    }
    pieces(message) > before
}

fn part<'a>(record: &Record<'a>, message: &mut Message<'a>, raw: &'a str) {
    let fields = Object::parse(raw).unwrap_or_default();
    let text = |name| fields.raw(name).filter(|raw| !is_blank(raw));
    match fields.id("type").unwrap_or_default() {
        "text" => text("text").into_iter().for_each(|it| add_content(message, record.body(it))),
        "think" if message.reasoning.is_none() => {
            message.reasoning = text("think").map(|it| record.body(it));
        }
        "think" => text("think").into_iter().for_each(|it| add_content(message, record.body(it))),
        _ => add_content(message, record.body(raw)),
    }
}

/// Converts token counts. Input excludes the cache. The older program uses other names.
pub(super) fn usage(tokens: &Object<'_>) -> Usage {
    let count =
        |names: [&str; 2]| names.iter().find_map(|name| tokens.number(name)).unwrap_or_default();
    Usage {
        input: count(["inputOther", "input_other"]),
        output: count(["output", "output"]),
        cache_read: count(["inputCacheRead", "input_cache_read"]),
        cache_write: count(["inputCacheCreation", "input_cache_creation"]),
        ..Usage::default()
    }
}
