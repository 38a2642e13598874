//! Trajectories of SWE-agent (`.traj`) and mini-swe-agent: one document.
//!
//! The conversation is the `history` (or `messages`). An agent without tool calls names its action;
//! the next message is the action's output. Tokens and cost are totals of the run, except in newer
//! versions of mini-swe-agent, which keep each response with its cost and time. A person speaks
//! first, and then only to interrupt: all other prompts are the program's words.

use std::borrow::Cow;

use antiphon_model::{EventKind, Message, Role, ToolCall, is_blank};

use crate::line::{Object, Record, each_record};
use crate::script::{Script, created, started};
use crate::std_session::top_level;
use crate::{Format, Lines, Sink, Stream, chat, spread};

pub(crate) const FORMAT: Format = Format {
    name: "swe-agent",
    product: "SWE-agent",
    what: "SWE-agent and mini-swe-agent trajectories",
    versions: "0.4 to 1.1, mini 1.1",
    detect,
    lines: Some(lines),
    read,
    ..crate::ONE_FILE
};

const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    let keys = top_level::keys(head);
    let has = |name: &str| keys.iter().any(|key| key == name);
    let says = |word: &str| head.iter().any(|line| line.contains(word));
    let is_foreign = has("sessionId") || has("session_id") || says("\"parts\"");
    let is_run = has("trajectory") && says("\"action\"") && says("\"observation\"");
    let is_history = has("history") && says("\"role\"") && says("\"message_type\"");
    let is_mini = has("messages") && (has("trajectory_format") || says("\"mini_version\""));
    !is_foreign && (is_run || is_history || is_mini)
}

fn lines(text: &str) -> Lines {
    let head: Vec<&str> = text.lines().collect();
    let is_mini = !top_level::keys(&head).iter().any(|key| key == "history");
    spread::spread(text, if is_mini { "messages" } else { "history" })
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut run = Run::new(stream.name);
        each_record(stream, number, sink, |record, _| run.line(&record));
        run.settle();
        run.script.finish(sink);
    }
}

struct Run<'a> {
    script: Script<'a>,
    info: Option<Object<'a>>,
    /// The call of an action whose output has not come yet.
    open: Option<Cow<'a, str>>,
    answer: Option<usize>,
    has_tokens: bool,
    has_costs: bool,
}

impl<'a> Run<'a> {
    fn new(name: &'a str) -> Self {
        let script = Script::new(name);
        let (info, open, answer) = (None, None, None);
        Self { script, info, open, answer, has_tokens: false, has_costs: false }
    }

    fn line(&mut self, record: &Record<'a>) {
        let object = &record.object;
        if self.script.events.is_empty() {
            self.begin(record);
            if object.raw("role").is_none() {
                return;
            }
        }
        let Some(mut message) = chat::message(record, object, MAIN) else {
            self.script.unknown(record, None, (Some(MAIN), object.id("role").unwrap_or("line")));
            return;
        };
        let is_demo = object.flag("is_demo") || object.id("message_type") == Some("demonstration");
        if is_demo {
            message.source = Some(Cow::Borrowed("system"));
        }
        match message.role {
            Role::Assistant => self.answered(record, message, is_demo),
            Role::User => {
                let extra = object.object("extra").unwrap_or_default();
                let broke = extra.id("interrupt_type");
                let is_human = broke.is_some_and(|why| why.starts_with("User"))
                    || extra.raw("actions").is_some();
                if let Some(call) = self.open.take().filter(|_| broke.is_none() && !is_human) {
                    message.role = Role::Tool;
                    message.source = message.source.filter(|_| is_demo);
                    message.tool_call_id = Some(call);
                } else if self.answer.is_some() && !is_human {
                    message.source = Some(Cow::Borrowed("system"));
                } else if !is_demo {
                    self.script.prompted(message.content);
                }
                self.push(record, message);
            }
            Role::Tool | Role::System | Role::Other => {
                self.push(record, message);
            }
        }
    }

    fn push(&mut self, record: &Record<'a>, mut message: Message<'a>) -> usize {
        let extra = record.object.object("extra").unwrap_or_default();
        let failed = extra.raw("returncode").is_some_and(|code| code != "0");
        message.is_error = (failed && message.role == Role::Tool).then_some(true);
        let at = self.script.push(record, None, EventKind::Message(message));
        self.script.set_time(at, extra.time("timestamp"));
        at
    }

    /// Begins the run at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>) {
        let object = &record.object;
        self.info = object.object("info");
        let info = self.info.clone().unwrap_or_default();
        let is_mini = object.has("trajectory_format") || info.has("mini_version");
        let mut session = started(if is_mini { "mini-swe-agent" } else { "swe-agent" });
        session.version = info.text(if is_mini { "mini_version" } else { "swe_agent_version" });
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed(if is_mini { "mini-swe-agent" } else { "SWE-agent" }));
        self.script.begin(record, session, agent);
    }

    fn answered(&mut self, record: &Record<'a>, mut message: Message<'a>, is_demo: bool) {
        let object = &record.object;
        self.open = None;
        let extra = object.object("extra").unwrap_or_default();
        let actions = extra.elements("actions");
        let first = actions.into_iter().find_map(|(_, action)| action?.raw("command"));
        let action = object.raw("action").or(first).filter(|raw| !is_blank(raw));
        if let Some(action) = action.filter(|_| message.tool_calls.is_empty()) {
            let id: Cow<'a, str> = Cow::Owned(format!("action:{}", record.line.number));
            self.open = Some(id.clone());
            message.tool_calls.push(ToolCall {
                id,
                name: Cow::Borrowed("action"),
                arguments: Some(record.body(action)),
                ..ToolCall::default()
            });
        }
        message.cost_usd = extra.cost("cost");
        self.has_costs |= message.cost_usd.is_some();
        if let Some(response) = extra.object("response") {
            message.model = response.text("model");
            let tokens = response.object("usage").map(|tokens| chat::usage(&tokens));
            self.has_tokens |= tokens.is_some();
            message.usage = tokens;
        }
        let at = self.push(record, message);
        self.answer = if is_demo { self.answer } else { Some(at) };
    }

    /// Gives the totals of the run to the last answer, if messages have no tokens or no costs.
    fn settle(&mut self) {
        let stats = self.info.as_ref().and_then(|info| info.object("model_stats"));
        let Some(stats) = stats else { return };
        let count = |name| stats.number(name).unwrap_or_default();
        let (input, output) = (count("tokens_sent"), count("tokens_received"));
        let usage = antiphon_model::Usage { input, output, ..Default::default() };
        if let Some(message) = self.answer.and_then(|at| self.script.message_at(at)) {
            if !self.has_tokens {
                message.usage = (!usage.is_zero()).then_some(usage);
            }
            if !self.has_costs {
                message.cost_usd = stats.cost("instance_cost");
            }
        }
    }
}

#[cfg(test)]
mod tests;
