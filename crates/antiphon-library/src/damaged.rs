//! Sessions that are known to be damaged.
//!
//! When a session is found to be damaged, a mark is written to `damaged/<key>`, so that every later
//! answer can say so, whether it reads the session or not. `sync` checks a marked session again,
//! and removes the mark when the session is correct.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use antiphon_catalog::{Key, Origin};
use antiphon_journal::{DamageKind, Log, regular, verify};
use antiphon_model::{Problem, Session, Severity};
use antiphon_sources::list;
use serde::Serialize;

use crate::Store;
use crate::annotations;
use crate::archive::{self, Damage, Depth, Packs, replace};
use crate::store::make_folders;

pub(crate) const DAMAGED: &str = "damaged";

/// A session that is missing from an answer, wholly or in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The id of the session, or else its key in the store.
    pub session: String,
    /// What is wrong with it.
    pub what: String,
}

impl Store {
    /// The sessions that are marked as damaged, with what is wrong with each.
    pub(crate) fn damaged(&self) -> BTreeMap<Key, LeftOut> {
        let marks = list(&self.root().join(DAMAGED));
        let read = |path: PathBuf| {
            let key = Key::parse(path.file_name()?.to_str()?)?;
            let text = regular::read_text(&path).ok()?;
            let (session, what) = text.split_once('\n')?;
            let session = if session.is_empty() { key.as_str() } else { session };
            let left_out = LeftOut { session: session.to_owned(), what: what.trim().to_owned() };
            Some((key, left_out))
        };
        marks.into_iter().filter_map(read).collect()
    }

    pub(crate) fn is_marked(&self, key: &Key) -> bool {
        self.root().join(DAMAGED).join(key.as_str()).exists()
    }

    /// Marks a session as damaged. If the mark cannot be written, the damage is reported only this
    /// once.
    pub(crate) fn mark_damaged(&self, key: &Key, left_out: &LeftOut) {
        let marks = self.root().join(DAMAGED);
        let text = format!("{}\n{}\n", left_out.session.replace('\n', " "), left_out.what);
        let path = marks.join(key.as_str());
        if regular::read(&path).is_ok_and(|known| known == text.as_bytes()) {
            return;
        }
        let _ = make_folders(&marks).and_then(|()| replace(&path, text.as_bytes()));
    }

    pub(crate) fn unmark(&self, key: &Key) {
        let _ = fs::remove_file(self.root().join(DAMAGED).join(key.as_str()));
    }

    /// Rewrites the damaged records of an agent's sessions whose copies are intact.
    pub(crate) fn restore_records(&self, agent: Option<&str>) {
        let marked = self.damaged();
        if marked.is_empty() {
            return;
        }
        let places = self.places().into_iter().filter(|it| it.origin == Origin::Archived);
        let places = places.filter(|it| agent.is_none() || it.agent.as_deref() == agent);
        for place in places.filter(|it| marked.contains_key(&it.key)) {
            if archive::restore_record(&place.folder).unwrap_or_default() {
                self.unmark(&place.key);
            }
        }
    }

    /// Rewrites damaged packs.
    pub(crate) fn repair_packs(&self) -> io::Result<()> {
        let marks = list(&self.root().join(DAMAGED));
        let marks: Vec<PathBuf> =
            marks.into_iter().filter(|it| Key::of_folder(it).is_none()).collect();
        let names = marks.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let names = names.chain(Packs::changed(self.root())).collect();
        Packs::repair(self.root(), &names, self)?;
        marks.iter().try_for_each(fs::remove_file)
    }

    /// Marks a pack as damaged, so that the next `sync` writes it again.
    fn mark_pack(&self, path: &Path, what: &str) {
        let marks = self.root().join(DAMAGED);
        let mark = path.file_name().map(|name| marks.join(name)).unwrap_or_default();
        let _ = make_folders(&marks).and_then(|()| replace(&mark, what.as_bytes()));
    }

    /// Checks every byte of every stored session against its hash, and marks what is damaged. After
    /// each session `each` is called with the number of sessions done and the total.
    pub fn check(&self, each: &dyn Fn(usize, usize)) -> Vec<Damage> {
        let places = self.places();
        let names = self.known_rows();
        let mut all = Vec::new();
        for (at, place) in places.iter().enumerate() {
            let mut found = match place.origin {
                Origin::Archived => {
                    let mut found = archive::damages(&place.folder, Depth::All);
                    let notes = place.folder.join(annotations::FILE);
                    found
                        .extend(notes.is_file().then(|| log_damages(&notes)).into_iter().flatten());
                    found
                }
                Origin::Recorded => log_damages(&place.folder),
            };
            match found.first() {
                None => self.unmark(&place.key),
                Some(first) => {
                    let session = names.get(&place.key).map(|row| row.session_id.clone());
                    let session = session.unwrap_or_else(|| place.key.to_string());
                    let what = format!("`{}`: {}", first.path.display(), first.what);
                    self.mark_damaged(&place.key, &LeftOut { session, what });
                }
            }
            all.append(&mut found);
            each(at + 1, places.len());
        }
        for (path, what) in Packs::of(self.root()).damages(true) {
            self.mark_pack(&path, &what);
            all.push(Damage { path, what });
        }
        all
    }
}

/// The problem that says that the stored session is not what was written, if there is one.
pub(crate) fn damage_of(session: &Session, origin: Origin) -> Option<&Problem> {
    let mut problems = session.problems().iter();
    match origin {
        Origin::Archived => problems.find(|it| archive::is_damage(it.code)),
        // Antiphon wrote the log, so any error in it is damage. An unfinished line is what a crash
        // leaves.
        Origin::Recorded => {
            let torn = DamageKind::TornTail.code();
            problems.find(|it| it.severity == Severity::Error && it.code != torn)
        }
    }
}

/// The damage in a log.
fn log_damages(path: &Path) -> Vec<Damage> {
    let damage = |what: String| Damage { path: path.to_owned(), what };
    let log = match Log::find(path) {
        Ok(log) => log,
        Err(error) => return vec![damage(error.to_string())],
    };
    let segments: Vec<PathBuf> = log.segments().collect();
    match verify(&log, None) {
        Err(error) => vec![damage(error.to_string())],
        Ok(report) => {
            // An unfinished line is what a crash leaves, and not damage.
            let errors = report.findings.iter().filter(|it| {
                it.kind.severity() == Severity::Error && it.kind != DamageKind::TornTail
            });
            let told = errors.map(|it| {
                let segment = usize::try_from(it.stream).ok().and_then(|at| segments.get(at));
                let path = segment.map_or(path, |it| it).to_owned();
                Damage { path, what: format!("line {}: {}", it.line, it.message()) }
            });
            told.collect()
        }
    }
}

/// An error with its causes.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let own = error.to_string();
        // The message of some errors includes their cause.
        if !text.ends_with(&own) {
            text.push_str(": ");
            text.push_str(&own);
        }
        cause = error.source();
    }
    text
}
