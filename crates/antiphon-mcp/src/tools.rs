//! The tools: what a model can ask.

use antiphon_catalog::{Query, Sort};
use antiphon_journal::{Clock as _, SystemClock};
use antiphon_library::{Answer, BlamedFile, SearchHit, root_of, search_within, session_overview};
use antiphon_views::{
    Blame, Changes, Conversation, EditLog, Step, StepKind, changes, cost, main_agent,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::answer::answer;
use crate::arguments::Arguments;
use crate::scope::Library;

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// The names of its arguments; the first `required` must be given.
    arguments: &'static [(&'static str, &'static str)],
    required: usize,
    call: fn(&Library, &Arguments<'_>) -> Result<String, String>,
}

const SESSION: (&str, &str) = (
    "session",
    "The session: its id, the first characters of its id, `latest`, or `latest~1` for the one before",
);

/// Every tool.
pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "search_sessions",
        description: "Search everything that was said and done in earlier agent sessions of this \
                      project. Words, \"a phrase\", /a regular expression/, and filters such as \
                      tool:Bash file:src/x.rs role:user since:7d is:error.",
        arguments: &[
            ("query", "What to look for"),
            ("limit", "The maximum number of matches: 1 to 100, usually 20"),
        ],
        required: 1,
        call: search_sessions,
    },
    Tool {
        name: "get_session",
        description: "One session on a page: the prompts, what changed, what failed, the last \
                      answer, its status and its cost.",
        arguments: &[SESSION],
        required: 1,
        call: get_session,
    },
    Tool {
        name: "read_messages",
        description: "Read a session as a conversation, in order: prompts, answers, thinking, \
                      calls with what they changed and gave back.",
        arguments: &[
            SESSION,
            ("after", "Continue after the message with this id, as `next` of the last answer says"),
            ("limit", "The maximum number of steps: 1 to 500, usually 60"),
            ("agent", "The id or name of a sub-agent; without it, the main agent"),
        ],
        required: 1,
        call: read_messages,
    },
    Tool {
        name: "what_changed",
        description: "What a session changed in files, as a unified diff, and shell commands that \
                      may have changed more.",
        arguments: &[
            SESSION,
            ("path", "Only this file: its path within the project, or the end of it"),
        ],
        required: 1,
        call: what_changed,
    },
    Tool {
        name: "who_wrote",
        description: "Who wrote each line of a file as it is now: the session, the agent, the time, \
                      and the prompt that led to it.",
        arguments: &[("path", "The path of the file, within the project")],
        required: 1,
        call: who_wrote,
    },
    Tool {
        name: "cost",
        description: "The tokens and the cost in US dollars of a session, by agent.",
        arguments: &[SESSION],
        required: 1,
        call: cost_of_session,
    },
];

impl Tool {
    /// The JSON Schema of its arguments.
    pub(crate) fn input_schema(&self) -> Map<String, Value> {
        let property = |(name, what): &(&str, &str)| {
            let kind = if *name == "limit" { "integer" } else { "string" };
            ((*name).to_owned(), json!({ "type": kind, "description": what }))
        };
        let properties: Map<String, Value> = self.arguments.iter().map(property).collect();
        let names = self.arguments.iter().take(self.required).map(|(name, _)| *name);
        let required: Vec<&str> = names.collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        schema.insert("required".to_owned(), json!(required));
        schema
    }

    pub(crate) fn call(
        &self,
        library: &Library,
        arguments: &Map<String, Value>,
    ) -> Result<String, String> {
        (self.call)(library, &Arguments(arguments))
    }
}

/// Whether a tool is one of these, under whichever name an agent knows it. What it said was
/// recorded before, and would be found again and again.
fn is_ours(tool: &str) -> bool {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let is_named = TOOLS.iter().any(|it| name.ends_with(it.name));
    is_named && (tool.contains("antiphon") || name != "cost" && name == tool)
}

