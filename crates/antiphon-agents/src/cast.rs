//! The cast: who is there at the beginning, who watches, what comes from outside, and how much of
//! everything there may be.
//!
//! It is written as TOML, and stands in the log as JSON (`session_started.cast`), so that a session
//! can be rebuilt from its log alone.

mod bundled;
mod read;

use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_journal::regular;
use antiphon_model::Json;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub(crate) use bundled::PREFIX as BUNDLED_PREFIX;
pub use bundled::{BUNDLED, Bundled, bundled};

/// Who is there at the beginning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cast {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The model of everybody who has none of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    pub root: Member,
    #[serde(rename = "agent", skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Member>,
    #[serde(rename = "hook", skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Watcher>,
    #[serde(rename = "trigger", skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<Server>,
    pub limits: Limits,
}

/// An agent of the cast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that it has; all, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
}

impl Default for Member {
    fn default() -> Self {
        Self { name: "Root".to_owned(), system: None, model: None, tools: None }
    }
}

/// A hook of the cast: an agent that is asked before something is done, or heard.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watcher {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(flatten)]
    pub watch: Watch,
}

/// What a hook watches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watch {
    /// The tools whose calls it is asked about; `*` means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Whose calls; everybody's, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<Vec<String>>,
    /// Whose words it sees before they are heard; `*` means everybody's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Something outside that an agent hears of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trigger {
    #[serde(flatten)]
    pub what: TriggerKind,
    /// Who hears of it.
    pub to: String,
}

/// What happens outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerKind {
    /// A file that changed.
    File(PathBuf),
    /// A clock: so often, as it was written.
    Every(Interval),
}

/// A time as a person writes it: `10m`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Interval {
    text: String,
    duration: Duration,
}

/// A server of tools: a command that speaks MCP.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Server {
    pub name: String,
    pub command: Vec<String>,
}

/// How much there may be. What the cast does not say has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Agents, the root and hooks included.
    pub agents: usize,
    /// How deep sub-agents may be; the root is 0.
    pub depth: usize,
    /// Requests to models for each prompt.
    pub turns: usize,
    /// What all requests of the session may cost, in US dollars.
    pub cost_usd: f64,
    /// How long a session that stays may have nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Interval>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { agents: 50, depth: 8, turns: 200, cost_usd: 5.0, idle: None }
    }
}

#[derive(Debug, Error)]
pub enum CastError {
    #[error("cannot read the cast `{path}`")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}:{line}:{column}: {message}")]
    Wrong { path: String, line: usize, column: usize, message: String },
}

impl Cast {
    /// Reads a cast from its file. Paths in it start from the file's folder.
    pub fn read(path: &Path) -> Result<Self, CastError> {
        let text = regular::read_text(path);
        let text = text.map_err(|source| CastError::Read { path: path.to_owned(), source })?;
        // A name alone has an empty parent, which is no path.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Self::parse(&text, &path.display().to_string(), &folder)
    }

    /// Reads a cast from its text. `name` is what errors call it; paths start from `folder`.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Self, CastError> {
        let mut cast = read::read(text).map_err(|wrong| {
            let (line, column) = wrong.place(text);
            CastError::Wrong { path: name.to_owned(), line, column, message: wrong.message }
        })?;
        cast.resolve(folder);
        Ok(cast)
    }

    /// Makes the paths absolute that stand in it.
    fn resolve(&mut self, folder: &Path) {
        let own = std::iter::once(&mut self.root).chain(&mut self.agents);
        let models = own.map(|member| &mut member.model);
        let models = models.chain(self.hooks.iter_mut().map(|hook| &mut hook.model));
        for model in models.chain([&mut self.model]).flatten() {
            *model = absolute_model(model, folder);
        }
        for trigger in &mut self.triggers {
            if let TriggerKind::File(path) = &mut trigger.what {
                *path = folder.join(&*path);
            }
        }
    }

    /// The cast that a log has.
    pub fn of_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The cast as a log has it.
    pub fn to_json(&self) -> Option<Json> {
        Json::parse(&serde_json::to_string(self).ok()?).ok()
    }

    /// Every model that it names.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        let own = std::iter::once(&self.root).chain(&self.agents).map(|member| &member.model);
        let hooks = self.hooks.iter().map(|hook| &hook.model);
        own.chain(hooks).chain([&self.model]).filter_map(|model| model.as_deref())
    }
}

/// `script:` names a file; relative to a folder it is none that a log could name.
pub fn absolute_model(model: &str, folder: &Path) -> String {
    match model.strip_prefix("script:") {
        Some(path) if !path.starts_with(bundled::PREFIX) => {
            format!("script:{}", folder.join(path).display())
        }
        _ => model.to_owned(),
    }
}

impl Interval {
    pub fn duration(&self) -> Duration {
        self.duration
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl TryFrom<String> for Interval {
    type Error = &'static str;

    /// `90`, `90s`, `10m`, `2h`, `1d`.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        const WANTED: &str = "a time such as 30s, 10m or 2h";
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let number: u64 = digits.parse().map_err(|_| WANTED)?;
        let seconds = match text.get(digits.len()..).unwrap_or_default() {
            "" | "s" => number.checked_mul(1),
            "m" => number.checked_mul(60),
            "h" => number.checked_mul(3600),
            "d" => number.checked_mul(24 * 3600),
            _ => return Err(WANTED),
        };
        let seconds = seconds.filter(|seconds| (1..=365 * 24 * 3600).contains(seconds));
        let duration = Duration::from_secs(seconds.ok_or(WANTED)?);
        Ok(Self { text, duration })
    }
}

impl From<Interval> for String {
    fn from(interval: Interval) -> Self {
        interval.text
    }
}

#[cfg(test)]
mod tests;
