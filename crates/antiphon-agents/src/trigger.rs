//! Triggers: files that change and clocks. They are looked at between prompts.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use crate::cast::{Interval, Trigger, TriggerKind};

/// The triggers of a session, and what each was like when it was last looked at.
#[derive(Debug)]
pub struct Triggers {
    watched: Vec<Watched>,
}

#[derive(Debug)]
struct Watched {
    to: String,
    what: What,
}

#[derive(Debug)]
enum What {
    File { path: PathBuf, name: String, last: Option<Stamp> },
    Clock { interval: Interval, last: Instant },
}

/// What changes when a file does.
type Stamp = (u64, Option<SystemTime>);

impl Triggers {
    /// Begins to watch.
    pub fn new(triggers: &[Trigger]) -> Self {
        let watched = triggers.iter().map(|trigger| Watched {
            to: trigger.to.clone(),
            what: match &trigger.what {
                TriggerKind::File(path) => What::File {
                    path: path.clone(),
                    name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                    last: stamp(path),
                },
                TriggerKind::Every(interval) => {
                    What::Clock { interval: interval.clone(), last: Instant::now() }
                }
            },
        });
        Self { watched: watched.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// What happened since this was last asked: who is to hear it, and what.
    pub fn due(&mut self) -> Vec<(String, String)> {
        let mut due = Vec::new();
        for Watched { to, what } in &mut self.watched {
            match what {
                What::File { path, name, last } => {
                    let now = stamp(path);
                    if now != *last {
                        *last = now;
                        due.push((to.clone(), format!("File changed: {name}")));
                    }
                }
                What::Clock { interval, last } => {
                    if last.elapsed() >= interval.duration() {
                        *last = Instant::now();
                        due.push((to.clone(), format!("Clock: {}", interval.as_str())));
                    }
                }
            }
        }
        due
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

#[cfg(test)]
mod tests;
