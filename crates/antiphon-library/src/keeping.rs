//! Keeping what is new on this machine, and taking it into the catalogue at once.

use antiphon_catalog::Change;

use crate::indexed::record_of;
use crate::outbox::Outbox;
use crate::stored::Place;
use crate::sync::{Round, Sink};
use crate::{Catalogue, Environment, Store, Synced};

impl Store {
    /// Copies what is new of every session, on as many threads as there are processors, and takes
    /// it into the catalogue. `each` is told after each session how many are done, of how many.
    pub fn sync(
        &self,
        environment: &Environment,
        agent: Option<&str>,
        each: &(dyn Fn(usize, usize) + Sync),
    ) -> Synced {
        let round = Round::begin(self, environment, agent);
        let catalogue = self.catalogue_as_is(each).ok();
        indexed_by(catalogue, |sink| round.keep(sink, each))
    }
}

/// Keeps sessions, and takes those that are at hand into the catalogue meanwhile. If that fails,
/// whoever asks next does it.
pub(crate) fn indexed_by<T: Send>(
    mut catalogue: Option<Catalogue<'_>>,
    keep: impl FnOnce(&dyn Sink) -> T + Send,
) -> T {
    let (outbox, records) = Outbox::new();
    let kept = std::thread::scope(|scope| {
        let indexing = Indexing(outbox);
        let keeping = scope.spawn(move || keep(&indexing));
        match &mut catalogue {
            Some(catalogue) => drop(catalogue.write_all(records)),
            None => drop(records),
        }
        keeping.join()
    });
    kept.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Makes records of sessions that were copied, for whoever writes them.
struct Indexing(Outbox);

impl Sink for Indexing {
    fn kept(&self, place: &Place, name: &str, files: Vec<(String, Vec<u8>)>) {
        let record = record_of(place, name, files);
        if let Some(record) = record {
            // What nobody writes down now is written by whoever asks next.
            let _ = self.0.put(Ok(Change::Replace(Box::new(record))));
        }
    }
}
