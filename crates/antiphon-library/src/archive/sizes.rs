//! How files are known to be as they were: by their sizes and times.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use antiphon_journal::{Clock as _, SystemClock};

/// A session that has grown stays unpacked until nothing has come for so long: to unpack and pack
/// it with every line would cost its length each time.
const QUIET: Duration = Duration::from_secs(600);

/// Size and time of files.
pub(crate) type Sizes = BTreeMap<PathBuf, (u64, u128)>;

/// How long something is, and when it changed; of a folder the latter says whether files came or
/// went. What is not there is nothing and has never been.
pub(crate) fn size(path: &Path) -> (u64, u128) {
    path.metadata().map_or((0, 0), |metadata| size_of(&metadata))
}

pub(crate) fn size_of(metadata: &Metadata) -> (u64, u128) {
    let time = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), time.unwrap_or_default().as_nanos())
}

/// Whether one of these files has changed so lately that it may go on.
pub(crate) fn is_fresh(files: &Sizes) -> bool {
    files.values().any(|(_, nanos)| has_changed_lately(*nanos))
}

/// Whether what was changed then may go on. The time is that of a file.
pub(crate) fn has_changed_lately(nanos: u128) -> bool {
    let now = u128::try_from(SystemClock.now().as_millis()).unwrap_or_default();
    let age = now.checked_sub(nanos / 1_000_000);
    age.is_some_and(|age| age < QUIET.as_millis())
}
