//! Signals: the first stops the answer that is being given; the session is over with the second,
//! or at once where nobody sits at a terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use antiphon_agents::StopSignal;
use tokio::sync::Notify;

/// What a shell calls the end by a signal: this and the signal's number.
const ENDED_BY_SIGNAL: u8 = 128;
const INTERRUPT: u8 = 2;
const TERMINATE: u8 = 15;

/// What signals have come.
#[derive(Debug, Clone, Default)]
pub(super) struct Signals(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The exit code, once the session is to end.
    exit: AtomicU8,
    /// Ctrl-C stops the answer that is being given, and not the session: at a terminal, once.
    is_patient: AtomicBool,
    was_patient: AtomicBool,
    notify: Notify,
}

impl Signals {
    fn new(is_patient: bool) -> Self {
        let signals = Self::default();
        signals.0.is_patient.store(is_patient, Ordering::SeqCst);
        signals.0.was_patient.store(is_patient, Ordering::SeqCst);
        signals
    }

    /// Begins another answer, which may be stopped alone.
    pub(super) fn renew(&self) {
        self.0.is_patient.store(self.0.was_patient.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Listens. `is_patient`: the first Ctrl-C in an answer stops only that answer.
    #[cfg(unix)]
    pub(super) fn listen(stop: StopSignal, is_patient: bool) -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        let signals = Self::new(is_patient);
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let told = signals.clone();
        tokio::spawn(async move {
            loop {
                let number = tokio::select! {
                    _ = interrupt.recv() => INTERRUPT,
                    _ = terminate.recv() => TERMINATE,
                };
                let is_patient = told.0.is_patient.swap(false, Ordering::SeqCst);
                if number == TERMINATE || !is_patient {
                    told.end(ENDED_BY_SIGNAL + number);
                }
                stop.stop();
            }
        });
        Ok(signals)
    }

    #[cfg(not(unix))]
    pub(super) fn listen(stop: StopSignal, is_patient: bool) -> std::io::Result<Self> {
        let signals = Self::new(is_patient);
        let told = signals.clone();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if !told.0.is_patient.swap(false, Ordering::SeqCst) {
                    told.end(ENDED_BY_SIGNAL + INTERRUPT);
                }
                stop.stop();
            }
        });
        Ok(signals)
    }

    pub(super) fn end(&self, exit: u8) {
        self.0.exit.store(exit, Ordering::SeqCst);
        self.0.notify.notify_waiters();
    }

    /// The exit code of a session that a signal ends.
    pub(super) fn exit(&self) -> Option<u8> {
        Some(self.0.exit.load(Ordering::SeqCst)).filter(|&exit| exit != 0)
    }

    /// Returns when the session is to end.
    pub(super) async fn ended(&self) {
        loop {
            let notified = self.0.notify.notified();
            if self.exit().is_some() {
                return;
            }
            notified.await;
        }
    }
}
