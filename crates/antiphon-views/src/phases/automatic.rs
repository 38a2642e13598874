//! Phases by rule, if none were recorded.
//!
//! Each call is given a phase by what it does; consecutive calls of one phase are one group. The
//! longer the group, the higher the confidence.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, BodyError, CallIx};

use super::{CallRange, Phase};
use crate::context_reference::References;
use crate::files::{FileAction, touches};
use crate::shell::{self, Script};
use crate::words::words;
use crate::{CallIndex, Category, Reading, category};

/// How many calls count as the end of a session.
const LAST: usize = 3;

/// What a call is for. There is no `understand`, because that needs no calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Explore,
    Plan,
    Execute,
    Verify,
    Mixed,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Plan => "plan",
            Self::Execute => "execute",
            Self::Verify => "verify",
            Self::Mixed => "mixed",
        }
    }
}

/// Divides one agent's calls into phases:
///
/// - `plan`: a call that plans, manages tasks or interacts, or whose tool's name contains `plan`;
///   but a single call that manages tasks, in the middle of another phase, belongs to that;
/// - `verify`: a command that tests, checks types or lints; a query whose tool or description says
///   that it checks, after a change or among the last three calls; reading a file that was changed
///   before, when nothing is changed any more;
/// - `execute`: any other action; `explore`: any other perception; `mixed`: an unknown tool.
///
/// A group of three calls or more is `high`, two are `medium`, one is `low`, and so is `mixed`.
pub fn automatic_phases(reading: &Reading<'_>, agent: AgentIx) -> Result<Vec<Phase>, BodyError> {
    AutomaticPhases::of(reading, &CallIndex::new(reading.session), agent)?.collect()
}

/// [`automatic_phases`] one at a time: an agent may have hundreds of thousands.
#[derive(Debug)]
pub struct AutomaticPhases<'r> {
    reading: &'r Reading<'r>,
    agent: AgentIx,
    calls: Vec<CallIx>,
    /// What each call is for.
    kinds: Vec<Kind>,
    /// The calls before this one are in a phase.
    at: usize,
    number: usize,
    references: References,
}

impl<'r> AutomaticPhases<'r> {
    pub fn of(
        reading: &'r Reading<'r>,
        index: &CallIndex<'_>,
        agent: AgentIx,
    ) -> Result<Self, BodyError> {
        let calls = index.of_agent(agent).to_vec();
        let kinds = kinds(reading, &calls)?;
        Ok(Self {
            reading,
            agent,
            calls,
            kinds,
            at: 0,
            number: 0,
            references: References::default(),
        })
    }

    fn phase(&mut self, kind: Kind, run: &[CallIx]) -> Result<Option<Phase>, BodyError> {
        let session = self.reading.session;
        let references = self.references.of(self.reading, run)?;
        let (Some(&from), Some(&to)) = (run.first(), run.last()) else { return Ok(None) };
        let id = |ix| session.call_id(ix).to_owned();
        let confidence = match run.len() {
            3.. if kind != Kind::Mixed => "high",
            2 if kind != Kind::Mixed => "medium",
            _ => "low",
        };
        self.number += 1;
        Ok(Some(Phase {
            annotation_id: Some(format!("auto-{:03}", self.number)),
            phase_type: Some(kind.as_str().to_owned()),
            note: None,
            annotated_by: Some("auto".to_owned()),
            annotated_at: None,
            confidence: Some(confidence.to_owned()),
            tool_call_range: Some(CallRange { start_call_id: id(from), end_call_id: id(to) }),
            calls: run.len(),
            description: None,
            decisions: None,
            context_used: serde_json::to_value(&references).ok().filter(|_| !references.is_empty()),
            agent_id: Some(session.agent_id(self.agent).to_owned()),
            broken: false,
            reason: None,
            message_id: None,
            extra: serde_json::Map::new(),
            raw: None,
            ends: Some((from, to)),
        }))
    }
}

impl Iterator for AutomaticPhases<'_> {
    type Item = Result<Phase, BodyError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.kinds.get(self.at..)?;
        let kind = *rest.first()?;
        let len = rest.iter().take_while(|it| **it == kind).count();
        let run = self.calls.get(self.at..self.at + len)?.to_vec();
        self.at += len;
        self.phase(kind, &run).transpose()
    }
}

