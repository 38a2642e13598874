//! The numbers that describe a sync.

use serde::Serialize;

use super::Synced;

/// The result of copying agents' sessions into the store.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncReport {
    /// The number of sessions that were found.
    pub found: usize,
    /// The number of sessions that had something new.
    pub copied: usize,
    /// The number of sessions that another process is copying.
    pub busy: usize,
    /// The number of sessions that could not be read.
    pub failed: usize,
    /// The number of files among them that are not sessions.
    pub unread: usize,
    /// The number of sub-agents' files whose session is missing; they are not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orphaned: Option<usize>,
}

impl From<&Synced> for SyncReport {
    fn from(synced: &Synced) -> Self {
        Self {
            found: synced.found,
            copied: synced.copied,
            busy: synced.busy,
            failed: synced.failed.len(),
            unread: synced.unread,
            orphaned: Some(synced.orphans.len()).filter(|&orphans| orphans > 0),
        }
    }
}
