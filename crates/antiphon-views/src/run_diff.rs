//! Two runs side by side, and the first step where they part.
//!
//! Runs are aligned by what was done: the prompts of the person, and the calls of the main agents.
//! What an agent says between its calls differs from run to run, and means little.

use std::collections::BTreeMap;

use antiphon_model::{BodyError, CallIx, Status, Usage};
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::changes::file_diffs;
use crate::shell::is_shell;
use crate::{
    CostFigures, EditLog, Reading, SessionOverview, call_subject, category, delegates, prompts,
    requests,
};

/// Two runs, and where they differ.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunDiff {
    /// The first run.
    pub a: RunSide,
    /// The second run.
    pub b: RunSide,
    /// The files that either of them changed, by path.
    pub files: Vec<ComparedFile>,
    /// The first step at which they differ; null if they did the same.
    pub parts: Option<StepPair>,
    /// Every step of both, aligned, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<StepPair>>,
}

/// One of two runs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSide {
    /// The id of the session.
    pub session_id: String,
    /// What the person said.
    pub prompts: Vec<String>,
    /// The models that were used.
    pub models: Vec<String>,
    /// How it ended.
    pub status: Status,
    /// How often a main agent answered.
    pub turns: usize,
    /// How many calls there are of each category; `other` for those of unknown tools.
    pub calls: BTreeMap<String, usize>,
    /// How many calls failed.
    pub failures: usize,
    /// The tokens of all requests.
    pub usage: Usage,
    #[serde(flatten)]
    pub cost: CostFigures,
    /// The time from the first event to the last, in milliseconds; null for a log without times.
    pub wall_ms: Option<i64>,
}

/// A file that one of two runs changed, or both.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedFile {
    /// Its path within the project.
    pub path: String,
    /// Whether both changed it in the same way.
    pub same: bool,
    /// How many lines the first run added and removed; null if it did not change the file.
    pub a: Option<LineCount>,
    /// The same of the second run.
    pub b: Option<LineCount>,
}

/// How many lines were changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineCount {
    /// Lines that were not there before.
    pub added: usize,
    /// Lines that are not there any more.
    pub removed: usize,
}

/// A step of two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepPair {
    /// The number of the step in the first run, from 0; if the first run lacks it, of the step that
    /// follows.
    pub step: usize,
    /// What the first run did; null if it did nothing here.
    pub a: Option<ComparedStep>,
    /// What the second run did; null if it did nothing here.
    pub b: Option<ComparedStep>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedStep {
    /// The id of the message with the prompt or the call.
    pub message_id: String,
    /// The prompt, or the tool and what it was called for.
    pub text: String,
}

/// A step, and what it is compared by.
struct Done {
    step: ComparedStep,
    action: (String, String, String),
}

/// A run that is compared.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRun<'a> {
    pub reading: Reading<'a>,
    pub overview: &'a SessionOverview,
    /// The folder of its project, which paths are relative to.
    pub root: Option<&'a str>,
}

/// Compares two runs. `with_steps`: whether every step is wanted.
pub fn run_diff(
    a: &ComparedRun<'_>,
    b: &ComparedRun<'_>,
    with_steps: bool,
) -> Result<RunDiff, BodyError> {
    let (left, right) = (done(a)?, done(b)?);
    let actions = |done: &[Done]| -> Vec<_> { done.iter().map(|it| it.action.clone()).collect() };
    let first = left.iter().zip(&right).take_while(|(a, b)| a.action == b.action).count();
    let step_at = |done: &[Done], at: usize| done.get(at).map(|it| it.step.clone());
    let parts = (first < left.len().max(right.len())).then(|| StepPair {
        step: first,
        a: step_at(&left, first),
        b: step_at(&right, first),
    });
    let steps = with_steps.then(|| {
        let aligned = capture_diff_slices(Algorithm::Myers, &actions(&left), &actions(&right));
        aligned.iter().flat_map(|op| pairs(op, &left, &right)).collect()
    });
    Ok(RunDiff { a: side(a)?, b: side(b)?, files: compared_files(a, b)?, parts, steps })
}

