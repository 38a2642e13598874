//! The texts of stored sessions, for the catalogue, and the damage found while reading them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, OnceLock, PoisonError};

use antiphon_catalog::{Block, Key, Origin, Text, Texts};
use antiphon_sources::{Bundle, Opened, Wanted, open_foreign};

use crate::archive::{Copies, Depth, Folder, damages, pack};
use crate::damaged::{LeftOut, damage_of, with_causes};
use crate::opened::open_files;
use crate::{Store, StoredSession};

/// The texts of some sessions of a store.
#[derive(Debug)]
pub(crate) struct KeptTexts<'a> {
    store: &'a Store,
    all: &'a [StoredSession],
    /// By key, built on first use.
    sessions: OnceLock<HashMap<&'a Key, &'a StoredSession>>,
    /// The sessions that turned out to be damaged.
    damaged: Mutex<BTreeMap<Key, LeftOut>>,
}

impl<'a> KeptTexts<'a> {
    pub(crate) fn new(store: &'a Store, sessions: &'a [StoredSession]) -> Self {
        Self { store, all: sessions, sessions: OnceLock::new(), damaged: Mutex::default() }
    }

    /// A session, by its key.
    pub(crate) fn get(&self, key: &Key) -> Option<&'a StoredSession> {
        let by_key = || self.all.iter().map(|session| (&session.key, session)).collect();
        self.sessions.get_or_init(by_key).get(key).copied()
    }

    /// Checks the uncompressed copies of some sessions, which have no checksums of their own.
    pub(crate) fn check(&self, ids: &BTreeSet<&str>) {
        let stored = self.all.iter().filter(|it| ids.contains(&*it.session_id));
        for session in stored.filter(|it| it.origin == Origin::Archived) {
            if let Some(damage) = damages(&session.folder, Depth::Unpacked).first() {
                self.note(session, format!("`{}`: {}", damage.path.display(), damage.what));
            }
        }
    }

    /// The sessions that turned out to be damaged.
    pub(crate) fn damaged(self) -> impl Iterator<Item = LeftOut> {
        self.damaged.into_inner().unwrap_or_else(PoisonError::into_inner).into_values()
    }

    fn note_damage(&self, session: &StoredSession, opened: &Opened) {
        if let Some(problem) = damage_of(&opened.session, session.origin) {
            self.note(session, problem.message.clone());
        }
    }

    /// Records that a session could not be read as it was written.
    fn note(&self, session: &StoredSession, what: String) {
        let left_out = LeftOut { session: session.session_id.clone(), what };
        // Another process may have moved it while it was read, so only lasting damage is marked.
        let is_lasting = match session.origin {
            Origin::Archived => !damages(&session.folder, Depth::All).is_empty(),
            Origin::Recorded => true,
        };
        if is_lasting {
            self.store.mark_damaged(&session.key, &left_out);
        }
        let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        damaged.insert(session.key.clone(), left_out);
    }
}

impl Texts for KeptTexts<'_> {
    fn session(&self, key: &Key) -> Option<Text> {
        let session = self.get(key)?;
        match open_files(&session.path()) {
            Ok(opened) => {
                self.note_damage(session, &opened);
                Some(text(opened))
            }
            Err(error) => {
                self.note(session, format!("cannot be read: {}", with_causes(&error)));
                None
            }
        }
    }

    fn blocks(&self, key: &Key, file: &str, numbers: &[u32]) -> Option<Vec<Block>> {
        let session = self.get(key)?;
        match session.origin {
            Origin::Recorded => pack::blocks(&Folder::new(&session.folder), file, numbers).ok(),
            Origin::Archived => {
                let copies = Copies::at(&session.folder);
                let name = format!("{}/{file}", copies.newest()?);
                pack::blocks(copies.bytes(), &name, numbers).ok()
            }
        }
    }

    fn stands_alone(&self, key: &Key) -> bool {
        self.get(key).is_some_and(|session| {
            let format = antiphon_formats::find(session.format);
            session.origin == Origin::Archived && format.is_some_and(|format| format.stands_alone)
        })
    }

    fn line(&self, key: &Key, file: &str, line: Vec<u8>) -> Option<Text> {
        let format = self.get(key)?.format;
        let bundle = Bundle::of(format, vec![(file.to_owned(), line)], &mut |_, _| {})?;
        Some(text(open_foreign(bundle, Wanted::Everything)))
    }
}

fn text(opened: Opened) -> Text {
    Text { session: opened.session, bodies: opened.bodies }
}
