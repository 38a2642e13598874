//! A file of a session.

use std::path::PathBuf;

/// A file of the session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// The path relative to the session's root, with `/` between folders. The root is usually the
    /// folder of the main file.
    pub name: String,
    pub path: PathBuf,
    /// The content, for a session from a database, which is not a file.
    pub document: Option<String>,
}

impl Member {
    pub(crate) fn file(name: String, path: PathBuf) -> Self {
        Self { name, path, document: None }
    }
}
