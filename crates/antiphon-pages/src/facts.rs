//! What a page says about a session before the conversation begins.

use std::collections::BTreeMap;

use antiphon_model::{BodyError, CallIx, EventIx, Reading, Status, Timestamp};
use antiphon_views::{
    CallStatus, Changes, CostNode, CostTree, EditLog, Prompt, Totals, busy, call_status,
    call_subject, changes, cost, count, duration, prompts, tokens,
};

use crate::Page;
use crate::text::Clean;

/// How many prompts, files and failures are listed; the rest is counted.
pub(crate) const LISTED_MAX: usize = 300;
const LINE_CHARS: usize = 120;

/// The facts about a session.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) title: Clean,
    /// Names and values, in order.
    pub(crate) rows: Vec<(&'static str, Clean)>,
    pub(crate) status: Status,
    pub(crate) prompts: Listed<PromptLine>,
    pub(crate) files: Listed<FileLine>,
    pub(crate) failures: Listed<Failure>,
    pub(crate) cost: CostTree,
    /// How many shell commands may have changed files.
    pub(crate) possible: usize,
}

/// The first of some things, and how many there are.
#[derive(Debug)]
pub(crate) struct Listed<T> {
    pub(crate) items: Vec<T>,
    pub(crate) total: usize,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { items: Vec::new(), total: 0 }
    }
}

impl<T> Listed<T> {
    fn add(&mut self, item: impl FnOnce() -> Result<T, BodyError>) -> Result<(), BodyError> {
        if self.items.len() < LISTED_MAX {
            self.items.push(item()?);
        }
        self.total += 1;
        Ok(())
    }

    pub(crate) fn more(&self) -> usize {
        self.total - self.items.len()
    }
}

#[derive(Debug)]
pub(crate) struct PromptLine {
    pub(crate) event: EventIx,
    pub(crate) text: Clean,
}

#[derive(Debug)]
pub(crate) struct FileLine {
    pub(crate) path: Clean,
    pub(crate) status: &'static str,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) call: CallIx,
    pub(crate) tool: Clean,
    pub(crate) what: Clean,
    pub(crate) error: Clean,
}

