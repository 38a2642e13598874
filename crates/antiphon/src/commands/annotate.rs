//! `antiphon annotate`: what somebody thinks that calls were for, added to a log.
//!
//! Nothing of the log is changed: an annotation is an event that points at calls. It is made while
//! the log is locked, so that what it points at and its number are those of the log as it is.

use std::path::Path;
use std::time::Duration;

use antiphon_journal::{Clock, Draft, Options, SystemClock, Writer};
use antiphon_library::{Bundle, LOG_FORMAT};
use antiphon_model::{AgentIx, CallIx, json::Members};
use antiphon_views::{CallIndex, CallNotFound, Phase, main_agent, phases, phases_of};
use clap::ValueEnum;

use crate::cli;
use crate::failure::{Outcome, UserError};
use crate::opened::{self, Opened};
use crate::terminal::{self, complain};

pub(crate) fn run(args: &cli::Annotate) -> anyhow::Result<Outcome> {
    let session = &opened::locate(&args.session)?;
    if let Some(bundle) = Bundle::find(session)? {
        return Err(foreign(session, bundle.format()).into());
    }
    opened::find(session)?;
    let options = Options {
        wait: Duration::from_secs(args.wait),
        program: "antiphon annotate".to_owned(),
        ..Options::default()
    };
    let writer = Writer::open(session, options)?;
    let opened = Opened::read(session)?;
    if opened.format != LOG_FORMAT {
        return Err(foreign(session, opened.format).into());
    }
    let number = next_number(&opened)?;
    let events = match args.auto {
        true => derived(&opened, args, number)?,
        false => vec![said(&opened, args, number)?],
    };
    if events.is_empty() {
        return Ok(Outcome::No);
    }
    for event in events {
        let ack = writer.append(&Draft::from_json(&event)?)?;
        terminal::lines(ack.message_id.as_str())?;
    }
    writer.close()?;
    Ok(opened.outcome())
}

fn foreign(path: &Path, format: &str) -> UserError {
    let path = path.display();
    let what = format!("`{path}` is of the format {format}, to which nothing can be added");
    UserError::failed(what).hint(format!(
        "make a log of it, and annotate that: antiphon export '{path}' --as antiphon -o LOG"
    ))
}

/// The event of a phase or a note that somebody gives.
fn said(opened: &Opened, args: &cli::Annotate, number: u64) -> anyhow::Result<String> {
    let index = CallIndex::new(&opened.session);
    let mut agent = args.agent.as_deref().map(|agent| opened.agent(agent)).transpose()?;
    let mut annotation = Annotation::new(number);
    annotation.0.text("phase_type", args.phase.as_ref().map(word).as_deref());
    if let Some(start) = &args.from {
        let end = args.to.as_ref().unwrap_or(start);
        let from = find(&index, start, agent, None)?;
        let to = find(&index, end, agent, Some(from))?;
        if to < from {
            let what = format!("the call `{end}` stands before `{start}`");
            return Err(UserError::usage(what).into());
        }
        annotation.range(start, end);
        // Another's calls may have the same ids.
        agent = agent.or_else(|| sub_agent(opened, from, to));
    }
    let confidence = args.phase.map(|_| word(&args.confidence));
    annotation.signed(&word(&args.by), confidence.as_deref());
    annotation.0.text("description", args.description.as_deref());
    annotation.0.text("note", args.note.as_deref());
    Ok(annotation.event(agent.map(|agent| opened.session.agent_id(agent))))
}

