//! What the surroundings say about where things are: asked once, in one place.
//!
//! Everything else takes an [`Environment`], so that a test has its own.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use antiphon_formats::{FORMATS, Kept};

const DATA_HOME: &str = "XDG_DATA_HOME";

/// The variables and folders that decide where things are. What is empty counts as not said.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `$ANTIPHON_HOME`: where sessions are kept.
    pub antiphon_home: Option<PathBuf>,
    /// `$ANTIPHON_CONFIG`: the configuration.
    pub antiphon_config: Option<PathBuf>,
    /// `$ANTIPHON_PRICES`: a price table.
    pub antiphon_prices: Option<PathBuf>,
    pub xdg_data_home: Option<PathBuf>,
    pub xdg_config_home: Option<PathBuf>,
    /// By name: the others that name an agent's folder ([`Kept::variable`]), if they are set.
    pub agents: BTreeMap<&'static str, PathBuf>,
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
        let kept = FORMATS.iter().filter_map(|format| format.layout.kept.as_ref());
        let names = kept.map(|kept| kept.variable).filter(|name| !["", DATA_HOME].contains(name));
        Self {
            antiphon_home: var("ANTIPHON_HOME"),
            antiphon_config: var("ANTIPHON_CONFIG"),
            antiphon_prices: var("ANTIPHON_PRICES"),
            xdg_data_home: xdg(DATA_HOME),
            xdg_config_home: xdg("XDG_CONFIG_HOME"),
            agents: names.filter_map(|name| Some((name, var(name)?))).collect(),
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

    /// The variable that says where sessions are kept, if one does.
    pub(crate) fn store_variable(&self) -> Option<&'static str> {
        let is_xdg = self.xdg_data_home.is_some() && !cfg!(target_os = "macos");
        match &self.antiphon_home {
            Some(_) => Some("ANTIPHON_HOME"),
            None => is_xdg.then_some(DATA_HOME),
        }
    }

    /// The folders of an agent, whether or not they are there: the one that its variable names, or
    /// those in the home.
    pub fn agent_folders(&self, kept: &Kept) -> Vec<PathBuf> {
        let named = match kept.variable {
            DATA_HOME => self.xdg_data_home.as_ref(),
            name => self.agents.get(name),
        };
        let in_home = |home: &PathBuf| kept.folders.iter().map(|it| home.join(it)).collect();
        match (named, &self.home) {
            (Some(named), _) => vec![named.clone()],
            (None, Some(home)) => in_home(home),
            (None, None) => Vec::new(),
        }
    }

    /// The folder of the user's own configuration.
    pub fn config_folder(&self) -> Option<PathBuf> {
        self.configuration("antiphon")
    }

    /// The folder of that name among the user's configurations.
    pub fn configuration(&self, name: &str) -> Option<PathBuf> {
        let of_home = || self.home.as_ref().map(|home| home.join(".config"));
        let config = self.xdg_config_home.clone().or_else(of_home);
        config.map(|config| config.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_folder_is_where_its_variable_says_or_in_the_home() {
        let kept = |variable| Kept {
            variable,
            folders: &[".one", ".two"],
            below: &[],
            session: |_| None,
            fallback: None,
            deletes_after_days: None,
        };
        let mut environment = Environment {
            xdg_data_home: Some("/data".into()),
            agents: BTreeMap::from([("ONE_HOME", "/one".into())]),
            ..Environment::default()
        };
        let of = |environment: &Environment| {
            ["ONE_HOME", "XDG_DATA_HOME", "TWO_HOME", ""].map(|name| {
                let folders = environment.agent_folders(&kept(name)).into_iter();
                folders.map(|it| it.display().to_string()).collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(of(&environment), ["/one", "/data", "", ""]);
        environment.home = Some("/h".into());
        assert_eq!(of(&environment), ["/one", "/data", "/h/.one /h/.two", "/h/.one /h/.two"]);
    }
}