/// The phase of each call.
fn kinds(reading: &Reading<'_>, calls: &[CallIx]) -> Result<Vec<Kind>, BodyError> {
    let touched = touched(reading, calls)?;
    let last_change = touched.iter().rev().find(|file| file.is_changed);
    let mut files = touched.iter().peekable();
    let mut changed: BTreeSet<usize> = BTreeSet::new();
    let mut kinds = Vec::with_capacity(calls.len());
    for (at, &ix) in calls.iter().enumerate() {
        let mut rereads = false;
        let mut changes = Vec::new();
        while let Some(file) = files.next_if(|file| file.call == at) {
            rereads |= changed.contains(&file.path);
            changes.extend(Some(file.path).filter(|_| file.is_changed));
        }
        let moment = Moment {
            is_after_change: !changed.is_empty(),
            is_last: at + LAST >= calls.len(),
            rereads: rereads && last_change.is_some_and(|last| at > last.call),
        };
        kinds.push(kind(reading, ix, &moment)?);
        changed.extend(changes);
    }
    absorb_bookkeeping(reading, calls, &mut kinds)?;
    Ok(kinds)
}

/// A file that a call touched. A path is kept once, however many calls name it.
struct Touched {
    /// The position of the call.
    call: usize,
    /// The number of the path.
    path: usize,
    is_changed: bool,
}

fn touched(reading: &Reading<'_>, calls: &[CallIx]) -> Result<Vec<Touched>, BodyError> {
    let mut paths: BTreeMap<String, usize> = BTreeMap::new();
    let mut touched = Vec::new();
    for (call, &ix) in calls.iter().enumerate() {
        for touch in touches(reading, ix)? {
            let is_changed = touch.action != FileAction::Read;
            let next = paths.len();
            let path = *paths.entry(touch.path).or_insert(next);
            touched.push(Touched { call, path, is_changed });
        }
    }
    Ok(touched)
}

/// Writing down several tasks is a plan. Ticking one off while at work is part of the work, and
/// should not split it.
fn absorb_bookkeeping(
    reading: &Reading<'_>,
    calls: &[CallIx],
    kinds: &mut [Kind],
) -> Result<(), BodyError> {
    for (at, &ix) in calls.iter().enumerate().skip(1) {
        let around = kinds.get(at - 1).zip(kinds.get(at + 1));
        if let Some((&before, &after)) = around
            && before == after
            && before != Kind::Plan
            && category(reading, ix)? == Some(Category::TaskManagement)
            && let Some(kind) = kinds.get_mut(at)
        {
            *kind = before;
        }
    }
    Ok(())
}

/// The position of a call in an agent's work.
struct Moment {
    is_after_change: bool,
    is_last: bool,
    /// It reads what was changed before, and nothing is changed after it.
    rereads: bool,
}

fn kind(reading: &Reading<'_>, ix: CallIx, moment: &Moment) -> Result<Kind, BodyError> {
    let tool = reading.session.tool_name(ix);
    let category = category(reading, ix)?;
    let plans = matches!(
        category,
        Some(Category::Planning | Category::TaskManagement | Category::Interaction)
    );
    if plans || words(tool).any(|word| word == "plan") {
        return Ok(Kind::Plan);
    }
    let is_shell = shell::is_shell(tool);
    if is_shell && Script::of(reading, ix)?.is_some_and(|script| script.checks()) {
        return Ok(Kind::Verify);
    }
    let says_so = || {
        let description = reading.session.call_description(ix);
        is_check_tool(tool) || description.is_some_and(is_about_checking)
    };
    let may_check = is_shell || category != Some(Category::Action);
    if may_check && (moment.is_after_change || moment.is_last) && says_so() {
        return Ok(Kind::Verify);
    }
    Ok(match category {
        Some(Category::Perception) if moment.rereads => Kind::Verify,
        Some(Category::Perception) => Kind::Explore,
        Some(Category::Action) => Kind::Execute,
        Some(Category::Interaction | Category::Planning | Category::TaskManagement) => Kind::Plan,
        None => Kind::Mixed,
    })
}

fn is_check_tool(tool: &str) -> bool {
    words(tool).any(|word| {
        matches!(
            word.as_str(),
            "test" | "tests" | "check" | "tsc" | "lint" | "verify" | "typecheck" | "diagnostics"
        )
    })
}

/// Whether a description says that something is checked. Tests are also written: only running them
/// is a check.
fn is_about_checking(description: &str) -> bool {
    let (mut runs, mut tests) = (false, false);
    let says_so = words(description).any(|word| {
        runs |= matches!(word.as_str(), "run" | "runs" | "running" | "rerun");
        tests |= matches!(word.as_str(), "test" | "tests");
        let checks = ["verify", "verifies", "check", "checks", "validate", "lint", "typecheck"];
        checks.contains(&word.as_str())
    });
    says_so || (runs && tests) || description.contains("验证") || description.contains("检查")
}
