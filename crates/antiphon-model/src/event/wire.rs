//! Decodes a line of JSON to an event, by the names of members on disk.
//!
//! One pass sorts the members of the object into slots, with raw values; the event's kind then
//! decides which slots are decoded. Of a repeated key the last one counts, as in Python and
//! JavaScript.

mod keys;

use super::{
    Agent, AgentEnded, Annotation, ContextEdited, Event, EventKind, Fragment, Line, Loss, Message,
    Printed, RunStatus, SessionEnded, SessionStarted, Text, ToolCall, Unknown,
};
use crate::json::{self, NotJson};
use crate::{Body, ContextAction, Problem, ProblemKind, Role, Rule, Timestamp, Usage};

pub(super) use keys::KINDS;
use keys::Key;
use keys::Slots;

/// Decodes one line of a log.
pub fn decode<'a>(line: &Line<'a>) -> Result<Event<'a>, Problem> {
    let fail = |kind: &ProblemKind| kind.at(line.number, line.place);
    let mut slots: Slots<'a> = [None; Key::NAMES.len()];
    let mut escaped: u128 = 0;
    let extent = if line.is_sealed() { json::Extent::Cut } else { json::Extent::Whole };
    let scanned = json::object(line.members(), extent, |key, value| {
        let key = Key::of(key) as usize;
        if let Some(slot) = slots.get_mut(key) {
            *slot = Some(value.raw);
            escaped = escaped & !(1 << key) | u128::from(value.has_escape) << key;
        }
    });
    if scanned.is_err() {
        return Err(fail(&not_an_event(line.text)));
    }
    let mut fields = Fields { slots, escaped, line: *line, problems: Vec::new() };

    let message_id = fields.word(Key::MessageId);
    let at = fields.time(Key::Timestamp);
    let kind = fields.kind().map_err(|kind| fail(&kind))?;
    let extra = fields.body(Key::Extra);
    let (place, problems) = (line.place, fields.problems);
    Ok(Event { message_id, at, line: line.number, place, kind, extra, problems })
}

fn not_an_event(text: &str) -> ProblemKind {
    match NotJson::of(text, "an object") {
        NotJson::OtherType(_) => ProblemKind::NotAnObject,
        NotJson::Syntax(reason) | NotJson::Incomplete(reason) => ProblemKind::NotJson(reason),
    }
}

/// A line's members by key, and what was odd about them.
struct Fields<'a> {
    slots: Slots<'a>,
    /// A bit for each key: whether the value has an escape. Few have, and the others need no
    /// unescaping.
    escaped: u128,
    line: Line<'a>,
    problems: Vec<Problem>,
}

