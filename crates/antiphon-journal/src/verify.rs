//! Checking a log: every line, the chain, and a head that was noted elsewhere.

use antiphon_model::{Event, EventKind, Line, Severity};

use crate::{Damage, DamageKind, Error, Head, Log, LogSummary, Seal, Sink};

/// The result of a check.
#[derive(Debug)]
pub struct Report {
    pub findings: Vec<Damage>,
    pub summary: LogSummary,
    /// Whether the session was ended. A log without an end is open, not damaged.
    pub ended: bool,
    /// How the log compares with the head that was given.
    pub against: Option<HeadComparison>,
}

/// A log compared with a head that was kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadComparison {
    /// The log contains that line, and `newer` lines after it.
    Matches { newer: u64 },
    /// The log ends before it: `missing` lines were cut off.
    Cut { missing: u64 },
    /// The log has a different line there.
    Differs,
}

impl Report {
    pub fn is_valid(&self) -> bool {
        let matches = matches!(self.against, None | Some(HeadComparison::Matches { .. }));
        matches && self.findings.iter().all(|found| found.kind.severity() < Severity::Error)
    }
}

/// Checks the log, and that it still contains `head`.
pub fn verify(log: &Log, head: Option<Head>) -> Result<Report, Error> {
    let mut check = Check { head, findings: Vec::new(), ended: false, at_head: None };
    let summary = log.read(&mut check)?;
    let against = head.map(|head| match (check.at_head, summary.head) {
        (Some(seal), Some(last)) if seal.hash == head.hash => {
            HeadComparison::Matches { newer: last.n - head.n }
        }
        (Some(_), _) => HeadComparison::Differs,
        (None, last) => {
            HeadComparison::Cut { missing: head.n.saturating_sub(last.map_or(0, |last| last.n)) }
        }
    });
    Ok(Report { findings: check.findings, summary, ended: check.ended, against })
}

struct Check {
    head: Option<Head>,
    findings: Vec<Damage>,
    ended: bool,
    at_head: Option<Seal>,
}

impl Sink for Check {
    fn event(&mut self, event: &Event<'_>, _: &Line<'_>, seal: Option<&Seal>) {
        // As in the fold: a note or a recovery after the end does not undo it.
        let is_end = matches!(event.kind, EventKind::SessionEnded(_));
        let opens = matches!(event.kind, EventKind::SessionStarted(_)) || event.kind.goes_on();
        self.ended = is_end || (self.ended && !opens);
        if let (Some(head), Some(seal)) = (self.head, seal)
            && head.n == seal.n
        {
            self.at_head = Some(*seal);
        }
        for problem in &event.problems {
            let (line, place) = (event.line, event.place);
            self.findings.push(Damage {
                kind: DamageKind::Undecodable(problem.clone()),
                stream: place.stream,
                line,
                offset: place.offset,
                len: u64::from(place.len),
            });
        }
    }

    fn damage(&mut self, damage: Damage) {
        self.findings.push(damage);
    }
}
