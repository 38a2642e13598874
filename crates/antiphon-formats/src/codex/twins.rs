//! What is told twice, brought together: which telling stands for which item.
//!
//! Calls are joined by their id. Words are joined by being the same, in order: the first telling of
//! a text goes with the first item that has it. A telling may stand before or after its item.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use antiphon_model::json;

use super::entry::{Entry, entries};
use super::outcome::{End, end, ends_a_call};
use super::replay::Replay;
use super::searches::{self, Search, is_served, served_id};
use crate::Stream;
use crate::line::{Object, elements};

/// Behind this the answer cites what it remembered; the telling leaves that out.
const CITATION: &str = "<oai-mem-citation>";

#[derive(Debug, Default)]
pub(super) struct Twins<'a> {
    /// By the line of a telling: the line of the item that says the same.
    item_of: BTreeMap<u64, u64>,
    /// By the line of an item: whether the screen was told its words as the person's.
    is_prompt: BTreeMap<u64, ()>,
    /// Whether the person's words are told apart in this file at all.
    pub(super) tells_prompts: bool,
    /// By call: how it ended; several times, where calls share an id.
    ends: BTreeMap<&'a str, Vec<End<'a>>>,
    /// The same, as finished items tell it.
    finished: BTreeMap<&'a str, End<'a>>,
    /// By call: the line of the item that made it, and of the one that has its output.
    calls: BTreeMap<&'a str, u64>,
    outputs: BTreeMap<&'a str, u64>,
    /// By the line of a call that the service carried out: its end.
    served: BTreeMap<u64, (&'a str, End<'a>)>,
}

/// Texts that were told and found no item yet.
#[derive(Debug, Default)]
struct Unmatched<'a> {
    prompts: Lines<'a>,
    answers: Lines<'a>,
    thoughts: Lines<'a>,
}

type Lines<'a> = BTreeMap<Cow<'a, str>, VecDeque<u64>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Prompt,
    Answer,
    Thought,
}

