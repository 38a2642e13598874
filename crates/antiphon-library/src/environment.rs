//! What the surroundings say about where things are: asked once, in one place.
//!
//! Everything else takes an [`Environment`], so that a test has its own.

use std::env;
use std::path::{Path, PathBuf};

/// The variables and folders that decide where things are. What is empty counts as not said.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `$ANTIPHON_HOME`: where sessions are kept.
    pub antiphon_home: Option<PathBuf>,
    /// `$ANTIPHON_CONFIG`: the configuration.
    pub antiphon_config: Option<PathBuf>,
    /// `$CLAUDE_CONFIG_DIR`: where Claude Code keeps its settings, if not in `~/.claude`.
    pub claude_config_dir: Option<PathBuf>,
    pub xdg_data_home: Option<PathBuf>,
    pub xdg_config_home: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// The folder in which the program was started.
    pub current_folder: Option<PathBuf>,
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        let var = |name| env::var_os(name).map(PathBuf::from).filter(|path| path != Path::new(""));
        // The standard says to pass over what is not absolute.
        let xdg = |name| var(name).filter(|path| path.is_absolute());
        Self {
            antiphon_home: var("ANTIPHON_HOME"),
            antiphon_config: var("ANTIPHON_CONFIG"),
            claude_config_dir: var("CLAUDE_CONFIG_DIR"),
            xdg_data_home: xdg("XDG_DATA_HOME"),
            xdg_config_home: xdg("XDG_CONFIG_HOME"),
            home: env::home_dir().filter(|path| path.is_absolute()),
            current_folder: env::current_dir().ok(),
        }
    }

    /// Where sessions are kept, if anything says so.
    pub fn store_folder(&self) -> Option<PathBuf> {
        if let Some(home) = &self.antiphon_home {
            // A relative one must mean the same folder to a process that is started elsewhere.
            return Some(self.current_folder.as_deref().unwrap_or(Path::new("")).join(home));
        }
        let of_home = |below: &str| self.home.as_ref().map(|home| home.join(below));
        let data = match cfg!(target_os = "macos") {
            true => of_home("Library/Application Support"),
            false => self.xdg_data_home.clone().or_else(|| of_home(".local/share")),
        };
        data.map(|data| data.join("antiphon"))
    }

    /// The folder of the user's own configuration.
    pub fn config_folder(&self) -> Option<PathBuf> {
        let of_home = || self.home.as_ref().map(|home| home.join(".config"));
        let config = self.xdg_config_home.clone().or_else(of_home);
        config.map(|config| config.join("antiphon"))
    }
}
