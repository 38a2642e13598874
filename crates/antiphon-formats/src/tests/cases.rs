//! The fixtures of every reader, also for the tests of other crates.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of every case, in order, with all files in it.
pub(crate) fn cases() -> Vec<(PathBuf, Vec<PathBuf>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../antiphon-formats/fixtures");
    let cases = list(&root).into_iter().flat_map(|format| list(&format));
    cases.map(|case| (case.clone(), files_below(case))).collect()
}

fn files_below(folder: PathBuf) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        let (below, here): (Vec<_>, Vec<_>) =
            list(&folder).into_iter().partition(|path| path.is_dir());
        folders.extend(below);
        files.extend(here);
    }
    files
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
