//! What a person sees of a chat: at a terminal everything, as it comes; in a pipe what the root
//! says, or every event.

use std::cell::RefCell;
use std::rc::Rc;

use antiphon_agents::{News, Session, Turn};

use super::input::Printer;
use super::screen::Screen;
use crate::terminal::{self, complain};

/// Where a chat is shown.
#[derive(Debug)]
pub(super) enum Output {
    /// What the root says, a block each.
    Utterances {
        is_first: bool,
    },
    /// Every event, which the log's writer passes on.
    Events,
    Terminal(Rc<RefCell<Screen>>),
}

impl Output {
    pub(super) fn of_pipe(is_json: bool) -> Self {
        if is_json { Self::Events } else { Self::Utterances { is_first: true } }
    }

    pub(super) fn of_person(printer: Printer) -> Self {
        Self::Terminal(Rc::new(RefCell::new(Screen::new(printer))))
    }

    /// Shows what happens in a session while it happens.
    pub(super) fn follow(&self, session: &mut Session) {
        match self {
            Self::Terminal(screen) => {
                let screen = Rc::clone(screen);
                session.listen(move |news| screen.borrow_mut().show(news));
            }
            Self::Utterances { .. } | Self::Events => session.listen(tell),
        }
    }

    /// Says whether a prompt is being edited while something happens.
    pub(super) fn set_aside(&self, is_aside: bool) {
        if let Self::Terminal(screen) = self {
            screen.borrow_mut().set_aside(is_aside);
        }
    }

    /// Says something that no agent says.
    pub(super) fn note(&self, words: &str) {
        match self {
            Self::Terminal(screen) => screen.borrow_mut().note(words),
            Self::Utterances { .. } | Self::Events => complain(words),
        }
    }

    /// Shows what came of a turn, as far as nobody has seen it.
    pub(super) fn show(&mut self, turn: &Turn) {
        match turn {
            Turn::Said(words) => {
                if let Self::Utterances { is_first } = self {
                    let before = if std::mem::take(is_first) { "" } else { "\n" };
                    // Whoever read it may have gone; the log has it.
                    let _ = terminal::lines(&format!("{before}{words}"));
                }
            }
            Turn::Silent => {}
            Turn::Withheld { hook, reason } => {
                self.note(&format!("The answer was withheld by the hook '{hook}': {reason}"));
            }
            Turn::Limit(limit) => self.note(&format!("{limit}: the turn ended without an answer")),
            Turn::Interrupted => self.note("The answer was interrupted."),
        }
    }
}

/// Says on stderr what a person should know.
fn tell(news: News<'_>) {
    match news {
        News::Retry { who, error, after } => {
            let seconds = after.as_secs_f32();
            complain(&format!("{}: {error}; trying again in {seconds:.1} s", who.name));
        }
        News::Note(note) => complain(note),
        News::Words { .. } | News::Answered { .. } | News::Result { .. } => {}
    }
}
