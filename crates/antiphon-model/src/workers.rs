//! Parallel work on many items: the only place where threads are distributed.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Calls a function for each item, in order, on every processor, until it says to stop. Calls that
/// have begun by then are finished.
pub fn on_every_processor<T: Sync>(
    things: &[T],
    work: impl Fn(usize, &T) -> ControlFlow<()> + Sync,
) {
    on_processors(usize::MAX, things, work);
}

/// Like [`on_every_processor`], on at most that many processors.
pub fn on_processors<T: Sync>(
    most: usize,
    things: &[T],
    work: impl Fn(usize, &T) -> ControlFlow<()> + Sync,
) {
    let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        while !is_stopped.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(at) else { return };
            if work(at, thing).is_break() {
                is_stopped.store(true, Ordering::Relaxed);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..threads.min(most).min(things.len()) {
            // If no thread can be started, this one does everything.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn each_thing_is_done_once() {
        let things: Vec<usize> = (0..1000).collect();
        let done = Mutex::new(Vec::new());
        on_every_processor(&things, |at, thing| {
            done.lock().unwrap().push((at, *thing));
            ControlFlow::Continue(())
        });
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!(done, (0..1000).map(|it| (it, it)).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_is_begun_once_one_said_to_stop() {
        let things: Vec<usize> = (0..1000).collect();
        let done = AtomicUsize::new(0);
        on_processors(1, &things, |_, thing| {
            done.fetch_add(1, Ordering::Relaxed);
            if *thing == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(done.into_inner(), 11);
    }
}
