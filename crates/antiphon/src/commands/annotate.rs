//! `antiphon annotate`: adds a phase or a note about calls to a log.
//!
//! The session itself is not changed: an annotation is an event that refers to calls. It is made
//! while the log that receives it is locked, so its references and its number are correct. For a
//! session of another program that log is beside the copies of the program's files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_journal::{Clock, Draft, Options, SystemClock, Writer};
use antiphon_library::{Environment, Store, annotations_to_write, find_bundle};
use antiphon_model::json::{Json, Members};
use antiphon_model::{AgentIx, Annotation, CallIx, Event};
use antiphon_sources::LOG_FORMAT;
use antiphon_views::{
    CallIndex, CallNotFound, Phase, automatic_phases, main_agent, phases, phases_of, phases_of_all,
};
use clap::{ArgGroup, Args, ValueEnum};

use crate::failure::{Outcome, UserError};
use crate::opened::{self, Opened};
use crate::terminal::{self, complain};

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("what").required(true).args(["phase", "note", "auto"])),
    after_help = "\
The calls are not changed: an annotation is a separate event, whose id is printed.

Examples:
  antiphon annotate run.jsonl --phase explore --from c1 --to c4 --confidence high
  antiphon annotate run.jsonl --note 'the wrong file' --from c3
  antiphon annotate run.jsonl --auto    the phases that `antiphon view phases` derives"
)]
pub(crate) struct AnnotateArgs {
    /// The session
    session: PathBuf,
    /// Add a phase
    #[arg(long, value_enum, value_name = "TYPE", requires = "from")]
    phase: Option<PhaseType>,
    /// Add a note
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Add the derived phases, if none are recorded
    #[arg(long, conflicts_with_all = ["from", "to", "confidence", "description", "by"])]
    auto: bool,
    /// The first call it refers to
    #[arg(long, value_name = "CALL")]
    from: Option<String>,
    /// The last call, if there are several
    #[arg(long, value_name = "CALL", requires = "from")]
    to: Option<String>,
    /// How certain the phase is
    #[arg(long, value_enum, default_value_t = Confidence::Medium, conflicts_with = "note")]
    confidence: Confidence,
    /// What happened in the phase
    #[arg(long, value_name = "TEXT", conflicts_with = "note")]
    description: Option<String>,
    /// Who made the annotation
    #[arg(long, value_enum, default_value_t = AnnotatedBy::Human)]
    by: AnnotatedBy,
    /// The agent whose calls these are, by name or id; the main agent by default
    #[arg(long)]
    agent: Option<String>,
    /// How many seconds to wait for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    wait: u64,
}

