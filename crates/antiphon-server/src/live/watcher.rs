//! Says that something in a folder has changed: from the system where that works, and else by
//! looking at the clock.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

/// How often listeners look where the system does not say what changes.
const POLL: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Watcher {
    system: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    changes: watch::Sender<u64>,
    is_polling: Arc<AtomicBool>,
}

impl Watcher {
    pub(super) fn start(changes: watch::Sender<u64>) -> Self {
        let sender = changes.clone();
        let system = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // To be read is no change; without this, readers would wake themselves.
            let is_read = event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_)));
            if !is_read {
                sender.send_modify(|count| *count = count.wrapping_add(1));
            }
        });
        if let Err(error) = &system {
            tracing::warn!(cause = %error.kind_name(), "changes are polled");
        }
        let is_polling = Arc::new(AtomicBool::new(false));
        let watcher = Self { system: system.ok(), watched: BTreeSet::new(), changes, is_polling };
        if watcher.system.is_none() {
            watcher.poll();
        }
        watcher
    }

    /// Watches a folder and those in it. One that is not there yet is made by whoever needs it; the
    /// folder above it says so.
    pub(super) fn add(&mut self, folder: &Path) {
        if self.watched.contains(folder) {
            return;
        }
        let Some(system) = &mut self.system else { return };
        let is_there = folder.is_dir();
        let (path, mode) = match is_there {
            true => (folder, RecursiveMode::Recursive),
            false => (folder.parent().unwrap_or(folder), RecursiveMode::NonRecursive),
        };
        match system.watch(path, mode) {
            Ok(()) if is_there => drop(self.watched.insert(folder.to_owned())),
            Ok(()) => {}
            Err(error) => {
                tracing::warn!(cause = %error.kind_name(), "a folder is polled");
                self.poll();
            }
        }
    }

    /// Wakes the listeners again and again, from one thread.
    fn poll(&self) {
        if self.is_polling.swap(true, Ordering::Relaxed) {
            return;
        }
        let changes = self.changes.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(POLL);
                if changes.receiver_count() > 0 {
                    changes.send_modify(|count| *count = count.wrapping_add(1));
                }
            }
        });
    }
}

/// What kind of error it is, without the path in it.
trait KindName {
    fn kind_name(&self) -> String;
}

impl KindName for notify::Error {
    fn kind_name(&self) -> String {
        match &self.kind {
            notify::ErrorKind::Io(error) => error.kind().to_string(),
            notify::ErrorKind::MaxFilesWatch => "too many watches".to_owned(),
            notify::ErrorKind::PathNotFound => "not found".to_owned(),
            notify::ErrorKind::Generic(_)
            | notify::ErrorKind::WatchNotFound
            | notify::ErrorKind::InvalidConfig(_) => "other".to_owned(),
        }
    }
}