/// The steps of an operation, side by side.
fn pairs(op: &DiffOp, left: &[Done], right: &[Done]) -> Vec<StepPair> {
    let (old, new) = (op.old_range(), op.new_range());
    let step = |done: &[Done], range: &std::ops::Range<usize>, at: usize| {
        done.get(range.clone())?.get(at).map(|it| it.step.clone())
    };
    let pair = |at: usize| StepPair {
        step: (old.start + at).min(old.end),
        a: step(left, &old, at),
        b: step(right, &new, at),
    };
    (0..old.len().max(new.len())).map(pair).collect()
}

/// What was done in a run, in order.
fn done(run: &ComparedRun<'_>) -> Result<Vec<Done>, BodyError> {
    let reading = &run.reading;
    let session = reading.session;
    let mut all = Vec::new();
    for prompt in prompts(reading)? {
        let words = prompt.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let step = ComparedStep { message_id: prompt.message_id, text: prompt.text };
        let action = ("prompt".to_owned(), words, String::new());
        all.push((prompt.event, Done { step, action }));
    }
    for (ix, call) in session.calls() {
        if session.agent(call.agent).parent.agent().is_some() {
            continue;
        }
        let (tool, subject) = (session.tool_name(ix), call_subject(reading, ix)?);
        let step = ComparedStep {
            message_id: session.entry(call.event).id().to_owned(),
            text: format!("{tool} {subject}"),
        };
        all.push((call.event, Done { step, action: action(reading, ix, tool, subject)? }));
    }
    // A message may make several calls; they stay in their order.
    all.sort_by_key(|(event, _)| *event);
    Ok(all.into_iter().map(|(_, done)| done).collect())
}

/// What a call is compared by: for a shell its command, for another agent only that it was asked,
/// and for everything else its arguments.
fn action(
    reading: &Reading<'_>,
    ix: CallIx,
    tool: &str,
    subject: String,
) -> Result<(String, String, String), BodyError> {
    let arguments = reading.session.call(ix).arguments;
    let (subject, rest) = match tool {
        _ if delegates(tool) => (String::new(), String::new()),
        _ if is_shell(tool) || arguments.is_none() => (subject, String::new()),
        _ => {
            let raw = reading.bodies.read(arguments)?;
            // Paths are compared within the project, so that copies of it do not differ.
            let cwd = reading.session.info().cwd.as_deref().unwrap_or_default();
            let raw = if cwd.len() > 1 { raw.replace(cwd, "") } else { raw };
            (subject, raw)
        }
    };
    Ok((tool.to_owned(), subject, rest))
}

fn side(run: &ComparedRun<'_>) -> Result<RunSide, BodyError> {
    let (reading, overview) = (&run.reading, run.overview);
    let session = reading.session;
    let mut calls = BTreeMap::new();
    for (ix, _) in session.calls() {
        let word = category(reading, ix)?.map_or("other", |category| category.as_str());
        *calls.entry(word.to_owned()).or_default() += 1;
    }
    let is_root = |agent| session.agent(agent).parent.agent().is_none();
    let answers = requests(session).filter(|it| it.entry.agent().is_some_and(is_root));
    Ok(RunSide {
        session_id: overview.session_id.clone(),
        prompts: overview.prompts.iter().map(|prompt| prompt.text.clone()).collect(),
        models: overview.models.clone(),
        status: overview.status,
        turns: answers.count(),
        calls,
        failures: overview.failures.len(),
        usage: overview.usage,
        cost: overview.cost,
        wall_ms: overview.busy.as_ref().map(|busy| busy.wall_ms),
    })
}

fn compared_files(
    a: &ComparedRun<'_>,
    b: &ComparedRun<'_>,
) -> Result<Vec<ComparedFile>, BodyError> {
    let mut files: BTreeMap<String, [Option<(LineCount, String)>; 2]> = BTreeMap::new();
    for (at, run) in [a, b].into_iter().enumerate() {
        let mut log = EditLog::default();
        log.add(&run.reading, &run.overview.session_id, run.root)?;
        for (file, diff) in file_diffs(log) {
            let count = LineCount { added: file.added, removed: file.removed };
            if let Some(side) = files.entry(file.path).or_default().get_mut(at) {
                *side = Some((count, diff));
            }
        }
    }
    let compared = files.into_iter().map(|(path, [a, b])| ComparedFile {
        path,
        same: a.is_some() && a == b,
        a: a.map(|(count, _)| count),
        b: b.map(|(count, _)| count),
    });
    Ok(compared.collect())
}
