//! Our own terminal, while a command runs in another one that we created for it.

use std::io::stdin;

use pty_process::Size;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// Puts the terminal into raw mode, so that every key goes to the command; restored when dropped.
#[derive(Debug)]
pub(crate) struct Raw {
    before: Termios,
}

impl Raw {
    pub(crate) fn enter() -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let raw = Self { before };
        raw.again();
        Some(raw)
    }

    /// Sets raw mode again, because another program may have changed it after a stop.
    pub(crate) fn again(&self) {
        let mut raw = self.before.clone();
        raw.make_raw();
        let _ = tcsetattr(stdin(), OptionalActions::Now, &raw);
    }

    pub(crate) fn leave(&self) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.leave();
    }
}

pub(crate) fn size() -> Option<Size> {
    let size = tcgetwinsize(stdin()).ok()?;
    Some(Size::new(size.ws_row, size.ws_col))
}
