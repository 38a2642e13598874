//! The queue from the pumps to the scribe.
//!
//! Adding hardly ever blocks: only if the queue is full although it moves, and then only briefly,
//! so that the command is not delayed noticeably. What does not fit is counted as lost.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use antiphon_model::Timestamp;

use crate::frame::{Loss, Source};

/// How much may wait in memory; the scribe has room for the rest.
const MOST_BYTES: usize = 16 << 20;
/// If a queue has not moved for this long, its disk hangs, and it is not waited for any longer. A
/// busy machine may well delay a thread by some tenths of this.
const STANDSTILL: Duration = Duration::from_millis(500);
/// A command is delayed by at most this in total, and by at most a tenth of its time.
const MOST_HELD: Duration = Duration::from_secs(2);
const MOST_HELD_SHARE: u32 = 10;

/// Output that was read at once.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) source: Source,
    pub(crate) at: Timestamp,
    pub(crate) bytes: Vec<u8>,
    /// What was lost before it.
    pub(crate) lost: Loss,
}

#[derive(Debug)]
struct State {
    chunks: VecDeque<Chunk>,
    /// The bytes in the queue and in the chunk that was taken last.
    bytes: usize,
    taken: Loss,
    /// What was lost since the last chunk that was added.
    lost: Loss,
    lost_in_all: Loss,
    /// How much was added in total.
    printed: u64,
    pumps: usize,
    /// The command has ended: further output is not its own.
    is_ending: bool,
    is_closed: bool,
    begun: Instant,
    moved: Instant,
    held: Duration,
}

impl State {
    /// Whether a pump may wait for room.
    fn may_hold(&self) -> bool {
        let most = MOST_HELD + self.begun.elapsed() / MOST_HELD_SHARE;
        !self.is_closed && self.held < most && self.moved.elapsed() < STANDSTILL
    }

    /// Notes that the chunk that was taken has been written.
    fn settle(&mut self) {
        self.bytes -= usize::try_from(self.taken.bytes).unwrap_or_default();
        self.taken = Loss::default();
        self.moved = Instant::now();
    }

    fn lose(&mut self, loss: Loss) {
        self.lost.add(loss);
        self.lost_in_all.add(loss);
    }

    /// The consumer is gone: what is still in the queue is lost.
    fn close(&mut self) {
        self.is_closed = true;
        self.bytes = 0;
        let taken = std::mem::take(&mut self.taken);
        self.lose(taken);
        for chunk in std::mem::take(&mut self.chunks) {
            // Its earlier loss was not reported yet; the total contains it already.
            self.lost.add(chunk.lost);
            self.lose(Loss::of(&chunk.bytes));
        }
    }
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, time: Duration) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The producers' end.
#[derive(Debug)]
pub(crate) struct Sender(Arc<Shared>);

/// The consumer's end. Several may hold it; only one takes.
#[derive(Debug, Clone)]
pub(crate) struct Queue(Arc<Shared>);

pub(crate) fn queue() -> (Sender, Queue) {
    let now = Instant::now();
    let state = State {
        chunks: VecDeque::new(),
        bytes: 0,
        taken: Loss::default(),
        lost: Loss::default(),
        lost_in_all: Loss::default(),
        printed: 0,
        pumps: 1,
        is_ending: false,
        is_closed: false,
        begun: now,
        moved: now,
        held: Duration::ZERO,
    };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
    (Sender(Arc::clone(&shared)), Queue(shared))
}

impl Clone for Sender {
    fn clone(&self) -> Self {
        self.0.lock().pumps += 1;
        Self(Arc::clone(&self.0))
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.lock().pumps -= 1;
        self.0.changed.notify_all();
    }
}

impl Sender {
    /// Adds output, or counts it as lost.
    pub(crate) fn put(&self, source: Source, at: Timestamp, bytes: &[u8]) {
        let mut state = self.0.lock();
        if state.is_ending {
            return;
        }
        if state.bytes == 0 {
            // Nothing was waiting, so nothing was stuck.
            state.moved = Instant::now();
        }
        while state.bytes + bytes.len() > MOST_BYTES && state.may_hold() {
            let begun = Instant::now();
            state = self.0.wait(state, STANDSTILL / 50);
            state.held += begun.elapsed();
        }
        if state.is_closed || state.bytes + bytes.len() > MOST_BYTES {
            return state.lose(Loss::of(bytes));
        }
        let lost = std::mem::take(&mut state.lost);
        state.bytes += bytes.len();
        state.printed += bytes.len() as u64;
        state.chunks.push_back(Chunk { source, at, bytes: bytes.to_vec(), lost });
        drop(state);
        self.0.changed.notify_all();
    }
}

