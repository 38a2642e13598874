//! Following the files of a running agent, with its sub-agents' files as they appear.
//!
//! An agent writes a message in pieces; one that nothing has followed yet may still grow, so it is
//! shown once it has been left alone for a moment.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use antiphon_library::{annotations_of, live};
use antiphon_model::{Entry, Event, Problem, Reading};
use antiphon_sources::{Live, News};

use super::super::view::event_line;
use super::{INTERVAL, TailArgs};
use crate::failure::{Outcome, outcome_of, report_problems};
use crate::opened::Opened;
use crate::terminal::{JsonLines, Page, complain};

/// How long a message must stand as it is before it counts as whole.
const QUIET: Duration = Duration::from_secs(1);

/// Shows the session, and follows the file at `followed`: that of the session, or the one that it
/// is a copy of.
pub(super) fn run(args: &TailArgs, followed: &Path) -> anyhow::Result<Outcome> {
    let mut shown = Shown {
        path: followed.display().to_string(),
        json: args.json.then(JsonLines::default),
        waits_for: args.since.clone(),
        ..Shown::default()
    };
    let quiet = if args.once { Duration::ZERO } else { QUIET };
    let mut live = live(followed, quiet, &mut |event| shown.event(event))?;
    // A last line that nothing ends is there by now.
    live.poll(&mut |event| shown.event(event))?;
    shown.show(&live, 0)?;
    shown.show_annotations(&args.session)?;
    if !args.once {
        follow(&mut live, &mut shown)?;
    }
    if let Some(id) = shown.waits_for {
        complain(&format!("there is no message `{id}`"));
        return Ok(Outcome::No);
    }
    Ok(outcome_of(&shown.problems))
}

/// Goes on until somebody ends it.
fn follow(live: &mut Live, shown: &mut Shown) -> anyhow::Result<()> {
    loop {
        std::thread::sleep(INTERVAL);
        match live.poll(&mut |event| shown.event(event))? {
            News::None => {}
            News::Events(first) => shown.show(live, first.index())?,
            News::Anew => shown.show(live, 0)?,
        }
    }
}

#[derive(Default)]
struct Shown {
    path: String,
    /// Events in the log's own words go here as they are read; others are shown as entries.
    json: Option<JsonLines>,
    ids: BTreeSet<String>,
    /// Nothing is shown before this message.
    waits_for: Option<String>,
    /// What was complained about.
    problems: Vec<Problem>,
    /// Why nothing more can be shown.
    failure: Option<anyhow::Error>,
}

impl Shown {
    fn event(&mut self, event: &Event<'_>) {
        let id = event.message_id.as_deref().unwrap_or_default();
        if self.json.is_none() || self.failure.is_some() || !self.is_due(id) {
            return;
        }
        let shown = self.json.as_mut().map(|json| json.add(&event.to_json()));
        self.failure = shown.and_then(Result::err);
    }

    /// Whether a message is to be shown now.
    fn is_due(&mut self, id: &str) -> bool {
        let is_new = self.ids.insert(id.to_owned());
        let is_waiting = self.waits_for.is_some();
        if self.waits_for.as_deref() == Some(id) {
            self.waits_for = None;
        }
        is_new && !is_waiting
    }

    /// Shows what is new, from that event on.
    fn show(&mut self, live: &Live, first: usize) -> anyhow::Result<()> {
        match &mut self.json {
            Some(json) => json.flush()?,
            None => {
                let reading = live.reading();
                self.show_entries(&reading, reading.session.entries().skip(first))?;
            }
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let is_new = |problem: &&Problem| !self.problems.contains(problem);
        let new: Vec<Problem> = live.problems().iter().filter(is_new).cloned().collect();
        report_problems(&self.path, &new);
        self.problems.extend(new);
        Ok(())
    }

    /// What people said about a copy stands beside it, and is shown behind what is in it.
    fn show_annotations(&mut self, session: &Path) -> anyhow::Result<()> {
        if !annotations_of(session).is_some_and(|log| log.is_file()) {
            return Ok(());
        }
        let opened = Opened::read(session)?;
        let reading = opened.reading();
        if self.json.is_none() {
            return self.show_entries(&reading, reading.session.entries());
        }
        for entry in reading.session.entries() {
            if self.is_due(entry.id())
                && let Some(json) = &mut self.json
            {
                json.add(&reading.line(entry)?)?;
            }
        }
        self.json.as_mut().map_or(Ok(()), JsonLines::flush)
    }

    fn show_entries<'s>(
        &mut self,
        reading: &Reading<'s>,
        entries: impl Iterator<Item = Entry<'s>>,
    ) -> anyhow::Result<()> {
        let session = reading.session;
        let first = session.time_span().map(|(first, _)| first);
        let mut page = Page::live();
        for entry in entries {
            if self.is_due(entry.id()) {
                let name = entry.agent().map(|agent| session.agent_name(agent));
                event_line(&mut page, reading, entry, first, name)?;
            }
        }
        page.finish()
    }
}
