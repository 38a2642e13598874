//! Signals: the first stops the answer that is being given; the session is over with the second,
//! or at once where nobody sits at a terminal.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

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
    /// What stops the answer, once there is a session.
    stop: OnceLock<StopSignal>,
    notify: Notify,
}

impl Signals {
    /// Stops the answers of a session from now on. `is_patient`: the first Ctrl-C in an answer
    /// stops only that answer.
    pub(super) fn attach(&self, stop: StopSignal, is_patient: bool) {
        self.0.was_patient.store(is_patient, Ordering::SeqCst);
        self.renew();
        // There is one session for each.
        let _ = self.0.stop.set(stop);
    }

    /// Begins another answer, which may be stopped alone.
    pub(super) fn renew(&self) {
        self.0.is_patient.store(self.0.was_patient.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Listens. Until there is a session, every signal is the end.
    #[cfg(unix)]
    pub(super) fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        let signals = Self::default();
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let told = signals.clone();
        tokio::spawn(async move {
            loop {
                let number = tokio::select! {
                    _ = interrupt.recv() => INTERRUPT,
                    _ = terminate.recv() => TERMINATE,
                };
                told.came(number);
            }
        });
        Ok(signals)
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> std::io::Result<Self> {
        let signals = Self::default();
        let told = signals.clone();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                told.came(INTERRUPT);
            }
        });
        Ok(signals)
    }

    fn came(&self, number: u8) {
        let is_patient = self.0.is_patient.swap(false, Ordering::SeqCst);
        if number == TERMINATE || !is_patient {
            self.end(ENDED_BY_SIGNAL + number);
        }
        if let Some(stop) = self.0.stop.get() {
            stop.stop();
        }
    }

    fn end(&self, exit: u8) {
        self.0.exit.store(exit, Ordering::SeqCst);
        self.0.notify.notify_waiters();
    }

    /// The exit code of a session that a signal ends.
    pub(super) fn exit(&self) -> Option<u8> {
        Some(self.0.exit.load(Ordering::SeqCst)).filter(|&exit| exit != 0)
    }

    /// Returns when the session is to end, with the exit code.
    pub(super) async fn ended(&self) -> u8 {
        loop {
            let notified = self.0.notify.notified();
            if let Some(exit) = self.exit() {
                return exit;
            }
            notified.await;
        }
    }
}
