//! Matches event messages with the items that they repeat.
//!
//! Calls are matched by their id, texts by being equal, in order: the first event message with a
//! text goes with the first item that has it. An event message may come before or after its item.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use antiphon_model::json;

use super::entry::{Entry, entries};
use super::outcome::{End, end, ends_a_call};
use super::replay::Replay;
use super::searches::{self, Search, is_served, served_id};
use crate::Stream;
use crate::line::{Object, elements};

/// After this an answer cites its memory; the event message leaves that out.
const CITATION: &str = "<oai-mem-citation>";

#[derive(Debug, Default)]
pub(super) struct Pairs<'a> {
    /// For the line of each event message: the line of the item that says the same.
    item_of: BTreeMap<u64, u64>,
    /// The lines of items that an event message repeats as the person's words.
    is_prompt: BTreeMap<u64, ()>,
    /// Whether any event message of this file marks the person's words.
    pub(super) marks_prompts: bool,
    /// For each call: how it ended; several times, if calls share an id.
    ends: BTreeMap<&'a str, Vec<End<'a>>>,
    /// For each call: how it ended, according to an `item_completed`.
    finished: BTreeMap<&'a str, End<'a>>,
    /// For each call: the line of the item that made it, and of the one that has its output.
    calls: BTreeMap<&'a str, u64>,
    outputs: BTreeMap<&'a str, u64>,
    /// For the line of each call that the service carried out: its id and its end.
    served: BTreeMap<u64, (&'a str, End<'a>)>,
}

/// Texts of event messages that have no item yet.
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

impl<'a> Pairs<'a> {
    pub(super) fn scan(stream: &Stream<'a>, number: u32, replay: &Replay) -> Self {
        let mut pairs = Self::default();
        let mut unmatched = Unmatched::default();
        let mut said: Vec<(u64, Words, Vec<Cow<'a, str>>)> = Vec::new();
        let mut searches: Vec<Search<'a>> = Vec::new();
        let mut search_ends: Vec<Search<'a>> = Vec::new();
        let mut compacted: VecDeque<u64> = VecDeque::new();
        for entry in entries(stream, number).flatten().filter(|entry| !replay.has(entry)) {
            let line = entry.line();
            match (entry.kind, entry.what) {
                ("response_item", what) => {
                    pairs.add_item(&entry);
                    said.extend(words_of(&entry).map(|(words, parts)| (line, words, parts)));
                    if is_served(what) {
                        searches.push(Search::new(&entry, served_id(&entry)));
                    }
                }
                ("event_msg", "user_message") => {
                    pairs.marks_prompts = true;
                    unmatched.add(Words::Prompt, entry.payload.text("message"), line);
                }
                ("event_msg", "agent_message") => {
                    unmatched.add(Words::Answer, entry.payload.text("message"), line);
                }
                ("event_msg", "agent_reasoning") => {
                    unmatched.add(Words::Thought, entry.payload.text("text"), line);
                }
                ("event_msg", "item_completed") => {
                    let Some(item) = entry.payload.object("item") else { continue };
                    for (words, text) in completed(&item) {
                        pairs.marks_prompts |= words == Words::Prompt;
                        unmatched.add(words, Some(text), line);
                    }
                    if let Some(call) = item.id("id") {
                        pairs.finished.entry(call).or_insert_with(|| end(&entry, &item));
                    }
                }
                ("event_msg", "context_compacted") => {
                    pairs.item_of.extend(compacted.pop_front().map(|item| (line, item)));
                }
                ("event_msg", what) if ends_a_call(what) => {
                    let Some(call) = entry.call_id() else { continue };
                    pairs.ends.entry(call).or_default().push(end(&entry, &entry.payload));
                    if what == "web_search_end" {
                        search_ends.push(Search::new(&entry, Some(call)));
                    }
                }
                ("compacted", _) => compacted.push_back(line),
                _ => {}
            }
        }
        for (line, words, parts) in said {
            pairs.join_words(&mut unmatched, line, words, &parts);
        }
        pairs.join_searches(&searches, &search_ends);
        pairs
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
        unmatched: &mut Unmatched<'a>,
        line: u64,
        words: Words,
        parts: &[Cow<'a, str>],
    ) {
        let mut found = Vec::new();
        for part in parts {
            found.extend(unmatched.take(words, part.trim_end()));
        }
        if found.is_empty() && parts.len() > 1 {
            found.extend(unmatched.take(words, parts.concat().trim_end()));
        }
        if words == Words::Prompt && !found.is_empty() {
            self.is_prompt.insert(line, ());
        }
        self.item_of.extend(found.into_iter().map(|repeat| (repeat, line)));
    }

    /// Matches calls that the service carried out: they have no output item, so the end is the
    /// result.
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

    /// The line of the item that an event message repeats.
    pub(super) fn item_of(&self, line: u64) -> Option<u64> {
        self.item_of.get(&line).copied()
    }

    pub(super) fn is_prompt(&self, line: u64) -> bool {
        self.is_prompt.contains_key(&line)
    }

    /// How the call of that id ended; the `nth` of them, if several share it.
    pub(super) fn end_of(&self, call: &str, nth: usize) -> Option<End<'a>> {
        let ended = self.ends.get(call).and_then(|ends| ends.get(nth)).copied();
        ended.or_else(|| self.finished.get(call).filter(|_| nth == 0).copied())
    }

    pub(super) fn output_of(&self, call: &str) -> Option<u64> {
        self.outputs.get(call).copied()
    }

    pub(super) fn has_call(&self, call: &str) -> bool {
        self.calls.contains_key(call)
    }

    /// The id and the end of a call that the service carried out, by the line of the call.
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

/// The texts of an item that event messages repeat.
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

/// The texts of a finished item, which newer versions write instead.
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