impl<'a> Twins<'a> {
    pub(super) fn scan(stream: &Stream<'a>, number: u32, replay: &Replay) -> Self {
        let mut twins = Self::default();
        let mut told = Unmatched::default();
        let mut said: Vec<(u64, Words, Vec<Cow<'a, str>>)> = Vec::new();
        let mut searches: Vec<Search<'a>> = Vec::new();
        let mut search_ends: Vec<Search<'a>> = Vec::new();
        let mut compacted: VecDeque<u64> = VecDeque::new();
        for entry in entries(stream, number).flatten().filter(|entry| !replay.has(entry)) {
            let line = entry.line();
            match (entry.kind, entry.what) {
                ("response_item", what) => {
                    twins.add_item(&entry);
                    said.extend(words_of(&entry).map(|(words, parts)| (line, words, parts)));
                    if is_served(what) {
                        searches.push(Search::new(&entry, served_id(&entry)));
                    }
                }
                ("event_msg", "user_message") => {
                    twins.tells_prompts = true;
                    told.add(Words::Prompt, entry.payload.text("message"), line);
                }
                ("event_msg", "agent_message") => {
                    told.add(Words::Answer, entry.payload.text("message"), line);
                }
                ("event_msg", "agent_reasoning") => {
                    told.add(Words::Thought, entry.payload.text("text"), line);
                }
                ("event_msg", "item_completed") => {
                    let Some(item) = entry.payload.object("item") else { continue };
                    for (words, text) in completed(&item) {
                        twins.tells_prompts |= words == Words::Prompt;
                        told.add(words, Some(text), line);
                    }
                    if let Some(call) = item.id("id") {
                        twins.finished.entry(call).or_insert_with(|| end(&entry, &item));
                    }
                }
                ("event_msg", "context_compacted") => {
                    twins.item_of.extend(compacted.pop_front().map(|item| (line, item)));
                }
                ("event_msg", what) if ends_a_call(what) => {
                    let Some(call) = entry.call_id() else { continue };
                    twins.ends.entry(call).or_default().push(end(&entry, &entry.payload));
                    if what == "web_search_end" {
                        search_ends.push(Search::new(&entry, Some(call)));
                    }
                }
                ("compacted", _) => compacted.push_back(line),
                _ => {}
            }
        }
        for (line, words, parts) in said {
            twins.join_words(&mut told, line, words, &parts);
        }
        twins.join_searches(&searches, &search_ends);
        twins
    }

    fn add_item(&mut self, entry: &Entry<'a>) {
        let own = || served_id(entry).filter(|_| is_served(entry.what));
        let Some(call) = entry.call_id().or_else(own) else { return };
        let known =
            if entry.what.ends_with("_output") { &mut self.outputs } else { &mut self.calls };
        known.entry(call).or_insert_with(|| entry.line());
    }

    fn join_words(
        &mut self,
        told: &mut Unmatched<'a>,
        line: u64,
        words: Words,
        parts: &[Cow<'a, str>],
    ) {
        let mut found = Vec::new();
        for part in parts {
            found.extend(told.take(words, part.trim_end()));
        }
        if found.is_empty() && parts.len() > 1 {
            found.extend(told.take(words, parts.concat().trim_end()));
        }
        if words == Words::Prompt && !found.is_empty() {
            self.is_prompt.insert(line, ());
        }
        self.item_of.extend(found.into_iter().map(|telling| (telling, line)));
    }

    /// What the service did itself has no item for its output: the telling of its end is that.
    fn join_searches(&mut self, searches: &[Search<'a>], ends: &[Search<'a>]) {
        let (known, unknown): (Vec<_>, Vec<_>) = searches
            .iter()
            .copied()
            .partition(|it| it.call.is_some_and(|call| self.end_of(call, 0).is_some()));
        let is_free = |end: &Search<'a>| end.call.is_some_and(|it| !self.calls.contains_key(it));
        let free = ends.iter().copied().filter(is_free).collect();
        let own = known.iter().filter_map(|it| Some((it.line, it.call?)));
        for (line, call) in own.chain(searches::join(unknown, free)).collect::<Vec<_>>() {
            if let Some(end) = self.end_of(call, 0) {
                self.served.insert(line, (call, end));
                self.calls.insert(call, line);
                self.outputs.insert(call, line);
            }
        }
    }

    /// The line of the item that a telling repeats.
    pub(super) fn item_of(&self, line: u64) -> Option<u64> {
        self.item_of.get(&line).copied()
    }

    pub(super) fn is_prompt(&self, line: u64) -> bool {
        self.is_prompt.contains_key(&line)
    }

    /// How the call of that id ended, or the `nth` of them.
    pub(super) fn end_of(&self, call: &str, nth: usize) -> Option<End<'a>> {
        let told = self.ends.get(call).and_then(|ends| ends.get(nth)).copied();
        told.or_else(|| self.finished.get(call).filter(|_| nth == 0).copied())
    }

    pub(super) fn output_of(&self, call: &str) -> Option<u64> {
        self.outputs.get(call).copied()
    }

    pub(super) fn has_call(&self, call: &str) -> bool {
        self.calls.contains_key(call)
    }

    /// The end of what the service did itself, by the line of the call.
    pub(super) fn served_at(&self, line: u64) -> Option<(&'a str, End<'a>)> {
        self.served.get(&line).copied()
    }
}

impl<'a> Unmatched<'a> {
    fn add(&mut self, words: Words, text: Option<Cow<'a, str>>, line: u64) {
        let Some(text) = text else { return };
        let text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_end()),
            Cow::Owned(text) => Cow::Owned(text.trim_end().to_owned()),
        };
        self.of(words).entry(text).or_default().push_back(line);
    }

    fn take(&mut self, words: Words, text: &str) -> Option<u64> {
        self.of(words).get_mut(text)?.pop_front()
    }

    fn of(&mut self, words: Words) -> &mut Lines<'a> {
        match words {
            Words::Prompt => &mut self.prompts,
            Words::Answer => &mut self.answers,
            Words::Thought => &mut self.thoughts,
        }
    }
}

/// The words of an item that the screen is told as well.
fn words_of<'a>(entry: &Entry<'a>) -> Option<(Words, Vec<Cow<'a, str>>)> {
    let texts = |name: &str| -> Vec<Cow<'a, str>> {
        let parts = elements(entry.payload.raw(name).unwrap_or_default()).into_iter();
        parts.filter_map(|part| Object::parse(part)?.text("text")).collect()
    };
    match (entry.what, entry.payload.id("role")) {
        ("message", Some("user")) => Some((Words::Prompt, texts("content"))),
        ("message", Some("assistant")) => {
            let parts = texts("content").into_iter();
            Some((Words::Answer, parts.map(without_citation).collect()))
        }
        ("reasoning", _) => Some((Words::Thought, texts("summary"))),
        _ => None,
    }
}

fn without_citation(text: Cow<'_, str>) -> Cow<'_, str> {
    match text.find(CITATION) {
        Some(at) => Cow::Owned(text.get(..at).unwrap_or_default().to_owned()),
        None => text,
    }
}

/// The words of a finished item: newer versions tell these instead.
fn completed<'a>(item: &Object<'a>) -> Vec<(Words, Cow<'a, str>)> {
    let (words, parts) = match item.id("type") {
        Some("UserMessage") => (Words::Prompt, item.raw("content")),
        Some("AgentMessage") => (Words::Answer, item.raw("content")),
        Some("Reasoning") => (Words::Thought, item.raw("summary_text")),
        _ => return Vec::new(),
    };
    let parts = elements(parts.unwrap_or_default()).into_iter();
    let text = |part| match Object::parse(part) {
        Some(part) => part.text("text"),
        None => json::text(part),
    };
    parts.filter_map(text).map(|text| (words, text)).collect()
}
