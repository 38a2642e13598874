//! How files are known to be as they were: by their sizes and times.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Size and time of files.
pub(crate) type Sizes = BTreeMap<PathBuf, (u64, u128)>;

/// How long something is, and when it changed; of a folder the latter says whether files came or
/// went. What is not there is nothing and has never been.
pub(crate) fn size(path: &Path) -> (u64, u128) {
    let Ok(metadata) = path.metadata() else { return (0, 0) };
    let time = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), time.unwrap_or_default().as_nanos())
}
