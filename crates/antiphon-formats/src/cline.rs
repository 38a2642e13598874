//! Tasks of Cline, Roo Code and Kilo Code: `tasks/<id>/api_conversation_history.json`, with
//! `ui_messages.json` beside it.
//!
//! The first is a list of what was sent to the model and what it answered. The second is what the
//! screen shows, mostly the same content again; only it has the tokens and the start of each
//! request, and it is read as the conversation if the first file is missing. A tool may be called
//! by a tag in the text; its output is then text as well. All files are rewritten whenever
//! something is added.

mod conversation;
mod requests;
mod screen;
mod text;

use antiphon_model::json;

use crate::line::{Object, Record, records};
use crate::merge::{EventStream, merge};
use crate::{Format, Kept, Layout, Lines, Sink, Stream, spread};

pub(crate) const FORMAT: Format = Format {
    name: "cline",
    product: "Cline",
    what: "Cline, Roo Code and Kilo Code tasks",
    versions: "Cline 3, Roo Code 3 and Kilo Code 4, from public files and source code",
    detect,
    lines: Some(lines),
    read,
    layout: Layout {
        beside: &[SCREEN, "task_metadata.json", "history_item.json"],
        belongs,
        kept: Some(Kept {
            variable: "",
            folders: &[
                ".config/Code/User/globalStorage",
                ".config/Code - Insiders/User/globalStorage",
                ".config/VSCodium/User/globalStorage",
                ".config/Cursor/User/globalStorage",
                ".config/Windsurf/User/globalStorage",
                ".vscode-server/data/User/globalStorage",
                ".cursor-server/data/User/globalStorage",
                "Library/Application Support/Code/User/globalStorage",
                "Library/Application Support/Code - Insiders/User/globalStorage",
                "Library/Application Support/VSCodium/User/globalStorage",
                "Library/Application Support/Cursor/User/globalStorage",
                "Library/Application Support/Windsurf/User/globalStorage",
                "AppData/Roaming/Code/User/globalStorage",
                "AppData/Roaming/Cursor/User/globalStorage",
                ".cline/data",
            ],
            below: &[
                "saoudrizwan.claude-dev/tasks",
                "rooveterinaryinc.roo-cline/tasks",
                "kilocode.kilo-code/tasks",
                "tasks",
            ],
            session: |path| {
                let (folder, name) = path.rsplit_once('/')?;
                let id = folder.rsplit('/').next().unwrap_or(folder);
                matches!(name, "api_conversation_history.json" | SCREEN).then_some(id)
            },
            fallback: Some(SCREEN),
            deletes_after_days: None,
        }),
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

const PROGRAM: &str = "cline";

/// The file with what the screen shows.
const SCREEN: &str = "ui_messages.json";

fn detect(head: &[&str]) -> bool {
    is_ours(head)
}

/// Whether this is a list of messages with members that only these programs write.
pub(crate) fn is_ours(head: &[&str]) -> bool {
    let text = head.join("\n");
    let list = text.trim_start_matches('\u{feff}').trim_start();
    let mut first = None;
    let _ = json::elements(list, |element| {
        first.get_or_insert(element);
    });
    // The available beginning may end within the first message.
    let raw = first.or_else(|| list.strip_prefix('[')).map(str::trim_start).unwrap_or_default();
    let message = Object::parse(raw).unwrap_or_default();
    let is_message = matches!(message.id("role"), Some("user" | "assistant"));
    let is_cut = first.is_none() && raw.starts_with("{\"role\":\"user\",\"content\":[");
    let is_marked = message.raw("ts").is_some() || message.raw("modelInfo").is_some();
    let is_said =
        (is_message || is_cut) && (is_marked || text::MARKS.iter().any(|mark| raw.contains(mark)));
    is_said || is_shown(&message) || (first.is_none() && screen::is_cut(raw))
}

fn lines(text: &str) -> Lines {
    let is_list = text.trim_start_matches('\u{feff}').trim_start().starts_with('[');
    if is_list { spread::list(text) } else { spread::spread(text, "") }
}

fn belongs(stem: &str, name: &str, _: &str) -> bool {
    match stem {
        "api_conversation_history" => FORMAT.layout.beside.contains(&name),
        "ui_messages" => name != SCREEN && FORMAT.layout.beside.contains(&name),
        _ => false,
    }
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut said: Vec<Record<'a>> = Vec::new();
    let mut shown: Vec<Record<'a>> = Vec::new();
    let mut facts: Vec<Record<'a>> = Vec::new();
    for (number, stream) in (0..).zip(streams) {
        for record in records(stream, number) {
            match record {
                Err(problem) => sink.problem(problem),
                Ok(record) if is_shown(&record.object) => shown.push(record),
                Ok(record) if number == 0 => said.push(record),
                Ok(record) => facts.push(record),
            }
        }
    }
    let main = streams.first().map_or("", |stream| stream.name);
    let mut conversation = conversation::Conversation::new(main, &facts);
    let requests = requests::Requests::new(&said, &shown);
    for (at, record) in said.iter().enumerate() {
        conversation.message(record, requests.of(at), requests.of(at + 1));
    }
    let screen = match said.is_empty() {
        true => conversation.screen_alone(&shown, &requests),
        false => conversation.screen(streams, &shown, &requests, sink),
    };
    let begun = shown.first().and_then(|record| record.object.time("ts"));
    let mut events = conversation.finish(&facts, begun).into_iter();
    // The session and its agent come first, whatever the screen shows before them.
    events.by_ref().take(2).for_each(|event| sink.event(event));
    merge(
        [events.collect(), screen]
            .map(|events| EventStream { events, ..EventStream::default() })
            .into(),
        sink,
    );
}

/// Whether this object is a message of the screen.
fn is_shown(object: &Object<'_>) -> bool {
    let kind = object.id("type").filter(|kind| matches!(*kind, "say" | "ask"));
    object.has("ts") && kind.is_some_and(|kind| object.has(kind))
}

#[cfg(test)]
mod tests;