fn search_sessions(library: &Library, arguments: &Arguments<'_>) -> Result<String, String> {
    #[derive(Serialize)]
    struct Matches<'a> {
        matches: &'a [SearchHit],
        /// Whether there may be more.
        more: bool,
        /// Whether no message has all words, so that these have some.
        partial: bool,
    }
    let limit = arguments.limit(20, 100)?;
    let query = Query::parse(arguments.required("query")?, SystemClock.now(), &library.zone)?;
    let store = library.store()?;
    let projects = library.projects();
    // More than is wanted, because some may be left out.
    let asked = limit.saturating_mul(3).saturating_add(20);
    let found = search_within(&store, &query, projects.as_ref(), Sort::Newest, asked, &|_, _| {});
    let Answer { mut hits, is_partial, is_cut, .. } = found.map_err(|error| error.to_string())?;
    hits.retain(|hit| !hit.tool.as_deref().is_some_and(is_ours));
    let more = is_cut || hits.len() > limit;
    hits.truncate(limit);
    // Where copies are kept is of no use to a model.
    hits.iter_mut().for_each(|hit| hit.path.clear());
    answer(&Matches { matches: &hits, more, partial: is_partial }, &library.redactor)
}

fn get_session(library: &Library, arguments: &Arguments<'_>) -> Result<String, String> {
    let opened = library.open(&library.store()?, arguments.required("session")?)?;
    let overview =
        session_overview(&opened.reading(), &opened.id(), opened.format, &library.prices);
    let overview = overview.map_err(|error| error.to_string())?;
    answer(&overview, &library.redactor)
}

fn read_messages(library: &Library, arguments: &Arguments<'_>) -> Result<String, String> {
    #[derive(Default, Serialize)]
    struct Messages {
        session: String,
        messages: Vec<Step>,
        /// What to give as `after` to read on; nothing at the end.
        next: Option<String>,
    }
    /// Steps with more text than this, all together, are left for the next answer.
    const TEXT_MAX: usize = 40_000;
    /// How much of one text is told.
    const ONE_MAX: usize = 4_000;
    let limit = arguments.limit(60, 500)?;
    let opened = library.open(&library.store()?, arguments.required("session")?)?;
    let reading = opened.reading();
    let agent = match arguments.text("agent")? {
        Some(name) => reading.agent(name).map_err(|_| format!("there is no agent `{name}`"))?,
        None => main_agent(reading.session).ok_or("the session has no agent")?,
    };
    let after = arguments.text("after")?;
    let from = match after {
        Some(id) => {
            let entry = reading.session.find(id);
            Some(entry.ok_or_else(|| format!("there is no message `{id}`"))?.ix())
        }
        None => None,
    };
    let root = root_of(reading.session.info().cwd.as_deref());
    let conversation = Conversation::new(reading, agent, root.as_deref());
    let mut told = Messages { session: opened.id(), ..Messages::default() };
    let mut size = 0;
    for step in conversation.steps(from) {
        let mut step = step.map_err(|error| error.to_string())?;
        if from == Some(step.event) {
            continue;
        }
        shorten(&mut step, ONE_MAX, &library.redactor);
        size += crate::answer::sent_len(&serde_json::to_string(&step).unwrap_or_default());
        // A message is told whole: a step of one that has begun is told, too.
        let has_begun = told.messages.last().is_some_and(|it: &Step| it.event == step.event);
        if !has_begun
            && !told.messages.is_empty()
            && (told.messages.len() >= limit || size > TEXT_MAX)
        {
            told.next = told.messages.last().map(|step| step.message_id.clone());
            break;
        }
        told.messages.push(step);
    }
    answer(&told, &library.redactor)
}

