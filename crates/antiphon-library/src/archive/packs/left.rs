//! The sizes and times of packs when they were last written, so that one that has changed since is
//! checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use antiphon_journal::regular;

use super::super::bytes::replace;
use super::super::sizes::size;
use super::{PACKS, Packs};

/// The name of this file in the folder of packs.
const LEFT_FILE: &str = "left";

impl Packs {
    /// The packs that have changed since they were last written.
    pub(crate) fn changed(root: &Path) -> BTreeSet<String> {
        let folder = root.join(PACKS);
        let left = read(&folder);
        let is_other = |name: &String| left.get(name).is_some_and(|it| *it != words(&folder, name));
        let packs = Self::of(root);
        packs.packs.iter().map(|pack| pack.name.clone()).filter(is_other).collect()
    }

    /// Records the current sizes and times.
    pub(crate) fn leave(root: &Path) -> io::Result<()> {
        let folder = root.join(PACKS);
        let packs = Self::of(root);
        let names = packs.packs.iter().map(|pack| pack.name.clone());
        let now: BTreeMap<String, String> =
            names.map(|name| (name.clone(), words(&folder, &name))).collect();
        if now == read(&folder) {
            return Ok(());
        }
        if now.is_empty() {
            return fs::remove_file(folder.join(LEFT_FILE));
        }
        let lines = now.iter().map(|(name, words)| format!("{name} {words}\n"));
        replace(&folder.join(LEFT_FILE), lines.collect::<String>().as_bytes())
    }
}

fn words(folder: &Path, name: &str) -> String {
    let (len, nanos) = size(&folder.join(name));
    format!("{len} {nanos}")
}

fn read(folder: &Path) -> BTreeMap<String, String> {
    let text = regular::read_text(&folder.join(LEFT_FILE)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(name, words)| (name.to_owned(), words.to_owned())).collect()
}
