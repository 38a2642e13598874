//! The contents of folders that many sessions share, listed once for all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::FolderListing;

/// Listings of folders with sessions. Each folder is listed when it is first needed, and again when
/// it has changed.
#[derive(Debug, Default)]
pub struct FolderListings(Mutex<BTreeMap<PathBuf, Arc<FolderListing>>>);

impl FolderListings {
    /// The listing of the folder of a main file.
    pub fn of(&self, main: &Path) -> Arc<FolderListing> {
        let folder = main.parent().unwrap_or(Path::new(""));
        let mut folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(near) = folders.get(folder).filter(|near| near.is_current(folder)) {
            return Arc::clone(near);
        }
        let near = Arc::new(FolderListing::of(folder));
        folders.insert(folder.to_owned(), Arc::clone(&near));
        near
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_folder_is_read_again_when_something_came() {
        let folder = tempfile::tempdir().unwrap();
        let main = folder.path().join("s.jsonl");
        let nearby = FolderListings::default();
        let first = nearby.of(&main);
        assert!(Arc::ptr_eq(&first, &nearby.of(&main)));
        let long_ago = std::fs::File::open(folder.path()).unwrap();
        long_ago.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let second = nearby.of(&main);
        assert!(!Arc::ptr_eq(&first, &second));
        std::fs::write(folder.path().join("agent-a.jsonl"), "").unwrap();
        assert!(!Arc::ptr_eq(&second, &nearby.of(&main)));
    }
}