impl<'a> Fields<'a> {
    fn kind(&mut self) -> Result<EventKind<'a>, ProblemKind> {
        let Some(event_type) = self.word(Key::EventType) else {
            return Ok(EventKind::Message(self.message()?));
        };
        Ok(match &*event_type {
            "message" | "transcript_entry" => EventKind::Message(self.message()?),
            "agent_created" => EventKind::AgentCreated(self.agent_created()?),
            "agent_ended" => EventKind::AgentEnded(self.agent_ended()?),
            "session_started" => EventKind::SessionStarted(self.session_started()),
            "session_ended" => EventKind::SessionEnded(self.session_ended()),
            "run_status" => EventKind::RunStatus(RunStatus {
                run_id: self.word(Key::RunId),
                status: self.word(Key::Status),
                title: self.word(Key::Title),
                feature_branch: self.word(Key::FeatureBranch),
                base_branch: self.word(Key::BaseBranch),
            }),
            "context_edited" | "transcript_edit" => {
                EventKind::ContextEdited(self.context_edited(&event_type)?)
            }
            "fragment" | "piece_of_text" | "output" => {
                EventKind::Fragment(self.fragment(&event_type))
            }
            "annotation" => EventKind::Annotation(Annotation {
                agent: self.word(Key::Agent),
                // Without a member of its own, the whole line is the annotation.
                annotation: self.body(Key::Annotation).unwrap_or_else(|| self.line.whole()),
            }),
            "gap" => EventKind::Gap(self.loss()),
            "recovered" => EventKind::Recovered(self.loss()),
            _ => EventKind::Unknown(self.unknown(event_type)),
        })
    }

    fn message(&mut self) -> Result<Message<'a>, ProblemKind> {
        Ok(Message {
            agent: self.word(Key::Agent).ok_or(ProblemKind::NoAgent)?,
            role: self.word(Key::Role).map_or(Role::Other, |word| Role::from_word(&word)),
            content: self.body(Key::Content),
            more_content: Vec::new(),
            source: self.word(Key::Source),
            utterance_ref: self.word(Key::UtteranceRef),
            tool_calls: self.tool_calls(),
            tool_call_id: self.word(Key::ToolCallId),
            name: self.word(Key::Name),
            model: self.word(Key::Model),
            request_id: self.word(Key::RequestId),
            usage: self.usage(),
            usage_partial: self.flag(Key::UsagePartial).unwrap_or_default(),
            cost_usd: self.raw(Key::CostUsd).and_then(|raw| raw.parse().ok()),
            reasoning: self.body(Key::Reasoning),
            cause: self.words(Key::Cause),
            previous_id: self.word(Key::PreviousId),
            is_error: self.flag(Key::IsError),
            started_at: self.time(Key::StartedAt),
            duration_ms: self.number(Key::DurationMs),
            result: self.body(Key::Result),
            context_contribution: self.body(Key::ContextContribution),
            subagent_info: self.body(Key::SubagentInfo),
            message_type: self.word(Key::MessageType),
            payload: self.body(Key::Payload),
            correlation_id: self.word(Key::CorrelationId),
            reply_to: self.word(Key::ReplyTo),
        })
    }

    fn agent_created(&mut self) -> Result<Agent<'a>, ProblemKind> {
        Ok(Agent {
            agent: self.word(Key::Agent).ok_or(ProblemKind::NoAgent)?,
            name: self.word(Key::Name),
            language_model: self.word(Key::LanguageModel),
            parent_id: self.word(Key::ParentId),
            tool_call_id: self.word(Key::ToolCallId),
            cause: self.words(Key::Cause),
            agent_type: self.word(Key::AgentType).or_else(|| self.word(Key::Role)),
            adapter_id: self.word(Key::AdapterId),
            flavor: self.word(Key::Flavor),
            task: self.body(Key::Task),
            rule: self.word(Key::InferredBy).and_then(|name| Rule::from_name(&name)),
        })
    }

    fn agent_ended(&mut self) -> Result<AgentEnded<'a>, ProblemKind> {
        Ok(AgentEnded {
            agent: self.word(Key::Agent).ok_or(ProblemKind::NoAgent)?,
            status: self.word(Key::Status),
            output: self.body(Key::Output),
            error: self.word(Key::Error),
        })
    }

    fn session_started(&mut self) -> SessionStarted<'a> {
        SessionStarted {
            session_id: self.word(Key::SessionId),
            format: self.number(Key::Format),
            title: self.word(Key::Title),
            prompt: self.word(Key::Prompt),
            description: self.word(Key::Description),
            cwd: self.word(Key::Cwd),
            branch: self.word(Key::Branch),
            program: self.word(Key::Program),
            version: self.word(Key::Version),
            role: self.word(Key::Role),
            spec_paths: self.words(Key::SpecPaths),
            issue: self.word(Key::Issue),
            run_id: self.word(Key::RunId),
            task_id: self.word(Key::TaskId),
            cast: self.body(Key::Cast),
            forked_from: self.body(Key::ForkedFrom),
        }
    }

    fn session_ended(&mut self) -> SessionEnded<'a> {
        SessionEnded {
            outcome: self.word(Key::Outcome),
            reason: self.word(Key::Reason),
            error: self.word(Key::Error),
            declared: self.body(Key::Declared),
        }
    }

    fn context_edited(&mut self, event_type: &str) -> Result<ContextEdited<'a>, ProblemKind> {
        Ok(ContextEdited {
            agent: self.word(Key::Agent).ok_or(ProblemKind::NoAgent)?,
            action: self
                .word(Key::Action)
                .map_or(ContextAction::Other, |word| ContextAction::from_word(&word)),
            kept: self.body(Key::Kept),
            dropped: self.body(Key::Dropped),
            kept_first: match event_type {
                "transcript_edit" if self.raw(Key::KeptFirst).is_none() => self.number(Key::Number),
                _ => self.number(Key::KeptFirst),
            },
            summary_ref: self.word(Key::SummaryRef),
        })
    }

    fn fragment(&mut self, event_type: &str) -> Fragment<'a> {
        let content = self.body(Key::Content);
        let printed = (event_type == "output").then(|| Printed {
            stream: self.word(Key::Stream),
            times: self.number(Key::Times),
            is_record: content.is_none() && self.raw(Key::Record).is_some(),
        });
        Fragment {
            agent: self.word(Key::Agent),
            content: content.or_else(|| self.body(Key::Record)),
            cause: self.words(Key::Cause),
            printed,
        }
    }

    fn loss(&mut self) -> Loss<'a> {
        Loss {
            count: self.number(Key::Count),
            changed: self.number(Key::Changed),
            rewritten: self.number(Key::Rewritten),
            reason: self.word(Key::Reason),
            damage: self.body(Key::Damage),
            rest: self.body(Key::Rest),
        }
    }

    fn unknown(&mut self, event_type: Text<'a>) -> Unknown<'a> {
        // A record of another program is in a member of its own, beside the members that every
        // event has.
        const ENVELOPE: [Key; 7] = [
            Key::MessageId,
            Key::EventType,
            Key::Timestamp,
            Key::Agent,
            Key::Raw,
            Key::Extra,
            Key::Number,
        ];
        let is_envelope = |at: usize| ENVELOPE.iter().any(|&key| key as usize == at);
        let mut filled = (0..).zip(&self.slots).filter(|(_, slot)| slot.is_some());
        let raw = self.body(Key::Raw).filter(|_| filled.all(|(at, _)| is_envelope(at)));
        let raw = raw.unwrap_or_else(|| self.line.whole());
        Unknown { agent: self.word(Key::Agent), event_type, raw: Some(raw) }
    }

    fn tool_calls(&mut self) -> Vec<ToolCall<'a>> {
        let Some(raw) = self.raw(Key::ToolCalls) else {
            return Vec::new();
        };
        let line = self.line;
        let mut calls = Vec::new();
        if json::elements(raw, |call| calls.extend(tool_call(&line, call))).is_err() {
            self.wrong_type(Key::ToolCalls);
        }
        calls
    }

    fn usage(&mut self) -> Option<Usage> {
        let raw = self.raw(Key::Usage)?;
        let usage = Usage::from_json(raw);
        match usage {
            None if raw.starts_with('{') => {
                let problem = ProblemKind::UnknownUsage;
                self.problems.push(problem.at(self.line.number, self.line.place));
            }
            None => self.wrong_type(Key::Usage),
            Some(_) => {}
        }
        usage
    }

    /// The raw value, unless it is absent or null.
    #[expect(clippy::indexing_slicing, reason = "there is a slot for each key")]
    fn raw(&self, key: Key) -> Option<&'a str> {
        self.slots[key as usize].filter(|&raw| raw != "null")
    }

    fn body(&self, key: Key) -> Option<Body<'a>> {
        self.raw(key).map(|raw| self.line.body(raw))
    }

    fn word(&mut self, key: Key) -> Option<Text<'a>> {
        let raw = self.raw(key)?;
        if self.escaped >> key as u32 & 1 == 0
            && let Some(inner) = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'))
        {
            return Some(Text::Borrowed(inner));
        }
        let word = json::word(raw);
        if word.is_none() {
            self.wrong_type(key);
        }
        word
    }

    /// One word, or a list of them.
    fn words(&mut self, key: Key) -> Vec<Text<'a>> {
        let Some(raw) = self.raw(key) else {
            return Vec::new();
        };
        if !raw.starts_with('[') {
            return self.word(key).into_iter().collect();
        }
        let mut words = Vec::new();
        if json::elements(raw, |element| words.extend(json::word(element))).is_err() {
            self.wrong_type(key);
        }
        words
    }

    fn number(&mut self, key: Key) -> Option<u64> {
        let raw = self.raw(key)?;
        let number = raw.parse().ok();
        if number.is_none() {
            self.wrong_type(key);
        }
        number
    }

    fn flag(&mut self, key: Key) -> Option<bool> {
        let flag = match self.raw(key)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        if flag.is_none() {
            self.wrong_type(key);
        }
        flag
    }

    fn time(&mut self, key: Key) -> Option<Timestamp> {
        let word = self.word(key)?;
        let time = Timestamp::parse(&word);
        if time.is_none() {
            self.wrong_type(key);
        }
        time
    }

    #[expect(clippy::indexing_slicing, reason = "there is a name for each key")]
    fn wrong_type(&mut self, key: Key) {
        let kind = ProblemKind::WrongType { field: Key::NAMES[key as usize] };
        self.problems.push(kind.at(self.line.number, self.line.place));
    }
}

/// Reads `{"id", "function": {"name", "arguments"}}`, or the same without the inner object.
fn tool_call<'a>(line: &Line<'a>, raw: &'a str) -> Option<ToolCall<'a>> {
    let mut call = ToolCall::default();
    let mut has_id = false;
    let mut function = None;
    json::members(raw, |key, value| match key {
        "id" => {
            has_id = true;
            call.id = json::word(value).unwrap_or_default();
        }
        "function" => function = Some(value),
        "name" => call.name = json::word(value).unwrap_or_default(),
        "arguments" => call.arguments = Some(line.body(value)),
        "category" => call.category = json::word(value),
        "description" => call.description = json::word(value),
        "raw_command" => call.raw_command = json::word(value),
        "started_at" => call.started_at = json::text(value).and_then(|at| Timestamp::parse(&at)),
        _ => {}
    })
    .ok()?;
    if let Some(function) = function {
        // If the function is not an object, the call is kept without a name.
        let _ = json::members(function, |key, value| match key {
            "name" => call.name = json::word(value).unwrap_or_default(),
            "arguments" => call.arguments = Some(line.body(value)),
            _ => {}
        });
    }
    has_id.then_some(call)
}
