//! Following the file of a running agent, with its sub-agents' files as they appear.
//!
//! The files are read again when one of them has grown, and an event is known by its id. An agent
//! writes a message in pieces; one that nothing has followed yet may still grow, so it is shown
//! once it has been left alone for a moment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use antiphon_formats::{Duplicate, Sink};
use antiphon_library::find_bundle;
use antiphon_model::{AgentIx, Event, EventIx, Problem, Session};
use antiphon_sources::Bundle;

use super::super::view::event_line;
use super::INTERVAL;
use crate::cli;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::terminal::{self, Page, complain};

/// How long a message must stand as it is before it counts as whole.
const QUIET: Duration = Duration::from_secs(1);

type Stamp = Vec<(PathBuf, u64)>;

pub(super) fn run(args: &cli::Tail, mut stamp: Stamp) -> anyhow::Result<Outcome> {
    let mut shown = Shown { ids: BTreeSet::new(), waits_for: args.since.clone() };
    let mut changed = Instant::now();
    let mut is_settled = false;
    let mut is_new = true;
    loop {
        let is_quiet = args.once || changed.elapsed() >= QUIET;
        if is_new || (is_quiet && !is_settled) {
            let begun = Instant::now();
            shown.show(args, is_quiet)?;
            is_settled = is_quiet;
            if args.once {
                break;
            }
            // Reading a long session takes its time; most of it is left to others.
            std::thread::sleep(begun.elapsed() * 3);
        }
        std::thread::sleep(INTERVAL);
        let now = antiphon_library::stamp(&args.session)?.unwrap_or_default();
        is_new = now != stamp;
        if is_new {
            stamp = now;
            changed = Instant::now();
            is_settled = false;
        }
    }
    if let Some(id) = shown.waits_for {
        complain(&format!("there is no message `{id}`"));
        return Ok(Outcome::No);
    }
    Ok(Outcome::Done)
}

struct Shown {
    ids: BTreeSet<String>,
    /// Nothing is shown before this message.
    waits_for: Option<String>,
}

impl Shown {
    /// Shows what is new; of each agent all but the last message, unless things are quiet.
    fn show(&mut self, args: &cli::Tail, is_quiet: bool) -> anyhow::Result<()> {
        // Between two of its writes an agent's file may be empty, or not there.
        let Ok(opened) = Opened::read(&args.session) else { return Ok(()) };
        let session = &opened.session;
        let held = if is_quiet { BTreeSet::new() } else { last_of_each(session) };
        let new: Vec<EventIx> = session
            .entries()
            .filter(|entry| !held.contains(&entry.ix()) && !self.ids.contains(entry.id()))
            .map(|entry| entry.ix())
            .collect();
        let first = session.time_span().map(|(first, _)| first);
        let lines = if args.json { lines(args)? } else { BTreeMap::new() };
        let mut page = Page::live();
        for event in new {
            let entry = session.entry(event);
            self.ids.insert(entry.id().to_owned());
            if let Some(wanted) = &self.waits_for {
                if wanted == entry.id() {
                    self.waits_for = None;
                }
                continue;
            }
            match lines.get(entry.id()) {
                Some(line) => terminal::json_line(line)?,
                None => {
                    let name = entry.agent().map(|agent| session.agent_name(agent));
                    event_line(&mut page, &opened.reading(), entry, first, name)?;
                }
            }
        }
        page.finish()
    }
}

fn last_of_each(session: &Session) -> BTreeSet<EventIx> {
    let mut last: BTreeMap<Option<AgentIx>, EventIx> = BTreeMap::new();
    for entry in session.entries() {
        last.insert(entry.agent(), entry.ix());
    }
    last.into_values().collect()
}

/// Every event in the log's own words, by id.
fn lines(args: &cli::Tail) -> anyhow::Result<BTreeMap<String, String>> {
    struct Lines<'b> {
        bundle: &'b Bundle,
        found: BTreeMap<String, String>,
    }

    impl<'a> Sink<'a> for Lines<'_> {
        fn event(&mut self, event: Event<'a>) {
            let line = self.bundle.text(event.place).unwrap_or("null");
            let id = event.message_id.as_deref().unwrap_or_default().to_owned();
            self.found.insert(id, event.to_json(line));
        }

        fn problem(&mut self, _: Problem) {}

        fn duplicate(&mut self, _: Duplicate) {}
    }

    let Some(bundle) = find_bundle(&args.session)? else { return Ok(BTreeMap::new()) };
    let mut lines = Lines { bundle: &bundle, found: BTreeMap::new() };
    bundle.events(&mut lines);
    Ok(lines.found)
}
