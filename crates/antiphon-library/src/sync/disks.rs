//! The disks that copies are on.

pub(super) use asked::Disks;

/// For systems on which a disk can be asked to write everything.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod asked {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::sync::{Mutex, PoisonError};

    /// A folder on each disk, opened early, because it reports only failures since then.
    #[derive(Default)]
    pub(in super::super) struct Disks(Mutex<BTreeMap<u64, Option<File>>>);

    impl Disks {
        /// Remembers the disk of a folder.
        pub(in super::super) fn note(&self, folder: &Path) {
            let Ok(disk) = folder.metadata().map(|metadata| metadata.dev()) else { return };
            let mut disks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            disks.entry(disk).or_insert_with(|| File::open(folder).ok());
        }

        /// Waits until the disks have written everything; `false` if one could not be asked.
        pub(in super::super) fn write_back(&self) -> bool {
            let disks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_written = |folder: &File| rustix::fs::syncfs(folder).is_ok();
            disks.values().all(|folder| folder.as_ref().is_some_and(is_written))
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod asked {
    use std::path::Path;

    #[derive(Default)]
    pub(in super::super) struct Disks;

    impl Disks {
        pub(in super::super) fn note(&self, _: &Path) {}

        pub(in super::super) fn write_back(&self) -> bool {
            false
        }
    }
}