/// The events of the derived phases; none, and says why, if there are phases or no calls.
fn derived(opened: &Opened, args: &cli::Annotate, number: u64) -> anyhow::Result<Vec<String>> {
    let reading = opened.reading();
    let (rows, agent) = match &args.agent {
        Some(agent) => {
            let agent = opened.agent(agent)?;
            (phases_of(&reading, agent)?, Some(agent))
        }
        None => (phases(&reading)?, None),
    };
    let is_recorded = |row: &&Phase| row.message_id.is_some() && row.phase_type.is_some();
    if let Some(row) = rows.iter().find(is_recorded) {
        let by = row.message_id.as_deref().unwrap_or_default();
        complain(&format!("phases are recorded already; the first is event `{by}`"));
        return Ok(Vec::new());
    }
    let derived: Vec<&Phase> = rows.iter().filter(|row| row.message_id.is_none()).collect();
    if derived.is_empty() {
        complain("there are no calls, and so no phases");
    }
    // The ids of sub-agents' calls may be the main agent's, too.
    let agent = agent.filter(|&agent| main_agent(&opened.session) != Some(agent));
    let agent = agent.map(|agent| opened.session.agent_id(agent));
    let events = (number..).zip(derived).map(|(number, phase)| {
        let mut annotation = Annotation::new(number);
        annotation.0.text("phase_type", phase.phase_type.as_deref());
        if let Some(range) = &phase.tool_call_range {
            annotation.range(&range.start_call_id, &range.end_call_id);
        }
        annotation.signed("auto", phase.confidence.as_deref());
        if let Some(used) = &phase.context_used {
            annotation.0.raw("context_used", &used.to_string());
        }
        annotation.event(agent)
    });
    Ok(events.collect())
}

/// An annotation while it is written.
struct Annotation(Members);

impl Annotation {
    fn new(number: u64) -> Self {
        let mut members = Members::default();
        members.word("annotation_id", &format!("ann-{number:03}"));
        Self(members)
    }

    fn range(&mut self, start: &str, end: &str) {
        let mut range = Members::default();
        range.word("start_call_id", start);
        range.word("end_call_id", end);
        self.0.raw("tool_call_range", &range.object());
    }

    fn signed(&mut self, by: &str, confidence: Option<&str>) {
        self.0.word("annotated_by", by);
        self.0.word("annotated_at", &SystemClock.now().to_string());
        self.0.text("confidence", confidence);
    }

    fn event(&self, agent: Option<&str>) -> String {
        let mut event = Members::of_event("annotation");
        event.text("agent", agent);
        event.raw("annotation", &self.0.object());
        event.object()
    }
}

/// The number behind the highest `ann-NNN`.
fn next_number(opened: &Opened) -> anyhow::Result<u64> {
    let rows = phases(&opened.reading())?;
    let ids = rows.iter().filter_map(|row| row.annotation_id.as_deref()?.strip_prefix("ann-"));
    let highest = ids.filter_map(|number| number.parse::<u32>().ok()).max();
    Ok(u64::from(highest.unwrap_or(0)) + 1)
}

/// The agent that made both calls, where it is not the main one.
fn sub_agent(opened: &Opened, from: CallIx, to: CallIx) -> Option<AgentIx> {
    let session = &opened.session;
    let agent = session.call(from).agent;
    let is_one = agent == session.call(to).agent && main_agent(session) != Some(agent);
    is_one.then_some(agent)
}

fn find(
    index: &CallIndex<'_>,
    id: &str,
    agent: Option<AgentIx>,
    start: Option<CallIx>,
) -> anyhow::Result<CallIx> {
    index.find(id, agent, start).map_err(|error| {
        let error = match error {
            CallNotFound::Unknown => {
                let near = index.near(id);
                let hint = match near.is_empty() {
                    true => "`antiphon view calls --json` lists the ids".to_owned(),
                    false => format!("these are near: {}", near.join(", ")),
                };
                UserError::not_found(format!("there is no call `{id}`")).hint(hint)
            }
            CallNotFound::Ambiguous { agents } => {
                UserError::usage(format!("several agents made a call `{id}`"))
                    .hint(format!("say whose with `--agent`: {}", agents.join(", ")))
            }
        };
        error.into()
    })
}

/// The word by which a choice is typed, which is the standard's.
fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
