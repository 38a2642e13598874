//! `antiphon annotate`: adds a phase or a note about calls to a log.
//!
//! The session itself is not changed: an annotation is an event that refers to calls. It is made
//! while the log that receives it is locked, so its references and its number are correct. For a
//! session of another program that log is beside the copies of the program's files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_journal::{Options, Writer};
use antiphon_library::{
    About, AnnotateError, AnnotationFields, Environment, NewAnnotation, Store, annotation,
    annotations_to_write, append_annotations, find_bundle, next_annotation,
};
use antiphon_sources::LOG_FORMAT;
use antiphon_views::{Phase, automatic_phases, main_agent, phases_of, phases_of_all};
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
    let number = next_annotation(&opened.reading())?;
    let annotations = match args.auto {
        true => derived(&opened, args, number)?,
        false => vec![given(&opened, args, number)?],
    };
    if annotations.is_empty() {
        return Ok(Outcome::No);
    }
    // All are recorded before the first id is printed, because the reader of the output may stop
    // reading.
    for id in append_annotations(writer, annotations, number, is_apart)? {
        terminal::lines(&id)?;
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
fn given(opened: &Opened, args: &AnnotateArgs, number: u64) -> anyhow::Result<About> {
    let phase_type = args.phase.as_ref().map(word);
    let (by, confidence) = (word(&args.by), args.phase.map(|_| word(&args.confidence)));
    let new = NewAnnotation {
        phase_type: phase_type.as_deref(),
        note: args.note.as_deref(),
        from: args.from.as_deref(),
        to: args.to.as_deref(),
        agent: args.agent.as_deref().map(|agent| opened.agent(agent)).transpose()?,
        by: &by,
        confidence: confidence.as_deref(),
        description: args.description.as_deref(),
    };
    annotation(&opened.reading(), &new, number).map_err(refused)
}

/// An error that says what to do.
fn refused(error: AnnotateError) -> anyhow::Error {
    let what = error.to_string();
    match error {
        AnnotateError::NoCall { near, .. } => {
            let hint = match near.is_empty() {
                true => "`antiphon view calls --json` lists the ids".to_owned(),
                false => format!("did you mean {}?", near.join(", ")),
            };
            UserError::not_found(what).hint(hint).into()
        }
        AnnotateError::SeveralCalls { agents, .. } => {
            let hint = format!("choose one with --agent: {}", agents.join(", "));
            UserError::usage(what).hint(hint).into()
        }
        AnnotateError::Order { .. } => UserError::usage(what).into(),
        other @ (AnnotateError::Body(_) | AnnotateError::Draft(_) | AnnotateError::Log(_)) => {
            other.into()
        }
    }
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
        let mut annotation = AnnotationFields::new(number);
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

/// The word for a choice on the command line, which is also the standard's.
fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
