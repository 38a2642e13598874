//! The older transcripts: `user:` and `assistant:` on lines of their own, with the message below.
//!
//! Within an answer, a line in brackets begins a thought, a call or its result, and the indented
//! lines below belong to it. A call has no id: a result belongs to the oldest call of its name that
//! has none yet.

use std::collections::{BTreeMap, VecDeque};

use antiphon_model::json::{self, Members};

use crate::Lines;

const PEOPLE: [(&str, &str); 3] =
    [("user:", "user"), ("assistant:", "assistant"), ("system:", "system")];
const THOUGHT: &str = "[Thinking]";
const CALL: &str = "[Tool call]";
const RESULT: &str = "[Tool result]";

/// Whether text begins with `user:` or `assistant:`.
pub(super) fn is_ours(head: &[&str]) -> bool {
    let first = head.iter().find(|line| !line.trim_start_matches('\u{feff}').trim().is_empty());
    first.is_some_and(|line| speaker(line).is_some_and(|role| role != "system"))
}

fn speaker(line: &str) -> Option<&'static str> {
    let line = line.trim_start_matches('\u{feff}').trim_end();
    PEOPLE.iter().find(|(marker, _)| *marker == line).map(|(_, role)| *role)
}

/// A line for each message. Text that consists of lines already stays as it is.
pub(super) fn lines(text: &str) -> Lines {
    let head: Vec<&str> = text.lines().take(50).collect();
    let problems = Vec::new();
    if !is_ours(&head) {
        return Lines { text: text.to_owned(), problems };
    }
    let mut out = String::with_capacity(text.len());
    let mut calls = Calls::default();
    let mut said: Option<(&str, Vec<&str>)> = None;
    for line in text.split_inclusive('\n') {
        // A truncated line may go on differently.
        let speaker = speaker(line).filter(|_| line.ends_with('\n'));
        match (speaker, &mut said) {
            (Some(role), _) => {
                let before = said.replace((role, Vec::new()));
                before
                    .into_iter()
                    .for_each(|(role, lines)| push(&mut out, &mut calls, (role, &lines)));
            }
            (None, Some((_, lines))) => lines.push(line.trim_end_matches(['\n', '\r'])),
            (None, None) => {}
        }
    }
    said.into_iter().for_each(|(role, lines)| push(&mut out, &mut calls, (role, &lines)));
    Lines { text: out, problems }
}

/// Calls without a result, by name.
#[derive(Default)]
struct Calls<'t> {
    made: usize,
    open: BTreeMap<&'t str, VecDeque<String>>,
}

impl<'t> Calls<'t> {
    fn make(&mut self, name: &'t str) -> String {
        self.made += 1;
        let id = format!("call-{}", self.made);
        self.open.entry(name).or_default().push_back(id.clone());
        id
    }

    fn answer(&mut self, name: &str) -> Option<String> {
        self.open.get_mut(name)?.pop_front()
    }
}

fn push<'t>(out: &mut String, calls: &mut Calls<'t>, (role, lines): (&str, &[&'t str])) {
    let mut blocks = Blocks::default();
    for line in lines {
        let marked = [THOUGHT, CALL, RESULT].into_iter().filter(|_| role == "assistant");
        let marker = marked.into_iter().find_map(|mark| Some((mark, line.strip_prefix(mark)?)));
        match marker {
            Some((kind, rest)) => blocks.begin(calls, kind, rest.trim()),
            None => blocks.add(calls, line),
        }
    }
    blocks.end(calls);
    let mut message = Members::default();
    message.raw("content", &format!("[{}]", blocks.done.join(",")));
    let mut record = Members::default();
    record.word("role", role);
    record.raw("message", &message.object());
    out.push_str(&record.object());
    out.push('\n');
}

/// The blocks of a message while it is read.
#[derive(Default)]
struct Blocks<'t> {
    done: Vec<String>,
    /// The block's type, unless it is text, and its name.
    kind: &'static str,
    name: &'t str,
    lines: Vec<&'t str>,
}

impl<'t> Blocks<'t> {
    fn begin(&mut self, calls: &mut Calls<'t>, kind: &'static str, rest: &'t str) {
        self.end(calls);
        self.kind = kind;
        match kind {
            THOUGHT => self.lines.push(rest),
            _ => self.name = rest,
        }
    }

    fn add(&mut self, calls: &mut Calls<'t>, line: &'t str) {
        let is_indented = line.starts_with([' ', '\t']) || line.trim().is_empty();
        if !self.kind.is_empty() && !is_indented {
            self.end(calls);
        }
        self.lines.push(line);
    }

    fn end(&mut self, calls: &mut Calls<'t>) {
        let lines = std::mem::take(&mut self.lines);
        let (kind, name) = (std::mem::take(&mut self.kind), std::mem::take(&mut self.name));
        let is_text = kind.is_empty();
        let lines = lines.iter().map(|line| if is_text { line } else { line.trim_start() });
        let text = lines.collect::<Vec<_>>().join("\n");
        let text = text.trim();
        let mut block = Members::default();
        match kind {
            THOUGHT => {
                block.word("type", "thinking");
                block.word("thinking", text);
            }
            CALL => {
                block.word("type", "tool_use");
                block.word("id", &calls.make(name));
                block.word("name", name);
                match json::check(text) {
                    Ok(()) => block.raw("input", &json::compact(text)),
                    Err(_) => block.word("input", text),
                }
            }
            RESULT => {
                block.word("type", "tool_result");
                block.text("tool_use_id", calls.answer(name).as_deref());
                block.text("name", Some(name).filter(|name| !name.is_empty()));
                block.word("content", text);
            }
            _ if text.is_empty() => return,
            _ => {
                block.word("type", "text");
                block.word("text", text);
            }
        }
        self.done.push(block.object());
    }
}
