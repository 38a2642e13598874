//! Agents: an id, a name, a transcript, a model, and the names of those that it made.

use std::collections::BTreeMap;

use crate::cast::Watch;
use crate::transcript::Transcript;

/// Which of a session's agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentKey(pub(crate) usize);

/// An agent of a session.
#[derive(Debug)]
pub struct Agent {
    /// What the log calls it.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) parent: Option<AgentKey>,
    /// The root is 0.
    pub(crate) depth: usize,
    /// What it is asked with: a name that [`Models`](crate::Models) knows.
    pub(crate) model: Option<String>,
    /// The tools that it has; all, if nothing is said.
    pub(crate) tools: Option<Vec<String>>,
    /// What it watches, if it is a hook.
    pub(crate) watch: Option<Watch>,
    pub(crate) transcript: Transcript,
    /// Those that it made, by name.
    pub(crate) children: BTreeMap<String, AgentKey>,
}

impl Agent {
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub fn is_hook(&self) -> bool {
        self.watch.is_some()
    }
}

/// The longest name that an agent may have.
const NAME_CHARS_MAX: usize = 100;

/// Whether a text can be an agent's name: it is written between brackets, on one line.
pub fn is_name(name: &str) -> bool {
    let fits = (1..=NAME_CHARS_MAX).contains(&name.chars().count());
    fits && name.trim() == name && !name.contains(|c: char| c.is_control() || "[]".contains(c))
}
