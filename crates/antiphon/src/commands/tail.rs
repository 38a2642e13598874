//! `antiphon tail`: a session while it happens.
//!
//! An event is shown when its line is read, from that line alone, so that a log of any length takes
//! the memory of a short one.

mod foreign;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use antiphon_journal::{Damage, Follower, Seal, Sink};
use antiphon_model::{Bodies, BodyError, Event, EventKind, Line, Place, Session, Timestamp};
use antiphon_views::Reading;
use clap::Args;

use super::view::event_line;
use crate::failure::Outcome;
use crate::terminal::{JsonLines, Page, complain};

const INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  antiphon tail latest                       the session running now
  antiphon tail run.jsonl                    from the beginning, then follow
  antiphon tail run.jsonl --since msg_120    only what came after
  antiphon tail run.jsonl --json | jq .role  as JSON Lines")]
pub(crate) struct TailArgs {
    /// The session; it need not exist yet
    session: PathBuf,
    /// Begin after this message
    #[arg(long, value_name = "ID")]
    since: Option<String>,
    /// Stop after showing the existing events
    #[arg(long)]
    once: bool,
    /// Stop when the session ends
    #[arg(long)]
    until_end: bool,
    /// Print the events as they are in the log, one per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &TailArgs) -> anyhow::Result<Outcome> {
    let args = &TailArgs { session: crate::opened::locate(&args.session)?, ..args.clone() };
    if antiphon_library::stamp(&args.session)?.is_some() {
        // A copy grows when somebody syncs; the agent's own file grows when the agent writes.
        let followed = antiphon_library::original(&args.session);
        return foreign::run(args, followed.as_deref().unwrap_or(&args.session));
    }
    if args.once {
        crate::opened::find(&args.session)?;
    }
    let mut follower = match args.once {
        true => Follower::once(&args.session),
        false => Follower::new(&args.session),
    };
    let mut shown = Shown {
        out: if args.json { Out::Json(JsonLines::default()) } else { Out::Page(Page::live()) },
        names: BTreeMap::new(),
        waits_for: args.since.clone(),
        ended: false,
        damaged: false,
        first: None,
        failure: None,
    };
    loop {
        let followed = follower.poll(&mut shown)?;
        shown.settle()?;
        if followed.restarted {
            complain("the log was truncated or replaced; continuing with its current content");
        }
        if args.once || (args.until_end && shown.ended) {
            break;
        }
        std::thread::sleep(INTERVAL);
    }
    if let Some(id) = shown.waits_for {
        complain(&format!("there is no message `{id}`"));
        return Ok(Outcome::No);
    }
    Ok(if shown.damaged { Outcome::BadInput } else { Outcome::Done })
}

/// Where events are shown.
enum Out {
    Page(Page),
    Json(JsonLines),
}

/// What has to be known of what was shown.
struct Shown {
    out: Out,
    /// What agents are called, by their ids.
    names: BTreeMap<String, String>,
    /// Nothing is shown before this message.
    waits_for: Option<String>,
    ended: bool,
    damaged: bool,
    first: Option<Timestamp>,
    /// Why nothing more can be shown.
    failure: Option<anyhow::Error>,
}

impl Sink for Shown {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, _: Option<&Seal>) {
        if self.failure.is_some() {
            return;
        }
        self.first = self.first.or(event.at);
        // What is said about a session afterwards does not open it again.
        let opens = matches!(event.kind, EventKind::SessionStarted(_)) || event.kind.goes_on();
        let is_end = matches!(event.kind, EventKind::SessionEnded(_));
        self.ended = is_end || (self.ended && !opens);
        if let EventKind::AgentCreated(created) = &event.kind
            && let Some(name) = &created.name
        {
            self.names.insert(created.agent.as_ref().to_owned(), name.as_ref().to_owned());
        }
        if self.waits_for.is_some() {
            if self.waits_for.as_deref() == event.message_id.as_deref() {
                self.waits_for = None;
            }
            return;
        }
        self.failure = self.show(event, line).err();
    }

    fn damage(&mut self, damage: Damage) {
        // In the order in which things stand.
        if self.failure.is_none() {
            self.failure = self.settle().err();
        }
        self.damaged = true;
        complain(&format!("line {}: {}", damage.line, damage.message()));
    }
}

impl Shown {
    fn show(&mut self, event: &Event<'_>, line: &Line<'_>) -> anyhow::Result<()> {
        let page = match &mut self.out {
            Out::Json(lines) => return lines.add(line.text),
            Out::Page(page) => page,
        };
        // A session of this event alone.
        let mut session = Session::default();
        session.apply(event);
        let Some(entry) = session.entries().last() else { return Ok(()) };
        let id = entry.agent().map(|agent| session.agent_id(agent));
        let name = id.map(|id| self.names.get(id).map_or(id, String::as_str));
        let reading = Reading { session: &session, bodies: &OfLine(line) };
        event_line(page, &reading, entry, self.first, name)
    }

    /// Brings what is ready onto the screen.
    fn settle(&mut self) -> anyhow::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match &mut self.out {
            Out::Page(page) => page.flush(),
            Out::Json(lines) => lines.flush(),
        }
    }
}

/// The bodies of one line.
struct OfLine<'a>(&'a Line<'a>);

impl Bodies for OfLine<'_> {
    fn read(&self, place: Place) -> Result<String, BodyError> {
        let start = place.offset.checked_sub(self.0.place.offset);
        let body = start.and_then(|start| {
            let start = usize::try_from(start).ok()?;
            self.0.text.get(start..start.checked_add(place.len as usize)?)
        });
        let end = place.offset + u64::from(place.len);
        body.map(str::to_owned).ok_or(BodyError::Gone { offset: place.offset, end })
    }
}