/// The phases of STD-001.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PhaseType {
    Understand,
    Explore,
    Plan,
    Execute,
    Verify,
    Mixed,
    Unclassified,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Confidence {
    High,
    Medium,
    Low,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum AnnotatedBy {
    Human,
    Agent,
}

pub(crate) fn run(args: &AnnotateArgs) -> anyhow::Result<Outcome> {
    let Target { session, log } = target(&opened::locate(&args.session)?)?;
    let options = Options {
        wait: Duration::from_secs(args.wait),
        program: "antiphon annotate".to_owned(),
        ..Options::default()
    };
    let writer = Writer::open(&log, options)?;
    let opened = Opened::read(&session)?;
    let is_apart = session != log;
    if opened.format != LOG_FORMAT && !is_apart {
        return Err(not_kept(&session, opened.format).into());
    }
    let number = next_number(&opened)?;
    let events = match args.auto {
        true => derived(&opened, args, number)?,
        false => vec![said(&opened, args, number)?],
    };
    if events.is_empty() {
        return Ok(Outcome::No);
    }
    // All are recorded before the first id is printed, because the reader of the output may stop
    // reading.
    let drafts = (number..).zip(events).map(|(number, about)| {
        // The ids must not collide with those of the session.
        let message_id = is_apart.then(|| format!("annotation:{number:03}").into());
        let annotation = Annotation::new(about.agent, &about.annotation);
        Draft::from_event(&Event { message_id, ..Event::new(annotation) })
    });
    let drafts = drafts.collect::<Result<Vec<_>, _>>()?;
    let acks = writer.append_batch(&drafts)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    writer.close()?;
    for ack in acks {
        terminal::lines(ack.message_id.as_str())?;
    }
    Ok(opened.outcome())
}

/// A session, and the log that receives its annotations: its own, or one beside the copies of
/// another program's files.
struct Target {
    session: PathBuf,
    log: PathBuf,
}

fn target(path: &Path) -> anyhow::Result<Target> {
    let Some(bundle) = find_bundle(path)? else {
        opened::find(path)?;
        return Ok(Target { session: path.to_owned(), log: path.to_owned() });
    };
    if let Some(log) = annotations_to_write(path)? {
        return Ok(Target { session: path.to_owned(), log });
    }
    let store = Store::open_default(&Environment::of_process()).ok();
    let copy = store.and_then(|store| store.copy_of(path));
    let copy = copy.ok_or_else(|| not_kept(path, bundle.format()))?;
    let log = annotations_to_write(&copy)?.ok_or_else(|| not_kept(path, bundle.format()))?;
    complain(&format!("annotating the kept copy of `{}`", path.display()));
    Ok(Target { session: copy, log })
}

fn not_kept(path: &Path, format: &str) -> UserError {
    let path = path.display();
    let what = format!(
        "`{path}` is an agent's file ({format}) that has not been synced; such files are never \
         modified"
    );
    UserError::failed(what).hint("run `antiphon sync`, then annotate the session again")
}

/// The phase or the note that the user gives.
fn said(opened: &Opened, args: &AnnotateArgs, number: u64) -> anyhow::Result<About> {
    let index = CallIndex::new(&opened.session);
    let mut agent = args.agent.as_deref().map(|agent| opened.agent(agent)).transpose()?;
    let mut annotation = Fields::new(number);
    annotation.0.text("phase_type", args.phase.as_ref().map(word).as_deref());
    if let Some(start) = &args.from {
        let end = args.to.as_ref().unwrap_or(start);
        let from = find(&index, start, agent, None)?;
        let to = find(&index, end, agent, Some(from))?;
        if to < from {
            let what = format!("the call `{end}` comes before `{start}`");
            return Err(UserError::usage(what).into());
        }
        annotation.range(start, end);
        // Another agent's calls may have the same ids.
        agent = agent.or_else(|| sub_agent(opened, from, to));
    }
    let confidence = args.phase.map(|_| word(&args.confidence));
    annotation.signed(&word(&args.by), confidence.as_deref());
    annotation.0.text("description", args.description.as_deref());
    annotation.0.text("note", args.note.as_deref());
    Ok(annotation.about(agent.map(|agent| opened.session.agent_id(agent))))
}

/// The derived phases that are not recorded yet; none, with a message, if other phases are recorded
/// or there are no calls.
fn derived(opened: &Opened, args: &AnnotateArgs, number: u64) -> anyhow::Result<Vec<About>> {
    let reading = opened.reading();
    let session = &opened.session;
    let agent = args.agent.as_deref().map(|agent| opened.agent(agent)).transpose()?;
    let (recorded, agents) = match agent {
        Some(agent) => (phases_of(&reading, agent)?, vec![agent]),
        None => (phases_of_all(&reading)?, session.agents().map(|(agent, _)| agent).collect()),
    };
    let is_recorded = |row: &&Phase| row.message_id.is_some() && row.phase_type.is_some();
    let recorded: Vec<&Phase> = recorded.iter().filter(is_recorded).collect();
    let mut all = Vec::new();
    for agent in agents {
        all.extend(automatic_phases(&reading, agent)?);
    }
    let is_same = |a: &Phase, b: &Phase| {
        a.phase_type == b.phase_type
            && a.agent_id == b.agent_id
            && a.tool_call_range == b.tool_call_range
            && a.annotated_by == b.annotated_by
    };
    // An interrupted run is completed; phases that were recorded otherwise are left alone.
    let other = recorded.iter().find(|row| !all.iter().any(|phase| is_same(phase, row)));
    all.retain(|phase| !recorded.iter().any(|row| is_same(phase, row)));
    if let Some(row) = other.or(recorded.first().filter(|_| all.is_empty())) {
        let by = row.message_id.as_deref().unwrap_or_default();
        complain(&format!("phases are already recorded, the first in event `{by}`"));
        return Ok(Vec::new());
    }
    if all.is_empty() {
        complain("there are no tool calls, so there are no phases");
    }
    // Calls of sub-agents may have the same ids as those of the main agent.
    let main = main_agent(session).map(|main| session.agent_id(main));
    let events = (number..).zip(all).map(|(number, phase)| {
        let mut annotation = Fields::new(number);
        annotation.0.text("phase_type", phase.phase_type.as_deref());
        if let Some(range) = &phase.tool_call_range {
            annotation.range(&range.start_call_id, &range.end_call_id);
        }
        annotation.signed("auto", phase.confidence.as_deref());
        if let Some(used) = &phase.context_used {
            annotation.0.raw("context_used", &used.to_string());
        }
        annotation.about(phase.agent_id.as_deref().filter(|&agent| main != Some(agent)))
    });
    Ok(events.collect())
}

/// An annotation, and the agent whose calls it is about.
struct About {
    agent: Option<String>,
    annotation: Json,
}

/// The members of an annotation while it is written.
struct Fields(Members);

impl Fields {
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

    fn about(&self, agent: Option<&str>) -> About {
        About { agent: agent.map(str::to_owned), annotation: self.0.to_json() }
    }
}

/// The number after the highest `ann-NNN`.
fn next_number(opened: &Opened) -> anyhow::Result<u64> {
    let rows = phases(&opened.reading())?;
    let ids = rows.iter().filter_map(|row| row.annotation_id.as_deref()?.strip_prefix("ann-"));
    let highest = ids.filter_map(|number| number.parse::<u32>().ok()).max();
    Ok(u64::from(highest.unwrap_or(0)) + 1)
}

/// The agent that made both calls, if it is not the main agent.
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
                    false => format!("did you mean {}?", near.join(", ")),
                };
                UserError::not_found(format!("there is no call `{id}`")).hint(hint)
            }
            CallNotFound::Ambiguous { agents } => {
                UserError::usage(format!("several agents made a call `{id}`"))
                    .hint(format!("choose one with --agent: {}", agents.join(", ")))
            }
        };
        error.into()
    })
}

/// The word for a choice on the command line, which is also the standard's.
fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