impl Queue {
    /// The next chunk; `None` when all pumps are done. Asking for it confirms that the last one was
    /// written.
    pub(crate) fn take(&self) -> Option<Chunk> {
        let mut state = self.0.lock();
        state.settle();
        self.0.changed.notify_all();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(chunk) = state.chunks.pop_front() {
                state.taken = Loss::of(&chunk.bytes);
                return Some(chunk);
            }
            if state.pumps == 0 {
                return None;
            }
            state = self.0.wait(state, Duration::from_secs(60));
        }
    }

    /// Accepts nothing more, and waits until everything has been written, as long as that makes
    /// progress. Returns what was lost after the last chunk.
    pub(crate) fn finish(&self) -> Loss {
        let mut state = self.0.lock();
        state.is_ending = true;
        while state.bytes > 0 && state.moved.elapsed() < STANDSTILL {
            state = self.0.wait(state, Duration::from_millis(5));
        }
        state.close();
        self.0.changed.notify_all();
        std::mem::take(&mut state.lost)
    }

    /// The consumer is gone.
    pub(crate) fn close(&self) {
        self.0.lock().close();
        self.0.changed.notify_all();
    }

    /// How many bytes were added.
    pub(crate) fn printed(&self) -> u64 {
        self.0.lock().printed
    }

    pub(crate) fn lost_in_all(&self) -> Loss {
        self.0.lock().lost_in_all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(0);

    #[test]
    fn what_does_not_fit_is_counted_in_lines_and_bytes_and_nobody_waits_for_long() {
        let (sender, queue) = queue();
        let big = vec![b'x'; MOST_BYTES / 2];
        let begun = Instant::now();
        sender.put(Source::Stdout, AT, &big);
        sender.put(Source::Stdout, AT, &big);
        sender.put(Source::Stdout, AT, b"one\ntwo\nthr");
        sender.put(Source::Stdout, AT, b"ee\n");
        assert!(begun.elapsed() < STANDSTILL * 4);
        let lost = Loss { lines: 3, bytes: 14 };
        assert_eq!(queue.lost_in_all(), lost);
        assert!(queue.take().unwrap().lost.is_none());
        assert!(queue.take().unwrap().lost.is_none());
        sender.put(Source::Stderr, AT, b"after");
        let after = queue.take().unwrap();
        assert_eq!((after.lost, after.bytes), (lost, b"after".to_vec()));
        drop(sender);
        assert!(queue.take().is_none());
        assert!(queue.finish().is_none());
    }

    #[test]
    fn a_queue_that_moves_is_waited_for() {
        let (sender, queue) = queue();
        let taker = std::thread::spawn(move || {
            let mut bytes = 0;
            while let Some(chunk) = queue.take() {
                bytes += chunk.bytes.len();
            }
            (bytes, queue.lost_in_all())
        });
        let chunk = vec![b'x'; 64 << 10];
        let count = MOST_BYTES / chunk.len() * 8;
        for _ in 0..count {
            sender.put(Source::Stdout, AT, &chunk);
        }
        drop(sender);
        assert_eq!(taker.join().unwrap(), (count * chunk.len(), Loss::default()));
    }

    #[test]
    fn when_whoever_took_is_gone_everything_is_lost() {
        let (sender, queue) = queue();
        queue.close();
        sender.put(Source::Stdout, AT, b"one\ntwo\n");
        assert_eq!(queue.finish(), Loss { lines: 2, bytes: 8 });
    }

    #[test]
    fn what_nobody_takes_is_lost_at_the_end_and_counted() {
        let (sender, queue) = queue();
        sender.put(Source::Stdout, AT, b"in hand\n");
        sender.put(Source::Stdout, AT, b"waits\n");
        assert_eq!(queue.take().unwrap().bytes, b"in hand\n");
        // The consumer never asks for the next one.
        assert_eq!(queue.finish(), Loss { lines: 2, bytes: 14 });
        // Output of a process that the command left behind does not belong to it.
        sender.put(Source::Stdout, AT, b"late\n");
        assert_eq!(queue.lost_in_all(), Loss { lines: 2, bytes: 14 });
    }
}
