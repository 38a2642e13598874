//! The command is not affected by a disk that hangs or is full.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_journal::{Creation, Disk, LogFile, Options, OsDisk};
use antiphon_recorder::{Assignment, LogTarget, Recorder, Sinks, record};

/// How a write goes wrong.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Hangs,
    Full,
}

#[derive(Debug)]
struct Faulty(Fault);

#[derive(Debug)]
struct FaultyFile(Fault);

impl LogFile for FaultyFile {
    fn write(&self, _: &[u8]) -> io::Result<usize> {
        match self.0 {
            Fault::Hangs => std::thread::sleep(Duration::from_secs(3600)),
            Fault::Full => {}
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for Faulty {
    fn append(&self, _: &Path, _: Creation) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(FaultyFile(self.0)))
    }

    fn read_from(&self, path: &Path, offset: u64) -> io::Result<Box<dyn io::Read + Send>> {
        OsDisk.read_from(path, offset)
    }

    fn read(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        OsDisk.read(path)
    }

    fn read_at(&self, path: &Path, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        OsDisk.read_at(path, offset, len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        OsDisk.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        OsDisk.sync_folder(folder)
    }
}

/// Runs a command of half a second on a disk with that fault; returns how long it took, and the
/// warnings.
fn run(fault: Fault) -> (Duration, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("session");
    std::fs::create_dir(&path).unwrap();
    let options = Options { disk: Arc::new(Faulty(fault)), ..Options::default() };
    let recorder = Recorder {
        leader: Vec::new(),
        scribe: Vec::new(),
        command: ["sh", "-c", "echo one; sleep 0.5; echo two; exit 3"].map(Into::into).into(),
        assignment: Assignment::default(),
        max_duration: None,
        sinks: Sinks {
            log: Some(LogTarget { folder: Box::new(move || Ok(path)), options }),
            ..Sinks::default()
        },
        wait: false,
    };
    let begun = Instant::now();
    let ended = record(recorder).unwrap();
    assert_eq!(ended.code, Some(3));
    (begun.elapsed(), ended.warnings)
}

#[test]
fn a_disk_that_hangs_is_not_felt() {
    let (took, warnings) = run(Fault::Hangs);
    println!("with a disk that hangs: {} ms over", took.as_millis().saturating_sub(500));
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(warnings.len(), 1);
}

#[test]
fn a_disk_that_is_full_is_reported_with_what_is_missing() {
    let (took, warnings) = run(Fault::Full);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings.iter().any(|it| it.contains("2 lines (8 bytes)")), "{warnings:?}");
    assert!(warnings.iter().all(|it| it.contains("incomplete")), "{warnings:?}");
}
