//! Finding sessions that are stored as part of the session that created them, such as threads with
//! ids of their own.

use std::path::PathBuf;

use antiphon_formats::FORMATS;
use antiphon_sources::COMPRESSED_SUFFIX;

use super::digest::id_of_file;
use super::find::PREFIX_MIN;
use super::{Origin, Store};
use crate::archive::Copies;

impl Store {
    /// The main files of sessions within others whose id is this word or begins with it. Files are
    /// named after their ids, so only files with the word in their names are read.
    pub fn find_parts(&self, word: &str) -> Vec<PathBuf> {
        if word.len() < PREFIX_MIN {
            return Vec::new();
        }
        let mut found = Vec::new();
        for place in self.places().into_iter().filter(|place| place.origin == Origin::Archived) {
            let format = FORMATS.iter().find(|it| Some(it.name) == place.agent.as_deref());
            let kept = format
                .filter(|it| it.layout.made_by.is_some())
                .and_then(|it| it.layout.kept.as_ref());
            let Some(kept) = kept else { continue };
            let copies = Copies::at(&place.folder);
            // A session that contains others is never packed.
            let Some(newest) = copies.newest().filter(|_| copies.packed().is_none()) else {
                continue;
            };
            let main = copies.main();
            for stored in copies.bytes().list(&newest) {
                let own = stored.split_once('/').map_or(&*stored, |(_, own)| own);
                let name = (kept.session)(own.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(own));
                let is_likely = name.is_some_and(|name| name.contains(word));
                let path = copies.folder().join(&stored);
                if is_likely
                    && main.as_ref() != Some(&stored)
                    && id_of_file(&path).is_some_and(|id| id.starts_with(word))
                {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }
}
