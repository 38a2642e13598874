//! Where a format's files are: which of them make a session, and where its agent keeps sessions.

use crate::{DatabaseLayout, Hooks, Servers};

/// Which files make a session, and where its agent keeps sessions.
pub struct Layout {
    /// Prefixes of the names of files beside the main file that may belong to its session; `{}`
    /// stands for the name of the main file, without its extension.
    pub beside: &'static [&'static str],
    /// Whether a file belongs to the session whose main file is `stem`: by its name, relative to
    /// the folder of the main file, and by how it begins.
    pub belongs: fn(stem: &str, name: &str, head: &str) -> bool,
    /// The sessions that a file [`beside`](Self::beside) the main file belongs to, judging by how
    /// it begins; `None` if that does not say so. The prefixes then do not depend on the session's
    /// name.
    pub owners: Option<fn(head: &str) -> Vec<String>>,
    /// The suffixes of names of files that a text says were created from it, in whatever folder
    /// they are; [`belongs`](Self::belongs) still has to agree.
    pub names: fn(text: &str) -> Vec<String>,
    /// How many folders the root of a session is above its main file's folder, given the path of
    /// the main file; names are relative to the root. More than zero if the files of all sessions
    /// share some folders.
    pub above: fn(path: &str) -> usize,
    /// If the root is above: the folders in which more files of the session may be. The beginning
    /// of the file is read only when it is asked for.
    pub leads: fn(name: &str, head: &mut dyn FnMut() -> String) -> Vec<Lead>,
    /// The name of the session that created the one whose main file begins like this; `None` if
    /// child sessions are not found that way. The parent's main file has that name, or one that
    /// ends in it, after a `-`.
    pub made_by: Option<fn(head: &str) -> Option<String>>,
    /// Where the agent keeps its sessions; `None` if it keeps none.
    pub kept: Option<Kept>,
    /// A file in the agent's folder, and its member that says after how many days without a change
    /// a session is deleted.
    pub days_setting: Option<(&'static str, &'static str)>,
    /// The agent's hooks; `None` if it has none or they are not known.
    pub hooks: Option<Hooks>,
    /// How the agent is told to start a server that answers its questions; `None` if it takes none
    /// or that is not known.
    pub servers: Option<Servers>,
    /// The database in which the agent keeps its sessions; `None` if it uses none.
    pub database: Option<DatabaseLayout>,
    /// The names of files that it keeps in the folders it works in, each a session.
    pub in_projects: &'static [&'static str],
    /// The command with which the agent goes on with a session; `{}` stands for the session's id.
    /// Nothing, if that is not known.
    pub resume: &'static [&'static str],
}

impl std::fmt::Debug for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Layout").field("kept", &self.kept).finish_non_exhaustive()
    }
}

impl Layout {
    /// A session is one file, in whatever folder.
    pub(crate) const ONE_FILE: Self = Self {
        beside: &[],
        belongs: |_, _, _| false,
        owners: None,
        names: |_| Vec::new(),
        above: |_| 0,
        leads: |_, _| Vec::new(),
        made_by: None,
        kept: None,
        days_setting: None,
        hooks: None,
        servers: None,
        database: None,
        in_projects: &[],
        resume: &[],
    };
}

/// A folder that may exist: the folder that contains it, below the session's root, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    pub within: String,
    /// May come from within a file, so it is only compared with existing names, never made a path.
    pub named: String,
}

/// Where an agent keeps its sessions.
#[derive(Debug)]
pub struct Kept {
    /// The environment variable that names the agent's folder; empty if there is none.
    pub variable: &'static str,
    /// The agent's folders in the user's home, if the variable is not set; each that exists counts.
    pub folders: &'static [&'static str],
    /// The folders below the agent's folder that contain sessions.
    pub below: &'static [&'static str],
    /// The agent's name for the session whose main file this is; `None` if the file is a part of
    /// another session or no session. The path is relative, with `/` between folders.
    pub session: fn(path: &str) -> Option<&str>,
    /// The name of a file that is a session's main file only if the usual one is missing.
    pub fallback: Option<&'static str>,
    /// After how many days without a change the agent deletes a session.
    pub deletes_after_days: Option<u32>,
}

/// For [`Kept::session`], if a file is named after its session: the name without the extension, if
/// it begins and ends like this.
pub(crate) fn named<'a>(path: &'a str, begins: &str, ending: &str) -> Option<&'a str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(ending).filter(|stem| stem.starts_with(begins))
}
