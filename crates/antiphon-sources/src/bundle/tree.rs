//! Sessions whose files are in folders that all sessions share: each file refers to the next.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use antiphon_formats::Format;

use super::siblings::siblings;
use super::{FolderListing, Member, Siblings, file_name, is_outdated, list, relative, stem};
use crate::file::{self, COMPRESSED_SUFFIX};

/// The root of a session, if it is not the folder of its main file.
pub fn root(main: &Path, format: &Format) -> Option<PathBuf> {
    let main = std::path::absolute(main).ok()?;
    match (format.layout.above)(&relative(&main, Path::new(""))) {
        0 => None,
        above => main.ancestors().nth(above + 1).map(Path::to_owned),
    }
}

/// The main file, with its name within the session.
pub(super) fn main(path: &Path, format: &Format) -> Member {
    let name = match (root(path, format), std::path::absolute(path)) {
        (Some(root), Ok(full)) => plain(&relative(&full, &root)),
        _ => file_name(path),
    };
    Member::file(name, path.to_owned())
}

/// The files that belong to the session.
pub(super) fn companions(
    main: &Path,
    root: &Path,
    format: &Format,
    which: Siblings<'_>,
) -> Vec<Member> {
    let Ok(main) = std::path::absolute(main) else { return Vec::new() };
    let folder = main.parent().unwrap_or(root);
    let named = |path: PathBuf| Member::file(plain(&relative(&path, root)), path);
    let mut found: Vec<Member> = match which {
        Siblings::None => Vec::new(),
        Siblings::Known(paths) => paths.iter().cloned().map(named).collect(),
        Siblings::Listed(near) => {
            let others = siblings(near, &stem(&main), &main, format, which);
            others.into_iter().map(|member| named(absolute(member.path))).collect()
        }
        Siblings::All | Siblings::ChangedSince(_) => {
            let others = siblings(&FolderListing::of(folder), &stem(&main), &main, format, which);
            others.into_iter().map(|member| named(member.path)).collect()
        }
    };
    let mut left: Vec<Member> = vec![named(main.clone())];
    left.extend(found.iter().map(|member| named(member.path.clone())));
    let mut seen = BTreeSet::new();
    while let Some(member) = left.pop() {
        for folder in led_to(&member, root, format) {
            if !seen.insert(folder.clone()) || folder.is_symlink() {
                continue;
            }
            let files = list(&folder).into_iter().filter(|path| is_alike(path, &main));
            let files: Vec<Member> = files.map(named).collect();
            left.extend(files.iter().map(|member| named(member.path.clone())));
            found.extend(files);
        }
    }
    found.sort();
    found
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// The folders that a file refers to.
fn led_to(member: &Member, root: &Path, format: &Format) -> Vec<PathBuf> {
    let mut head = || file::head(&member.path).unwrap_or_default();
    let leads = (format.layout.leads)(&member.name, &mut head);
    let own = stem(&member.path);
    let folder = |lead: antiphon_formats::Lead| {
        let within = root.join(&lead.within);
        // Recorded text is only compared with names, and never becomes a path.
        match lead.named == own {
            true => Some(within.join(&own)),
            false => list(&within).into_iter().find(|path| file_name(path) == lead.named),
        }
    };
    leads.into_iter().filter_map(folder).collect()
}

/// The folders that files refer to by their names, whether they exist yet or not.
pub fn folders(members: &[Member], format: &Format) -> Vec<PathBuf> {
    let main = members.first().map(|main| &main.path);
    let Some(root) = main.and_then(|main| root(main, format)) else { return Vec::new() };
    let leads = members.iter().flat_map(|it| (format.layout.leads)(&it.name, &mut String::new));
    leads.map(|lead| root.join(lead.within).join(lead.named)).collect()
}

/// Whether a file has the extension of the main file, and is not an outdated compressed copy.
fn is_alike(path: &Path, main: &Path) -> bool {
    let ending = |path: &Path| Path::new(&file_name(path)).extension().map(ToOwned::to_owned);
    ending(path) == ending(main) && path.is_file() && !is_outdated(path)
}

/// The name of a file without compression suffix.
fn plain(name: &str) -> String {
    name.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(name).to_owned()
}

#[cfg(test)]
pub(crate) mod tests;
