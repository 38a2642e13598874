//! Generations of copies: folders by number.

use std::path::{Path, PathBuf};

use antiphon_sources::list;

/// A source that its agent has packed has that in its name.
pub(super) fn plain(file: &Path) -> PathBuf {
    match file.extension().is_some_and(|it| it == "zst") {
        true => file.with_extension(""),
        false => file.to_owned(),
    }
}

pub(super) fn generation(folder: &Path, number: u32) -> PathBuf {
    folder.join(generation_name(number))
}

pub(super) fn generation_name(number: u32) -> String {
    format!("{number:06}")
}

pub(super) fn generations(folder: &Path) -> Vec<u32> {
    let number =
        |path: &PathBuf| path.file_name()?.to_str().filter(|name| name.len() == 6)?.parse().ok();
    list(folder).iter().filter_map(number).collect()
}
