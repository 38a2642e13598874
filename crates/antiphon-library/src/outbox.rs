//! Passing records of sessions to the thread that writes them.
//!
//! Small ones are sent in batches, because waking the other thread for each takes longer than
//! writing it. The number of waiting events is bounded, apart from a single long session.

use std::mem;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use antiphon_catalog::Change;

use crate::catalogue::Read;

/// How many batches may wait to be written.
const WAITING: usize = 4;
/// How many events make a batch; a session without events counts as one.
const BATCH_EVENTS: usize = 2000;

/// Collects records into batches and sends them.
#[derive(Debug)]
pub(crate) struct Outbox {
    sender: SyncSender<Vec<Read>>,
    batch: Mutex<(usize, Vec<Read>)>,
}

impl Outbox {
    /// An outbox, and the receiver of its batches.
    pub(crate) fn new() -> (Self, Receiver<Vec<Read>>) {
        let (sender, receiver) = sync_channel(WAITING);
        (Self { sender, batch: Mutex::default() }, receiver)
    }

    /// Adds a record; breaks if the receiver is gone.
    pub(crate) fn put(&self, read: Read) -> ControlFlow<()> {
        let events = match &read {
            Ok(Change::Replace(record)) => record.events.len().max(1),
            Ok(Change::Remove(_)) | Err(_) => 1,
        };
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        batch.0 += events;
        batch.1.push(read);
        if batch.0 < BATCH_EVENTS {
            return ControlFlow::Continue(());
        }
        let (_, full) = mem::take(&mut *batch);
        drop(batch);
        match self.sender.send(full) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        let batch = self.batch.get_mut().unwrap_or_else(PoisonError::into_inner);
        // The receiver is gone if writing has failed.
        let _ = self.sender.send(mem::take(&mut batch.1));
    }
}

#[cfg(test)]
mod tests {
    use antiphon_catalog::Key;

    use super::*;

    #[test]
    fn everything_arrives_in_few_parcels_and_the_last_when_nothing_more_comes() {
        let count = 3 * BATCH_EVENTS + 7;
        let (outbox, batches) = Outbox::new();
        let arrived = std::thread::scope(|scope| {
            scope.spawn(move || {
                for nth in 0..count {
                    let put = outbox.put(Ok(Change::Remove(Key::of("test", &nth.to_string()))));
                    assert!(put.is_continue());
                }
            });
            batches.iter().map(|batch| batch.len()).collect::<Vec<_>>()
        });
        assert_eq!(arrived, [BATCH_EVENTS, BATCH_EVENTS, BATCH_EVENTS, 7]);
        let (outbox, batches) = Outbox::new();
        drop(batches);
        let mut puts = (0..=BATCH_EVENTS).map(|_| outbox.put(Ok(Change::Remove(Key::unique()))));
        assert!(puts.any(|put| put.is_break()), "nobody is there");
    }
}
