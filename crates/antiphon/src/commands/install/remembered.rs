//! What the settings were before our hooks or our server came: to take them out again restores
//! exactly that.
//!
//! It stands in the store, by the settings' path. Where nothing is remembered, what holds only our
//! hooks is taken for ours.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use antiphon_journal::Hash;
use antiphon_journal::regular;
use antiphon_library::Store;
use serde::{Deserialize, Serialize};

/// The settings before and after something of ours was added.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Remembered {
    settings: PathBuf,
    /// Nothing, where there was no file.
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl Remembered {
    /// What is remembered of the settings at a path.
    pub(super) fn read(store: &Store, settings: &Path, kind: &str) -> Option<Self> {
        let remembered: Self =
            serde_json::from_slice(&regular::read(&place(store, settings, kind)).ok()?).ok()?;
        (remembered.settings == settings).then_some(remembered)
    }

    /// Remembers it, before the settings are changed.
    pub(super) fn write(
        store: &Store,
        settings: &Path,
        kind: &str,
        before: Option<String>,
        after: &str,
    ) -> io::Result<()> {
        let path = place(store, settings, kind);
        make_folders(path.parent().unwrap_or(store.root()))?;
        let remembered = Self { settings: settings.to_owned(), before, after: after.to_owned() };
        let new = path.with_extension("new");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = regular::open_by(&new, &mut options)?;
        file.set_len(0)?;
        file.write_all(&serde_json::to_vec(&remembered)?)?;
        fs::rename(&new, &path)
    }

    pub(super) fn forget(store: &Store, settings: &Path, kind: &str) {
        // If it stays, it is compared with what is there before anything is made of it.
        let _ = fs::remove_file(place(store, settings, kind));
    }
}

/// `kind` tells apart what is added to the same settings; it is empty for hooks.
fn place(store: &Store, settings: &Path, kind: &str) -> PathBuf {
    let name = Hash::of(settings.as_os_str().as_encoded_bytes()).to_string();
    store.root().join("install").join(format!("{name}{kind}.json"))
}

fn make_folders(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
