//! Keeping the catalogue in step with what is kept.
//!
//! There is nobody who watches: whoever asks first compares what the catalogue knows with what is
//! there, and reads what has changed. A catalogue that turns out to be damaged is set aside and
//! made again; one that cannot be written, be the disk full or not ours, is made in memory, for
//! this once. Nobody who asks waits for another process that writes: then the answer is what the
//! catalogue has, and the store says how far it is behind ([`Store::behind`]). A session that
//! cannot be read is named by every answer ([`Catalogue::left_out`]).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use antiphon_catalog::{Catalog, CatalogError, Change, Key, Sqlite, Stamp};
use antiphon_model::on_every_processor;
use serde::Serialize;

use crate::archive::{Packs, Patience};
use crate::damaged::{LeftOut, with_causes};
use crate::outbox::Outbox;
use crate::stored::{CATALOG_FILE, Place, Places, by_key, sessions_of};
use crate::{Store, StoredSession, indexed};

/// So many events are written at once, and a session more.
const EVENTS_AT_ONCE: usize = 40_000;

/// How long somebody who asks waits for another process to write a little.
const PATIENCE: Duration = Duration::from_millis(100);

/// Is told how many sessions are done, of how many.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// The catalogue of a store.
pub struct Catalogue<'p> {
    store: Store,
    catalog: Box<dyn Catalog>,
    is_in_memory: bool,
    progress: Progress<'p>,
    /// Where sessions were when it was last brought into step, if it has all of them.
    places: Option<Places>,
    /// The sessions that could not be read.
    failed: BTreeMap<Key, LeftOut>,
}

impl std::fmt::Debug for Catalogue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Catalogue({})", self.store.root().display())
    }
}

/// The result of bringing the catalogue up to date.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refreshed {
    /// The number of sessions that were read.
    pub read: usize,
    /// The number of sessions that could not be read.
    pub failed: usize,
    /// The sessions that could not be read or are damaged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The number of sessions that are no longer there.
    #[serde(skip)]
    pub removed: usize,
}

/// What is to be written of a session, or why it could not be read.
pub(crate) type Read = Result<Change, (Key, LeftOut)>;

impl Store {
    /// The catalogue of what is kept, as it is now; while another process writes it, as it was.
    pub fn catalogue<'p>(&self, progress: Progress<'p>) -> Result<Catalogue<'p>, CatalogError> {
        let mut catalogue = self.open_catalogue(progress, Patience::None)?;
        match catalogue.bring_into_step(Catalogue::refresh) {
            Err(CatalogError::Busy) => self.note_behind(catalogue.behind()?),
            refreshed => {
                refreshed?;
                self.note_behind(0);
            }
        }
        Ok(catalogue)
    }

    /// The same, and waits for another process that writes it.
    pub fn catalogue_in_step<'p>(
        &self,
        progress: Progress<'p>,
    ) -> Result<Catalogue<'p>, CatalogError> {
        let mut catalogue = self.catalogue_as_is(progress)?;
        catalogue.bring_into_step(Catalogue::refresh)?;
        Ok(catalogue)
    }

    /// Makes the catalogue again from what is kept.
    pub fn reindex(&self, progress: Progress<'_>) -> Result<Refreshed, CatalogError> {
        let mut catalogue = self.catalogue_as_is(progress)?;
        let refreshed = catalogue.bring_into_step(Catalogue::start_over)?;
        Ok(Refreshed { left_out: catalogue.left_out(), ..refreshed })
    }

    pub(crate) fn catalogue_as_is<'p>(
        &self,
        progress: Progress<'p>,
    ) -> Result<Catalogue<'p>, CatalogError> {
        self.open_catalogue(progress, Patience::Waits)
    }

    pub(crate) fn open_catalogue<'p>(
        &self,
        progress: Progress<'p>,
        patience: Patience,
    ) -> Result<Catalogue<'p>, CatalogError> {
        let file = self.catalog_file();
        let open = || match patience {
            Patience::Waits => Sqlite::open(&file),
            Patience::None => Sqlite::open_within(&file, PATIENCE),
        };
        let opened = match open() {
            Err(CatalogError::Damaged(_)) => {
                self.set_aside();
                open()
            }
            other => other,
        };
        let is_in_memory = opened.is_err();
        let catalog = Box::new(opened.or_else(|_| Sqlite::in_memory())?);
        let (store, places, failed) = (self.clone(), None, BTreeMap::new());
        Ok(Catalogue { store, catalog, is_in_memory, progress, places, failed })
    }

    /// Takes what is not kept any more out of the catalogue, and out of one that was set aside.
    pub(crate) fn drop_from_catalogue(&self) {
        for file in Sqlite::files(&self.aside()) {
            let _ = fs::remove_file(file);
        }
        // One that cannot be written now is brought into step by whoever asks next.
        if self.catalog_file().is_file() {
            let _ = self.catalogue_in_step(&|_, _| {});
        }
    }

    pub(crate) fn aside(&self) -> PathBuf {
        self.root().join(format!("{CATALOG_FILE}.damaged"))
    }

    /// Moves a damaged catalogue out of the way: somebody may want to look at it.
    fn set_aside(&self) {
        let file = self.catalog_file();
        for (from, to) in Sqlite::files(&file).iter().zip(Sqlite::files(&self.aside())) {
            let _ = fs::rename(from, to);
        }
    }
}

