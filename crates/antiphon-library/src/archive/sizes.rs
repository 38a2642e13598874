//! Recognising unchanged files by their sizes and times.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use antiphon_journal::{Clock as _, SystemClock};

/// A session that has grown stays uncompressed until nothing was added for this long: recompressing
/// it for every line would cost its whole length each time.
const QUIET: Duration = Duration::from_secs(600);

/// The sizes and modification times of files.
pub(crate) type Sizes = BTreeMap<PathBuf, (u64, u128)>;

/// The size and modification time of a path; the latter changes for a folder when files are added
/// or removed. Zero for a path that does not exist.
pub(crate) fn size(path: &Path) -> (u64, u128) {
    path.metadata().map_or((0, 0), |metadata| size_of(&metadata))
}

pub(crate) fn size_of(metadata: &Metadata) -> (u64, u128) {
    let time = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), time.unwrap_or_default().as_nanos())
}

/// Whether one of these files changed so recently that it may change again.
pub(crate) fn is_fresh(files: &Sizes) -> bool {
    files.values().any(|(_, nanos)| has_changed_lately(*nanos))
}

/// Whether something with this modification time may change again.
pub(crate) fn has_changed_lately(nanos: u128) -> bool {
    let now = u128::try_from(SystemClock.now().as_millis()).unwrap_or_default();
    let age = now.checked_sub(nanos / 1_000_000);
    age.is_some_and(|age| age < QUIET.as_millis())
}
