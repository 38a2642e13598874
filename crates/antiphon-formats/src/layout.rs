//! Where a format's files lie: which of them make a session, and where its agent keeps sessions.

use crate::{DatabaseLayout, Hooks};

/// Which files make a session, and where its agent keeps sessions.
pub struct Layout {
    /// How the names of files begin that may belong to a session and lie beside its main file;
    /// `{}` stands for the name of the main file, without its ending.
    pub beside: &'static [&'static str],
    /// Whether a file belongs to the session whose main file is `stem`: by its name, relative to
    /// the folder of the main file, and by how it begins.
    pub belongs: fn(stem: &str, name: &str, head: &str) -> bool,
    /// The sessions that a file which lies [`beside`](Self::beside) belongs to, by how it begins;
    /// nothing, where that is not how they are told. Their names do not depend on the session's.
    pub owners: Option<fn(head: &str) -> Vec<String>>,
    /// The ends of the names of files that a text names as made from it, whatever folder they lie
    /// in; [`belongs`](Self::belongs) still has to agree.
    pub names: fn(text: &str) -> Vec<String>,
    /// How many folders above its main file's folder the root of a session lies, by the path of
    /// the main file; names are relative to the root. More than none where the files of all
    /// sessions share some folders.
    pub above: fn(path: &str) -> usize,
    /// Where the root lies above: in which folders more of a file's own lies. The beginning of the
    /// file is read when it is asked for.
    pub leads: fn(name: &str, head: &mut dyn FnMut() -> String) -> Vec<Lead>,
    /// What the session is called that made the one whose main file begins like this; nothing, if
    /// sessions of their own are not found that way. Its main file has that name, or one that ends
    /// in it, after a `-`.
    pub made_by: Option<fn(head: &str) -> Option<String>>,
    /// Where the agent keeps its sessions; nothing, if it keeps none.
    pub kept: Option<Kept>,
    /// A file in the agent's folder, and the member of it that says after how many days without a
    /// change a session is deleted.
    pub days_setting: Option<(&'static str, &'static str)>,
    /// How the agent tells what it does while it does it; nothing, if that is not known.
    pub hooks: Option<Hooks>,
    /// How it keeps them in a database; nothing, if it does not.
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
    /// A session is one file, and lies wherever it was put.
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
        database: None,
        in_projects: &[],
        resume: &[],
    };
}

/// A folder that may be there: by the folder that it is in, below the session's root, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    pub within: String,
    /// This may come from within a file; it is compared with what is there, and never made a path.
    pub named: String,
}

/// Where an agent keeps its sessions.
#[derive(Debug)]
pub struct Kept {
    /// Names the agent's folder, if it is set; empty, if there is none.
    pub variable: &'static str,
    /// The agent's folder in the user's home, if it is not; each that is there counts.
    pub folders: &'static [&'static str],
    /// Where sessions lie below it.
    pub below: &'static [&'static str],
    /// What the agent calls the session whose main file this is; nothing, for a file that is a
    /// part of another or no session. The path is relative, with `/` between folders.
    pub session: fn(path: &str) -> Option<&str>,
    /// The name of a file that is a session's main file only where the usual one is missing.
    pub fallback: Option<&'static str>,
    /// After how many days without a change the agent deletes a session.
    pub deletes_after_days: Option<u32>,
}

/// For [`Kept::session`], where a file is named after its session: the name, if it begins and ends
/// like this, without the ending.
pub(crate) fn named<'a>(path: &'a str, begins: &str, ending: &str) -> Option<&'a str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(ending).filter(|stem| stem.starts_with(begins))
}
