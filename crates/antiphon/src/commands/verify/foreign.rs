//! Checking what another program wrote: whether it is whole, and each line readable.

use std::path::Path;

use antiphon_formats::{Duplicate, Sink};
use antiphon_library::find_bundle;
use antiphon_model::{Event, Problem, Session, Severity};

use super::{Finding, Row};
use crate::opened::{locate, not_opened};

/// What is found in the session that a person names; nothing, if it is a log of ours.
pub(super) fn check(named: &Path) -> anyhow::Result<Option<Row>> {
    let path = &locate(named)?;
    let Some(bundle) = find_bundle(path).map_err(|error| not_opened(path, error))? else {
        return Ok(None);
    };
    let mut check = Check::default();
    bundle.events(&mut check);
    let files: Vec<String> = bundle.files().map(name).collect();
    let lines: usize = bundle.texts().map(|text| text.lines().count()).sum();
    let finding = |problem: Problem| Finding {
        severity: problem.severity,
        code: problem.code,
        file: files.get(problem.place.stream as usize).cloned().unwrap_or_default(),
        line: problem.line,
        offset: problem.place.offset,
        len: u64::from(problem.place.len),
        message: problem.message,
    };
    let valid = check.problems.iter().all(|problem| problem.severity < Severity::Error);
    Ok(Some(Row {
        file: named.display().to_string(),
        format: bundle.format(),
        valid,
        head: None,
        against_head: None,
        lines: lines as u64,
        sealed: 0,
        unsealed: lines as u64,
        ended: check.session.info().ended,
        findings: check.problems.into_iter().map(finding).collect(),
    }))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[derive(Default)]
struct Check {
    session: Session,
    problems: Vec<Problem>,
}

impl<'a> Sink<'a> for Check {
    fn event(&mut self, event: Event<'a>) {
        self.session.apply(&event);
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn duplicate(&mut self, _: Duplicate) {}
}
