//! The casts that come along, with scripts, so that each runs without a network.

use std::path::Path;

use super::{Cast, CastError};

/// How the model of a bundled cast is written: `script:bundled:debate`.
pub(crate) const PREFIX: &str = "bundled:";

/// A cast that comes along.
#[derive(Debug, PartialEq, Eq)]
pub struct Bundled {
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// Its text, as a file would have it.
    pub text: &'static str,
    pub(crate) script: &'static str,
}

/// Declares a cast: its name, what it shows, and its two files.
macro_rules! casts {
    ($($name:literal: $about:literal),+ $(,)?) => {
        &[$(Bundled {
            name: $name,
            about: $about,
            text: include_str!(concat!("../../casts/", $name, ".toml")),
            script: include_str!(concat!("../../casts/", $name, ".jsonl")),
        }),+]
    };
}

/// The casts that come along.
pub const BUNDLED: &[Bundled] = casts! {
    "debate": "two sides, a judge who only listens, and a moderator",
    "characters": "people in a story, who know only what they have heard",
    "socratic-teacher": "a teacher who only asks, and an adviser whom the pupil never hears",
    "steel-man": "a hook that rejects what dismisses a position nobody has defended",
    "strategy": "a strategist who sets goals, and a tactician who finds actions",
    "memory": "a hook that remembers, and reminds those who have forgotten",
    "resource-limits": "a hook that is asked before an agent is made, and limits",
    "event-driven": "a watcher that hears of a file and of a clock",
};

/// The cast of that name.
pub fn bundled(name: &str) -> Option<&'static Bundled> {
    BUNDLED.iter().find(|cast| cast.name == name)
}

impl Bundled {
    /// Reads it. Its script is the one that came along; files start from `folder`.
    pub fn cast(&self, folder: &Path) -> Result<Cast, CastError> {
        Cast::parse(self.text, &format!("{}.toml", self.name), folder)
    }
}
