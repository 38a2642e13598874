//! `antiphon tail`: a session while it happens.

mod foreign;

use std::time::Duration;

use antiphon_journal::{Damage, Follower, Log, LogBodies, Seal, Sink};
use antiphon_library::Bundle;
use antiphon_model::{Event, EventKind, Line, Session, Timestamp};
use antiphon_views::Reading;

use super::view::event_line;
use crate::cli;
use crate::failure::Outcome;
use crate::terminal::{self, Page, complain};

const INTERVAL: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &cli::Tail) -> anyhow::Result<Outcome> {
    let args = &cli::Tail { session: crate::opened::locate(&args.session)?, ..args.clone() };
    if let Some(stamp) = Bundle::stamp(&args.session)? {
        return foreign::run(args, stamp);
    }
    let mut follower = Follower::new(&args.session);
    let mut shown = Shown {
        session: Session::default(),
        lines: Vec::new(),
        waits_for: args.since.clone(),
        keeps_lines: args.json,
        ended: false,
        damaged: false,
        printed: 0,
        first: None,
    };
    if args.once {
        crate::opened::find(&args.session)?;
    }
    loop {
        let followed = follower.poll(&mut shown)?;
        if followed.restarted {
            complain("the log was cut or replaced; going on with what is there now");
        }
        if args.json {
            for line in shown.lines.drain(..) {
                terminal::json_line(&line)?;
            }
        } else {
            shown.print(&args.session)?;
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

/// What has been read, and how much of it is on the screen.
struct Shown {
    session: Session,
    lines: Vec<String>,
    /// Nothing is shown before this message.
    waits_for: Option<String>,
    keeps_lines: bool,
    ended: bool,
    damaged: bool,
    printed: usize,
    first: Option<Timestamp>,
}

impl Sink for Shown {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, _: Option<&Seal>) {
        self.session.apply(event);
        self.first = self.first.or(event.at);
        // What is said about a session afterwards does not open it again.
        if !matches!(event.kind, EventKind::Annotation(_)) {
            self.ended = matches!(event.kind, EventKind::SessionEnded(_));
        }
        if self.waits_for.is_some() {
            self.printed = self.session.len();
            if self.waits_for.as_deref() == event.message_id.as_deref() {
                self.waits_for = None;
            }
        } else if self.keeps_lines {
            self.lines.push(line.text.to_owned());
        }
    }

    fn damage(&mut self, damage: Damage) {
        self.damaged = true;
        complain(&format!("line {}: {}", damage.line, damage.message()));
    }
}

impl Shown {
    fn print(&mut self, path: &std::path::Path) -> anyhow::Result<()> {
        if self.printed == self.session.len() {
            return Ok(());
        }
        let bodies = LogBodies::new(&Log::find(path)?);
        let reading = Reading { session: &self.session, bodies: &bodies };
        let mut page = Page::live();
        for entry in self.session.entries_from(self.printed) {
            event_line(&mut page, &reading, entry, self.first)?;
        }
        self.printed = self.session.len();
        page.finish()
    }
}
