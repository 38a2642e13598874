//! Checking session locations, upcoming deletions and damage.

use std::path::Path;

use antiphon_model::Timestamp;
use serde::Serialize;

use crate::catalogue::Progress;
use crate::machine::troubles;
use crate::{Environment, SourceReport, Store, Trouble, source_reports};

/// The state of the store and of the folders in which agents keep their sessions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorReport {
    /// The folder of the store.
    pub store: String,
    /// The number of stored sessions.
    pub kept: usize,
    /// The folders in which agents keep their sessions.
    pub sources: Vec<SourceReport>,
    /// Problems with files or stored sessions.
    pub problems: Vec<Trouble>,
    /// Whether stored bytes are not what was written.
    #[serde(skip)]
    pub is_damaged: bool,
}

/// How much of the store is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Examination {
    /// Only what is already known.
    Known,
    /// Every stored byte is checked against its hash.
    EveryByte,
}

/// Checks the store and the agents' folders on this machine.
pub fn doctor(
    environment: &Environment,
    store: &Store,
    examination: Examination,
    now: Timestamp,
    progress: Progress<'_>,
) -> DoctorReport {
    let damages = match examination {
        Examination::Known => Vec::new(),
        Examination::EveryByte => store.check(progress),
    };
    let kept = store.sessions().len();
    let mut problems = troubles(environment, store);
    problems.extend(damages.iter().map(|damage| Trouble {
        at: damage.path.display().to_string(),
        what: damage.what.clone(),
    }));
    let mut sources = source_reports(environment, now);
    for source in &mut sources {
        let below = problems.iter().filter(|it| Path::new(&it.at) != source.path);
        source.other_files = below.filter(|it| Path::new(&it.at).starts_with(&source.path)).count();
        source.sessions = source.sessions.saturating_sub(source.other_files);
    }
    let store = store.root().display().to_string();
    DoctorReport { store, kept, sources, problems, is_damaged: !damages.is_empty() }
}
