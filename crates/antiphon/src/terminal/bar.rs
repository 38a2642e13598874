//! A progress bar on a terminal.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use super::progress;

/// Shorter work ends before anybody could read the bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A line on stderr that is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Bar {
    /// What is counted, in the plural.
    what: &'static str,
    is_shown: bool,
    begun: Instant,
}

impl Bar {
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, is_shown: std::io::stderr().is_terminal(), begun: Instant::now() }
    }

    pub(crate) fn show(&self, done: usize, of: usize) {
        let step = (of / 200).max(1);
        let took = self.begun.elapsed();
        if !self.is_shown || took < PATIENCE || (!done.is_multiple_of(step) && done != of) {
            return;
        }
        let rate = done as f64 / took.as_secs_f64().max(0.001);
        let left = of.saturating_sub(done) as f64 / rate.max(0.001);
        let what = self.what;
        progress(&format!("{done} of {of} {what} · {rate:.0} per second · {left:.0} s left"));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.is_shown && self.begun.elapsed() >= PATIENCE {
            progress("");
        }
    }
}
