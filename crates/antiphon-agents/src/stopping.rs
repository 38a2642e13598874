//! Stopping an answer from outside: what Ctrl-C does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Asks a session to stop its turn. It may be kept by a handler of signals.
#[derive(Debug, Clone, Default)]
pub struct StopSignal(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_wanted: AtomicBool,
    notify: Notify,
}

impl StopSignal {
    pub fn stop(&self) {
        self.0.is_wanted.store(true, Ordering::SeqCst);
        self.0.notify.notify_waiters();
    }

    pub(crate) fn clear(&self) {
        self.0.is_wanted.store(false, Ordering::SeqCst);
    }

    /// Returns when somebody wants the turn to stop.
    pub(crate) async fn stopped(&self) {
        loop {
            // Made before looking, so that nobody is missed who calls in between.
            let notified = self.0.notify.notified();
            if self.0.is_wanted.load(Ordering::SeqCst) {
                return;
            }
            notified.await;
        }
    }
}
