//! Amp threads: `threads/T-<id>.json`, one document that is rewritten with every message.
//!
//! A message consists of blocks as in Anthropic's API, but a result also says how its tool ran. An
//! answer has its token counts; for models that do not charge for cache writes, Amp reports all new
//! input as written to the cache.

use std::borrow::Cow;

use antiphon_model::{EventKind, Role, Usage};

use crate::line::{Object, Record, each_record, elements};
use crate::script::{Script, created, started};
use crate::std_session::top_level;
use crate::{Format, Kept, Layout, Lines, Sink, Stream, anthropic, spread};

pub(crate) const FORMAT: Format = Format {
    name: "amp",
    product: "Amp",
    what: "Amp threads",
    versions: "2025 and 2026, from public readers",
    detect,
    lines: Some(lines),
    read,
    layout: Layout {
        kept: Some(Kept {
            variable: "",
            folders: &[".local/share/amp"],
            below: &["threads"],
            session: |path| crate::layout::named(path, "T-", ".json"),
            fallback: None,
            deletes_after_days: None,
        }),
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

const PROGRAM: &str = "amp";
const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    is_ours(head)
}

/// Whether the outermost object is an Amp thread.
pub(crate) fn is_ours(head: &[&str]) -> bool {
    let is_thread = |(key, value): &(String, String)| key == "id" && value.starts_with("\"T-");
    let keys = top_level::keys(head);
    let has = |name: &str| keys.iter().any(|key| key == name);
    has("messages") && has("created") && spread::members(head).iter().any(is_thread)
}

fn lines(text: &str) -> Lines {
    spread::spread(text, "messages")
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut script = Script::new(stream.name);
        each_record(stream, number, sink, |record, _| add_line(&mut script, &record));
        script.finish(sink);
    }
}

fn add_line<'a>(script: &mut Script<'a>, record: &Record<'a>) {
    let object = &record.object;
    let is_first = script.events.is_empty();
    if is_first {
        begin(script, record);
    }
    let first = script.events.len();
    let Some(messages) = anthropic::messages(record, object, MAIN) else {
        // The members around the messages have already become the session's beginning.
        if !is_first || object.has("role") {
            script.unknown(record, None, (Some(MAIN), "message"));
        }
        return;
    };
    let tokens = object.object("usage");
    let mut spent = tokens.clone();
    for mut message in messages {
        if message.role == Role::Assistant
            && let Some(tokens) = spent.take()
        {
            message.model = tokens.text("model");
            message.usage = Some(usage(&tokens));
        }
        if message.role == Role::User {
            script.prompted(message.content);
        }
        script.push(record, None, EventKind::Message(message));
    }
    // All results in this message are of calls that still run.
    if script.events.len() == first {
        script.unknown(record, None, (Some(MAIN), "running"));
    }
    let sent = object.object("meta").and_then(|meta| meta.time("sentAt"));
    let time = sent.or_else(|| tokens?.time("timestamp"));
    (first..script.events.len()).for_each(|at| script.set_time(at, time));
}

fn begin<'a>(script: &mut Script<'a>, record: &Record<'a>) {
    let object = &record.object;
    let mut session = started(PROGRAM);
    session.session_id = object.text("id").filter(|id| id.starts_with("T-"));
    session.title = object.text("title");
    let initial = object.object("env").and_then(|env| env.object("initial")).unwrap_or_default();
    session.version = initial.object("platform").and_then(|it| it.text("clientVersion"));
    let trees = elements(initial.raw("trees").unwrap_or_default());
    let tree = trees.first().and_then(|tree| Object::parse(tree)).unwrap_or_default();
    session.cwd = tree.text("uri").map(|uri| match uri.strip_prefix("file://") {
        Some(path) => Cow::Owned(path.to_owned()),
        None => uri,
    });
    let branch = tree.object("repository").and_then(|repository| repository.text("ref"));
    session.branch = branch.map(|name| match name.strip_prefix("refs/heads/") {
        Some(name) => Cow::Owned(name.to_owned()),
        None => name,
    });
    let mut agent = created(MAIN);
    agent.name = Some(Cow::Borrowed("Amp"));
    agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
    script.begin(record, session, agent);
    [0, 1].into_iter().for_each(|at| script.set_time(at, object.time("created")));
}

fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    let (input, write) = (count("inputTokens"), count("cacheCreationInputTokens"));
    let is_sold = !tokens.id("model").is_some_and(|model| model.starts_with("gpt-"));
    Usage {
        input: if is_sold { input } else { input.saturating_add(write) },
        output: count("outputTokens"),
        cache_read: count("cacheReadInputTokens"),
        cache_write: if is_sold { write } else { 0 },
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