impl Catalogue<'_> {
    /// Asks the catalogue. If it turns out to be damaged, it is made again and asked once more.
    pub fn ask<T>(
        &mut self,
        question: impl Fn(&dyn Catalog) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        match question(&*self.catalog) {
            Err(CatalogError::Damaged(_)) => {
                self.bring_into_step(Self::remake)?;
                question(&*self.catalog)
            }
            Err(CatalogError::Unusable(_) | CatalogError::Write { .. }) if !self.is_in_memory => {
                self.go_into_memory()?;
                question(&*self.catalog)
            }
            other => other,
        }
    }

    /// The sessions that no answer holds, or that are damaged, so that an answer may lack a part.
    pub fn left_out(&self) -> Vec<LeftOut> {
        let mut all = self.store.damaged();
        all.extend(self.failed.clone());
        let packs = Packs::of(self.store.root()).damages(false).into_iter();
        let packs = packs.map(|(path, what)| LeftOut { session: path.display().to_string(), what });
        all.into_values().chain(packs).collect()
    }

    /// Refreshes it, or makes it again; if it is damaged or cannot be written, in another way.
    fn bring_into_step(
        &mut self,
        how: impl Fn(&mut Self) -> Result<Refreshed, CatalogError>,
    ) -> Result<Refreshed, CatalogError> {
        let done = match how(self) {
            Err(CatalogError::Damaged(_)) => self.remake(),
            done => done,
        };
        match done {
            Err(CatalogError::Busy) => Err(CatalogError::Busy),
            Err(_) if !self.is_in_memory => self.go_into_memory(),
            done => done,
        }
    }

    /// Makes all of it again in memory: where it was, nothing can be written.
    fn go_into_memory(&mut self) -> Result<Refreshed, CatalogError> {
        self.catalog = Box::new(Sqlite::in_memory()?);
        self.is_in_memory = true;
        self.refresh()
    }

    /// How many sessions are not in it as they are now.
    fn behind(&self) -> Result<usize, CatalogError> {
        let known: HashMap<Key, Stamp> = self.catalog.stamps()?.into_iter().collect();
        let places = self.store.places();
        Ok(places.iter().filter(|place| known.get(&place.key) != Some(&place.stamp)).count())
    }

    /// Every session, the one that changed last first.
    pub fn sessions(&mut self) -> Result<Vec<StoredSession>, CatalogError> {
        let rows = self.ask(|catalog| catalog.rows())?;
        let places = self.places.take().unwrap_or_else(|| self.store.look());
        Ok(sessions_of(places.all(), by_key(rows)))
    }

    /// Whether it has all sessions, and none of them was recorded.
    pub(crate) fn has_copies_only(&self) -> bool {
        self.places.as_ref().is_some_and(|places| !places.has_recordings())
    }

    /// Where all sessions are that it has, if those are all that are kept.
    pub(crate) fn take_places(&mut self) -> Option<Places> {
        self.places.take()
    }

    /// Sets the catalogue aside, because it is damaged, and makes it again.
    fn remake(&mut self) -> Result<Refreshed, CatalogError> {
        self.make_again(Store::set_aside)
    }

    /// Removes the catalogue and makes it again.
    fn start_over(&mut self) -> Result<Refreshed, CatalogError> {
        self.make_again(|store| {
            for file in Sqlite::files(&store.catalog_file()) {
                let _ = fs::remove_file(file);
            }
        })
    }

    fn make_again(&mut self, clear: impl Fn(&Store)) -> Result<Refreshed, CatalogError> {
        // What is open stays open until something else is: its files must not be.
        self.catalog = Box::new(Sqlite::in_memory()?);
        if !self.is_in_memory {
            clear(&self.store);
            *self = self.store.catalogue_as_is(self.progress)?;
        }
        self.refresh()
    }

    /// Reads what is new or has changed, and drops what is gone.
    pub(crate) fn refresh(&mut self) -> Result<Refreshed, CatalogError> {
        self.places = None;
        self.failed.clear();
        let looked = self.store.look();
        let mark = looked.mark();
        if self.catalog.mark()? == Some(mark) {
            self.places = Some(looked);
            return Ok(Refreshed::default());
        }
        let known: HashMap<Key, Stamp> = self.catalog.stamps()?.into_iter().collect();
        let places = looked.all();
        let is_known = |place: &&Place| known.get(&place.key) == Some(&place.stamp);
        if places.len() == known.len() && places.iter().all(|place| is_known(&place)) {
            // Whoever wrote last may have been interrupted. If nobody can write, nobody has to.
            if let Err(damaged @ CatalogError::Damaged(_)) = self.catalog.finish() {
                return Err(damaged);
            }
            self.set_mark(mark, looked);
            return Ok(Refreshed::default());
        }
        let stale: Vec<Place> = places.iter().filter(|it| !is_known(it)).cloned().collect();
        let mut known = known;
        for place in &places {
            known.remove(&place.key);
        }
        let gone: BTreeSet<Key> = known.into_keys().collect();
        let gone: Vec<Change> = gone.into_iter().map(Change::Remove).collect();
        let removed = gone.len();
        self.catalog.write(&gone)?;
        if stale.is_empty() {
            if removed > 0 {
                self.catalog.finish()?;
            }
            self.set_mark(mark, looked);
            return Ok(Refreshed { removed, ..Refreshed::default() });
        }
        let (progress, store) = (self.progress, self.store.clone());
        let (outbox, records) = Outbox::new();
        let done = AtomicUsize::new(0);
        let read = move || {
            on_every_processor(&stale, |_, place| {
                let change = change(&store, place);
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, stale.len());
                outbox.put(change)
            });
        };
        let written = std::thread::scope(|scope| {
            scope.spawn(read);
            self.write_all(records)
        });
        let written = written?;
        if written.failed == 0 {
            self.set_mark(mark, looked);
        }
        Ok(Refreshed { removed, ..written })
    }

    /// Notes that it has all sessions, as they were at these places. If that cannot be written,
    /// whoever asks next compares them.
    fn set_mark(&mut self, mark: u64, places: Places) {
        let _ = self.catalog.set_mark(mark);
        self.places = Some(places);
    }

    // It takes the receiver along: whoever still reads stops when nothing is written any more.
    #[expect(clippy::needless_pass_by_value, reason = "see above")]
    pub(crate) fn write_all(
        &mut self,
        records: Receiver<Vec<Read>>,
    ) -> Result<Refreshed, CatalogError> {
        let mut refreshed = Refreshed::default();
        let mut changes = Vec::new();
        let mut events = 0;
        for change in records.iter().flatten() {
            let change = match change {
                Ok(change) => change,
                Err((key, left_out)) => {
                    refreshed.failed += 1;
                    self.failed.insert(key, left_out);
                    continue;
                }
            };
            if let Change::Replace(record) = &change {
                events += record.events.len();
            }
            changes.push(change);
            if events >= EVENTS_AT_ONCE {
                self.catalog.write(&changes)?;
                refreshed.read += changes.len();
                (events, changes) = (0, Vec::new());
            }
        }
        self.catalog.write(&changes)?;
        refreshed.read += changes.len();
        self.catalog.finish()?;
        Ok(refreshed)
    }
}

/// Reads a session. One that is damaged is marked, or is not any more.
fn change(store: &Store, place: &Place) -> Read {
    let (record, damage) = match indexed::record(place) {
        Ok(read) => read,
        Err(error) => {
            let session = place.key.to_string();
            let what = format!("cannot be read: {}", with_causes(&error));
            return Err((place.key.clone(), LeftOut { session, what }));
        }
    };
    match damage {
        Some(what) => {
            let session = record.row.session_id.clone();
            store.mark_damaged(&place.key, &LeftOut { session, what });
        }
        None if store.is_marked(&place.key) => store.unmark(&place.key),
        None => {}
    }
    Ok(Change::Replace(Box::new(record)))
}
