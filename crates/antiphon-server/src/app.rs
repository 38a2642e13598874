//! What all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use antiphon_model::Zone;
use antiphon_redact::Redactor;
use antiphon_views::Prices;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::access::Access;
use crate::library::Library;
use crate::live::Hub;
use crate::metrics::Metrics;
use crate::opened::OpenedSessions;
use crate::otlp::Spool;
use crate::problem::Problem;

/// So many answers are worked out at once; the others wait for their turn.
pub(crate) const WORKERS: usize = 32;

/// The server's state.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) library: Library,
    pub(crate) access: Access,
    pub(crate) sessions: OpenedSessions,
    pub(crate) hub: Hub,
    pub(crate) spool: Spool,
    pub(crate) metrics: Metrics,
    pub(crate) prices: Prices,
    /// Whether the prices are the user's own.
    pub(crate) own_prices: bool,
    pub(crate) redactor: Redactor,
    pub(crate) zone: Zone,
    pub(crate) is_read_only: bool,
    pub(crate) workers: Arc<Semaphore>,
    /// Becomes true when the server ends: streams end with it.
    pub(crate) is_ending: watch::Receiver<bool>,
    began: Instant,
    /// When somebody last asked, in milliseconds since the server began.
    asked_ms: AtomicI64,
}

/// What a server is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) library: Library,
    pub(crate) access: Access,
    pub(crate) prices: Prices,
    /// Whether the prices are the user's own.
    pub(crate) own_prices: bool,
    pub(crate) redactor: Redactor,
    pub(crate) zone: Zone,
    pub(crate) is_read_only: bool,
    pub(crate) is_ending: watch::Receiver<bool>,
}

impl App {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { library, access, prices, own_prices, redactor, zone, is_read_only, is_ending } =
            parts;
        Self {
            sessions: OpenedSessions::new(redactor.clone()),
            hub: Hub::new(library.watched()),
            spool: Spool::at(library.store().map_or(std::path::Path::new(""), |it| it.root())),
            metrics: Metrics::default(),
            workers: Arc::new(Semaphore::new(WORKERS)),
            library,
            access,
            prices,
            own_prices,
            redactor,
            zone,
            is_read_only,
            is_ending,
            began: Instant::now(),
            asked_ms: AtomicI64::new(0),
        }
    }

    /// Waits for one's turn to work.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.workers).acquire_owned().await;
        permit.map_err(|_| Problem::busy("the server is ending"))
    }

    /// Works on a thread that may wait and compute.
    pub(crate) async fn compute<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = self.permit().await?;
        let app = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&app)
        });
        done.await.map_err(|error| Problem::failed("the server failed at this", &error))?
    }

    pub(crate) fn note_request(&self) {
        let now = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.asked_ms.store(now, Ordering::Relaxed);
        self.metrics.count_request();
    }

    /// How long nobody has asked anything and nobody listens, in milliseconds.
    pub(crate) fn idle_ms(&self) -> i64 {
        if self.hub.listeners() > 0 {
            return 0;
        }
        let now = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        now - self.asked_ms.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
impl App {
    /// A server of a store, for this machine, at port 7462.
    pub(crate) fn for_tests(store: antiphon_library::Store) -> Self {
        use crate::access::tokens::Tokens;
        use crate::access::{Codes, Hosts};

        let (_, is_ending) = watch::channel(false);
        let hosts = Hosts::new(7462, &[], false, false);
        let tokens = Tokens::at(store.root());
        Self::new(Parts {
            library: Library::kept(store),
            access: Access { hosts, tokens, codes: Codes::default() },
            prices: Prices::bundled(),
            own_prices: false,
            redactor: Redactor::default(),
            zone: Zone::utc(),
            is_read_only: false,
            is_ending,
        })
    }
}
