//! Records of sessions on their way to the one thread that writes them.
//!
//! Small ones go together: to wake somebody for each takes longer than to write it down. What waits
//! is bounded by its events, and a session more.

use std::mem;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use antiphon_catalog::Change;

use crate::catalogue::Read;

/// So many parcels may wait to be written.
const WAITING: usize = 4;
/// So many events go together; a session without events counts as one.
const PARCEL_EVENTS: usize = 2000;

/// Where records are left.
#[derive(Debug)]
pub(crate) struct Outbox {
    sender: SyncSender<Vec<Read>>,
    parcel: Mutex<(usize, Vec<Read>)>,
}

impl Outbox {
    /// One, and where what is left in it arrives.
    pub(crate) fn new() -> (Self, Receiver<Vec<Read>>) {
        let (sender, receiver) = sync_channel(WAITING);
        (Self { sender, parcel: Mutex::default() }, receiver)
    }

    /// Leaves a record; breaks off where nobody takes them any more.
    pub(crate) fn put(&self, read: Read) -> ControlFlow<()> {
        let events = match &read {
            Ok(Change::Replace(record)) => record.events.len().max(1),
            Ok(Change::Remove(_)) | Err(_) => 1,
        };
        let mut parcel = self.parcel.lock().unwrap_or_else(PoisonError::into_inner);
        parcel.0 += events;
        parcel.1.push(read);
        if parcel.0 < PARCEL_EVENTS {
            return ControlFlow::Continue(());
        }
        let (_, full) = mem::take(&mut *parcel);
        drop(parcel);
        match self.sender.send(full) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        let parcel = self.parcel.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Nobody takes it who has failed to write the ones before.
        let _ = self.sender.send(mem::take(&mut parcel.1));
    }
}

#[cfg(test)]
mod tests {
    use antiphon_catalog::Key;

    use super::*;

    #[test]
    fn everything_arrives_in_few_parcels_and_the_last_when_nothing_more_comes() {
        let count = 3 * PARCEL_EVENTS + 7;
        let (outbox, parcels) = Outbox::new();
        let arrived = std::thread::scope(|scope| {
            scope.spawn(move || {
                for nth in 0..count {
                    let put = outbox.put(Ok(Change::Remove(Key::of("test", &nth.to_string()))));
                    assert!(put.is_continue());
                }
            });
            parcels.iter().map(|parcel| parcel.len()).collect::<Vec<_>>()
        });
        assert_eq!(arrived, [PARCEL_EVENTS, PARCEL_EVENTS, PARCEL_EVENTS, 7]);
        let (outbox, parcels) = Outbox::new();
        drop(parcels);
        let mut puts = (0..=PARCEL_EVENTS).map(|_| outbox.put(Ok(Change::Remove(Key::unique()))));
        assert!(puts.any(|put| put.is_break()), "nobody is there");
    }
}
