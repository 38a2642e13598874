//! Opening a database of another program without leaving a trace.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use antiphon_journal::regular;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::DatabaseError;

/// Where the header of a database says how it is written, and what it says of one with a log
/// (`-wal`) beside it.
const MODE_AT: usize = 18;
const WITH_LOG: u8 = 2;
/// How long a writer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often a copy is tried of a database that is being written.
const TRIES: usize = 5;

#[derive(Debug)]
pub(super) struct Connected {
    pub(super) connection: Connection,
    /// What was read as a file that does not change, and how it was then.
    still: Option<(PathBuf, Stamp)>,
    /// The folder of a copy goes when the connection has gone.
    _copy: Option<Folder>,
}

/// Size and time of a database and its log.
type Stamp = [Option<(u64, SystemTime)>; 2];

impl Connected {
    /// Whether somebody wrote into what was taken for still.
    pub(super) fn has_changed(&self) -> bool {
        self.still.as_ref().is_some_and(|(path, known)| stamp(path) != *known)
    }
}

pub(super) fn connect(path: &Path) -> Result<Connected, DatabaseError> {
    let failed = |source: rusqlite::Error| {
        let source = source.into();
        DatabaseError::Read { path: path.to_owned(), source }
    };
    let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let known = stamp(path);
    let has = |ending: &str| fs::metadata(beside(path, ending)).is_ok_and(|it| it.len() > 0);
    let connection = match (is_with_log(path), has("-wal"), has("-shm")) {
        (false, ..) | (true, true, true) => open(path, read_only),
        // Nobody has it open: to open it as its agent does would make files beside it.
        (true, false, _) => match still_uri(path) {
            Some(uri) => {
                let connection = open(uri.as_ref(), read_only | OpenFlags::SQLITE_OPEN_URI);
                let still = Some((path.to_owned(), known));
                return connection
                    .map(|connection| Connected { connection, still, _copy: None })
                    .map_err(failed);
            }
            None => Err(rusqlite::Error::InvalidQuery),
        },
        (true, true, false) => Err(rusqlite::Error::InvalidQuery),
    };
    match connection {
        Ok(connection) => Ok(Connected { connection, still: None, _copy: None }),
        Err(error) if is_hopeless(&error) => Err(failed(error)),
        Err(_) => {
            let (copy, database) = copy(path)
                .map_err(|source| DatabaseError::Copy { path: path.to_owned(), source })?;
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = open(&database, flags).map_err(failed)?;
            Ok(Connected { connection, still: None, _copy: Some(copy) })
        }
    }
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "query_only", true)?;
    // What a database says of itself is as little trusted as its content.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Whether a copy would fail the same way.
fn is_hopeless(error: &rusqlite::Error) -> bool {
    let hopeless = [ErrorCode::NotADatabase, ErrorCode::DatabaseCorrupt];
    error.sqlite_error_code().is_some_and(|code| hopeless.contains(&code))
}

fn is_with_log(path: &Path) -> bool {
    let mut header = [0; MODE_AT + 1];
    let read = regular::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header.last() == Some(&WITH_LOG)
}

/// The name under which a file is read as one that does not change.
fn still_uri(path: &Path) -> Option<String> {
    let full = std::path::absolute(path).ok()?;
    let mut uri = String::from("file:");
    for c in full.to_str()?.chars() {
        match c {
            '%' | '?' | '#' => uri.push_str(&format!("%{:02X}", u32::from(c))),
            c => uri.push(c),
        }
    }
    Some(uri + "?immutable=1")
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn stamp(path: &Path) -> Stamp {
    let of = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    [of(path), of(&beside(path, "-wal"))]
}

/// Copies a database and what belongs to it into a folder of our own.
fn copy(path: &Path) -> io::Result<(Folder, PathBuf)> {
    let folder = Folder::new()?;
    let to = folder.0.join("copy.db");
    for _ in 0..TRIES {
        let known = stamp(path);
        copy_file(path, &to)?;
        for ending in ["-wal", "-journal"] {
            let (from, to) = (beside(path, ending), beside(&to, ending));
            match copy_file(&from, &to) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let _ = fs::remove_file(to);
                }
                Err(error) => return Err(error),
            }
        }
        if stamp(path) == known {
            return Ok((folder, to));
        }
    }
    Err(io::Error::other("it is constantly being written"))
}

/// Copies a file, and waits for no pipe that has its name.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = regular::open(from)?;
    io::copy(&mut from, &mut fs::File::create(to)?).map(drop)
}

/// A folder that goes when it is not needed any more.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("antiphon-database-{}-{count}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match private_folder().create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Readable by its owner only.
fn private_folder() -> fs::DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