impl Page<'_> {
    pub(crate) fn facts(&self) -> Result<Facts, BodyError> {
        let session = self.reading.session;
        let cost = cost(session, self.session_id, self.prices);
        let prompts = self.prompt_lines()?;
        let Changes { files: changed, possible, .. } = self.changes()?;
        let mut files = Listed::default();
        for file in &changed {
            files.add(|| {
                Ok(FileLine {
                    path: self.clean_line(&file.path, LINE_CHARS),
                    status: file.status.as_str(),
                    added: file.added,
                    removed: file.removed,
                })
            })?;
        }
        let info = session.info();
        let title = match (&info.title, prompts.items.first()) {
            (Some(title), _) => self.clean_line(title, LINE_CHARS),
            (None, Some(prompt)) => prompt.text.clone(),
            (None, None) => self.clean_line(self.session_id, LINE_CHARS),
        };
        Ok(Facts {
            title,
            rows: self.rows(&cost),
            status: session.standing().status,
            prompts,
            files,
            failures: self.failures()?,
            cost,
            possible: possible.len(),
        })
    }

    fn changes(&self) -> Result<Changes, BodyError> {
        let mut log = EditLog::default();
        log.add(&self.reading, self.session_id, self.root)?;
        Ok(changes(log, None))
    }

    fn prompt_lines(&self) -> Result<Listed<PromptLine>, BodyError> {
        let mut lines = Listed::default();
        for Prompt { event, text, .. } in prompts(&self.reading)? {
            lines.add(|| Ok(PromptLine { event, text: self.clean_line(&text, LINE_CHARS) }))?;
        }
        Ok(lines)
    }

    fn failures(&self) -> Result<Listed<Failure>, BodyError> {
        let session = self.reading.session;
        let mut failures = Listed::default();
        for (ix, call) in session.calls() {
            if call_status(&self.reading, ix) != CallStatus::Failed {
                continue;
            }
            failures.add(|| {
                let error = match call.last_result() {
                    Some(event) => self.reading.text(session.entry(event))?,
                    None => String::new(),
                };
                Ok(Failure {
                    call: ix,
                    tool: self.clean_line(session.tool_name(ix), 60),
                    what: self.clean_line(&call_subject(&self.reading, ix)?, LINE_CHARS),
                    error: self.clean_line(&error, LINE_CHARS * 2),
                })
            })?;
        }
        Ok(failures)
    }

    fn rows(&self, cost: &CostTree) -> Vec<(&'static str, Clean)> {
        let session = self.reading.session;
        let info = session.info();
        let mut rows = Vec::new();
        let mut add = |name, value: Option<String>| {
            let value = value.map(|value| self.clean_line(&value, LINE_CHARS));
            rows.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)));
        };
        // Where the project is on the disk, and whose home that is, is nobody's business.
        let folder = self.root.or(info.cwd.as_deref());
        add(
            "Project",
            folder
                .and_then(|it| it.rsplit(['/', '\\']).find(|name| !name.is_empty()))
                .map(Into::into),
        );
        add("Branch", info.branch.as_deref().map(Into::into));
        let version = info.version.as_deref().unwrap_or_default();
        add("Agent", Some(format!("{} {version}", self.product)));
        add("Model", Some(models(&cost.tree).join(", ")));
        add("Began", session.time_span().map(|(first, _)| self.time(first)));
        add("Took", busy(&self.reading).map(|busy| spent(&busy)));
        add("Status", Some(session.standing().status.as_str().to_owned()));
        add("Calls", Some(self.call_counts(&self.reading)).filter(|_| session.calls().len() > 0));
        add("Tokens", (cost.total.requests > 0).then(|| used(&cost.total)));
        add("Cost", Some(money(&cost.total)).filter(|_| cost.total.requests > 0));
        rows
    }

    fn call_counts(&self, reading: &Reading<'_>) -> String {
        let calls = count(reading.session.calls().len(), "call");
        let agents = reading.session.agents().len();
        match agents {
            0 | 1 => calls,
            more => format!("{calls} by {}", count(more, "agent")),
        }
    }

    /// A time in the zone of the page.
    pub(crate) fn time(&self, at: Timestamp) -> String {
        self.zone.minute_name(at).unwrap_or_default()
    }
}

/// What each agent cost, together with those below it, by its id.
pub(crate) fn costs(tree: &[CostNode]) -> BTreeMap<&str, String> {
    let nodes = nodes(tree).filter(|(node, _)| node.total.requests > 0);
    nodes.map(|(node, _)| (&*node.agent_id, money(&node.total))).collect()
}

/// All nodes of a tree, each with its depth, in the order in which they are shown.
pub(crate) fn nodes(tree: &[CostNode]) -> impl Iterator<Item = (&CostNode, usize)> {
    let mut waiting: Vec<(&CostNode, usize)> = tree.iter().rev().map(|node| (node, 0)).collect();
    std::iter::from_fn(move || {
        let (node, depth) = waiting.pop()?;
        waiting.extend(node.children.iter().rev().map(|child| (child, depth + 1)));
        Some((node, depth))
    })
}

/// The models of all agents, each once.
fn models(tree: &[CostNode]) -> Vec<String> {
    let mut models: Vec<String> = Vec::new();
    for model in nodes(tree).flat_map(|(node, _)| &node.models) {
        if !models.contains(model) {
            models.push(model.clone());
        }
    }
    models
}

fn spent(busy: &antiphon_views::Busy) -> String {
    match busy.busy_ms * 10 > busy.wall_ms * 9 {
        true => duration(busy.wall_ms),
        false => format!("{}, of which {} at work", duration(busy.wall_ms), duration(busy.busy_ms)),
    }
}

fn used(total: &Totals) -> String {
    let usage = total.usage;
    format!("{} in, {} out", tokens(usage.sum().saturating_sub(usage.output)), tokens(usage.output))
}

/// What requests cost, and whether that is all.
pub(crate) fn money(totals: &Totals) -> String {
    let partial = if totals.is_partial() { "at least " } else { "" };
    match totals.cost() {
        Some(cost) => format!("{partial}${cost:.2}"),
        None => "not known".to_owned(),
    }
}
