//! The way from the pumps to the scribe. Putting something in never waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use antiphon_model::Timestamp;

const MOST_CHUNKS: usize = 65_536;
const MOST_BYTES: usize = 64 << 20;

/// Where something was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Stdout,
    Stderr,
}

impl Source {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) source: Source,
    pub(crate) at: Timestamp,
    pub(crate) bytes: Vec<u8>,
    /// What was lost before it, in chunks.
    pub(crate) lost: usize,
}

/// The end into which pumps put.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    chunks: SyncSender<Chunk>,
    bytes: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
}

#[derive(Debug)]
pub(crate) struct Queue {
    chunks: Receiver<Chunk>,
    bytes: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
}

pub(crate) fn queue() -> (Sender, Queue) {
    let (sender, chunks) = sync_channel(MOST_CHUNKS);
    let (bytes, lost) = (Arc::default(), Arc::default());
    let queue = Queue { chunks, bytes: Arc::clone(&bytes), lost: Arc::clone(&lost) };
    (Sender { chunks: sender, bytes, lost }, queue)
}

impl Sender {
    /// Puts a chunk in, or counts it as lost.
    pub(crate) fn put(&self, source: Source, at: Timestamp, bytes: &[u8]) {
        let waiting = self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        if waiting + bytes.len() > MOST_BYTES {
            return self.lose(bytes.len());
        }
        let lost = self.lost.swap(0, Ordering::Relaxed);
        let chunk = Chunk { source, at, bytes: bytes.to_vec(), lost };
        match self.chunks.try_send(chunk) {
            Ok(()) => {}
            Err(TrySendError::Full(chunk) | TrySendError::Disconnected(chunk)) => {
                self.lost.fetch_add(lost, Ordering::Relaxed);
                self.lose(chunk.bytes.len());
            }
        }
    }

    fn lose(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.lost.fetch_add(1, Ordering::Relaxed);
    }
}

impl Queue {
    pub(crate) fn take(&self, wait: Duration) -> Result<Chunk, RecvTimeoutError> {
        let chunk = self.chunks.recv_timeout(wait)?;
        self.bytes.fetch_sub(chunk.bytes.len(), Ordering::Relaxed);
        Ok(chunk)
    }

    /// What was lost after the last chunk.
    pub(crate) fn lost(&self) -> usize {
        self.lost.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_nobody_waits() {
        let (sender, queue) = queue();
        let at = Timestamp::from_millis(0);
        let big = vec![b'x'; MOST_BYTES / 2];
        for _ in 0..4 {
            sender.put(Source::Stdout, at, &big);
        }
        assert_eq!(queue.take(Duration::ZERO).unwrap().lost, 0);
        sender.put(Source::Stderr, at, b"after");
        assert_eq!(queue.take(Duration::ZERO).unwrap().lost, 0);
        let after = queue.take(Duration::ZERO).unwrap();
        assert_eq!((after.lost, after.bytes), (2, b"after".to_vec()));
    }
}
