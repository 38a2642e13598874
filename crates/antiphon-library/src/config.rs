//! The configuration: `antiphon.toml`.
//!
//! The first file that is there counts, whole: the one that is named, `$ANTIPHON_CONFIG`, the
//! project's (from the current folder upwards, no further than home), the user's. A key that
//! nobody knows is an error with its place, since a setting that is misspelt is a setting that
//! does not hold.

mod read;
mod rows;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use antiphon_journal::regular;
use thiserror::Error;

use crate::Environment;

pub use rows::{ConfigRow, config_rows};

/// What the file is called.
pub const CONFIG_FILE: &str = "antiphon.toml";

/// What is configured, and what holds where nothing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub logging: Logging,
    pub redaction: Redaction,
    pub library: Library,
    /// Where it was read; `None` where no file is.
    pub file: Option<PathBuf>,
    /// The settings that the file contains; the others have their defaults.
    pub(crate) set: BTreeSet<&'static str>,
}

/// `[logging]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logging {
    /// `agentSessions`: whether `record` writes transcripts.
    pub agent_sessions: bool,
    /// `logsDir`: where to. What is relative in the file starts here from the file's folder.
    pub logs_dir: PathBuf,
}

/// `[redaction]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// `enabled`: whether secrets are taken out of what is written.
    pub enabled: bool,
}

/// `[library]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// `fresh`: whether commands that read the library first copy what is new.
    pub fresh: bool,
}

#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("cannot read the configuration `{path}`")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path}:{line}:{column}: {message}")]
    Wrong { path: PathBuf, line: usize, column: usize, message: String },
}

impl Default for Config {
    fn default() -> Self {
        Self {
            logging: Logging { agent_sessions: false, logs_dir: PathBuf::from("./logs") },
            redaction: Redaction { enabled: true },
            library: Library { fresh: true },
            file: None,
            set: BTreeSet::new(),
        }
    }
}

impl Config {
    /// Reads the file that counts; `explicit` is the one that a person named.
    pub fn load(explicit: Option<&Path>, environment: &Environment) -> Result<Self, ConfigError> {
        if let Some(path) = explicit.or(environment.antiphon_config.as_deref()) {
            return Self::read(path);
        }
        let users = environment.config_folder().map(|folder| folder.join(CONFIG_FILE));
        match projects_file(environment).or_else(|| users.filter(|path| path.is_file())) {
            Some(path) => Self::read(&path),
            None => Ok(Self::default()),
        }
    }

    fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = regular::read_text(path);
        let text = text.map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        let mut config = Self { file: Some(path.to_owned()), ..Self::default() };
        read::read(&text, &mut config).map_err(|wrong| {
            let (line, column) = wrong.place(&text);
            ConfigError::Wrong { path: path.to_owned(), line, column, message: wrong.message }
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.logging.logs_dir = folder.join(&config.logging.logs_dir);
        Ok(config)
    }
}

/// The nearest file above the current folder.
fn projects_file(environment: &Environment) -> Option<PathBuf> {
    let home = environment.home.as_deref();
    for folder in environment.current_folder.as_deref()?.ancestors() {
        let file = folder.join(CONFIG_FILE);
        if file.is_file() {
            return Some(file);
        }
        if Some(folder) == home {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests;