/// Cuts what is long in a step, without its secrets; and what we said ourselves.
fn shorten(step: &mut Step, chars: usize, redactor: &antiphon_redact::Redactor) {
    let cut = |text: &mut String| {
        let clean = redactor.redact(text, &mut antiphon_redact::Counts::default());
        let end = clean.char_indices().nth(chars).map(|(end, _)| end);
        let kept = end.and_then(|end| clean.get(..end));
        let left_out = kept.map(|kept| clean.chars().count() - kept.chars().count());
        *text = match (kept, left_out) {
            (Some(kept), Some(number)) => format!("{kept}… ({number} characters left out)"),
            _ => clean.into_owned(),
        };
    };
    // What somebody asks and answers is what a session is read for.
    if !matches!(step.kind, StepKind::Prompt | StepKind::Answer) || step.text.len() > 8 * chars {
        cut(&mut step.text);
    }
    if let Some(call) = &mut step.call {
        if is_ours(&call.tool_name) {
            call.output = "(an answer of Antiphon itself)".to_owned();
        }
        cut(&mut call.output);
        call.edits.iter_mut().for_each(|edit| cut(&mut edit.diff));
    }
}

fn what_changed(library: &Library, arguments: &Arguments<'_>) -> Result<String, String> {
    let opened = library.open(&library.store()?, arguments.required("session")?)?;
    let root = root_of(opened.session.info().cwd.as_deref());
    let mut log = EditLog::default();
    let added = log.add(&opened.reading(), &opened.id(), root.as_deref());
    added.map_err(|error| error.to_string())?;
    let changes: Changes = changes(log, arguments.text("path")?);
    answer(&changes, &library.redactor)
}

fn who_wrote(library: &Library, arguments: &Arguments<'_>) -> Result<String, String> {
    let path = library.file(arguments.required("path")?)?;
    let blamed = library.store()?.blame(&path, None, &|_, _| {});
    let BlamedFile { blame, .. } = blamed.map_err(|error| error.to_string())?;
    answer(&passages(&blame), &library.redactor)
}

/// Lines in a row that have the same author.
#[derive(Debug, Serialize)]
struct Passage<'a> {
    from: usize,
    to: usize,
    text: String,
    rule: Value,
    session: Option<&'a str>,
    agent_id: Option<&'a str>,
    message_id: Option<&'a str>,
    timestamp: Option<antiphon_model::Timestamp>,
    prompt: Option<&'a str>,
}

/// The lines of a file by author. Line by line, an answer would repeat each prompt.
fn passages(blame: &Blame) -> Value {
    let mut passages: Vec<Passage<'_>> = Vec::new();
    let mut call = None;
    for line in &blame.lines {
        let is_same = call == Some((&line.call_id, line.rule));
        call = Some((&line.call_id, line.rule));
        if let Some(last) = passages.last_mut().filter(|_| is_same) {
            last.to = line.line;
            last.text.push('\n');
            last.text.push_str(&line.text);
            continue;
        }
        passages.push(Passage {
            from: line.line,
            to: line.line,
            text: line.text.clone(),
            rule: json!(line.rule),
            session: line.session.as_deref(),
            agent_id: line.agent_id.as_deref(),
            message_id: line.message_id.as_deref(),
            timestamp: line.timestamp,
            prompt: line.prompt.as_deref(),
        });
    }
    json!({ "path": blame.path, "passages": passages })
}

fn cost_of_session(library: &Library, arguments: &Arguments<'_>) -> Result<String, String> {
    let opened = library.open(&library.store()?, arguments.required("session")?)?;
    answer(&cost(&opened.session, &opened.id(), &library.prices), &library.redactor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_answers_are_known_by_the_names_that_agents_give_to_tools() {
        for tool in [
            "mcp__antiphon__search_sessions",
            "antiphon__cost",
            "antiphon_who_wrote",
            "get_session",
        ] {
            assert!(is_ours(tool), "{tool}");
        }
        for tool in ["Bash", "cost", "mcp__billing__cost", "mcp__other__get_session", "antiphon"] {
            assert!(!is_ours(tool), "{tool}");
        }
    }
}
