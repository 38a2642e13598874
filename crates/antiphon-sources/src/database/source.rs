//! Opening a database of another program without changing anything beside it.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use antiphon_journal::regular;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::DatabaseError;

/// The offset of the journal mode in the header of a database, and its value for one with a
/// write-ahead log (`-wal`).
const MODE_AT: usize = 18;
const WITH_LOG: u8 = 2;
/// How long to wait for a writer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many times copying is tried while the database is being written.
const TRIES: usize = 5;

#[derive(Debug)]
pub(super) struct Connected {
    pub(super) connection: Connection,
    /// The file that was opened as immutable, and its state then.
    still: Option<(PathBuf, Stamp)>,
    /// The temporary folder of a copy; it is removed after the connection is closed.
    _copy: Option<Folder>,
}

/// The size and modification time of a database and of its log.
type Stamp = [Option<(u64, SystemTime)>; 2];

impl Connected {
    /// Whether a file that was opened as immutable has changed.
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
        // Nobody has it open. Opening it as its agent does would create files beside it.
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
    // The schema of a database is as little trusted as its content.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Whether reading a copy would fail in the same way.
fn is_hopeless(error: &rusqlite::Error) -> bool {
    let hopeless = [ErrorCode::NotADatabase, ErrorCode::DatabaseCorrupt];
    error.sqlite_error_code().is_some_and(|code| hopeless.contains(&code))
}

fn is_with_log(path: &Path) -> bool {
    let mut header = [0; MODE_AT + 1];
    let read = regular::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header.last() == Some(&WITH_LOG)
}

/// The URI by which SQLite opens a file as immutable.
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

/// Copies a database and its companion files into a temporary folder.
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

/// Copies a regular file. A named pipe in its place is refused rather than waited for.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = regular::open(from)?;
    io::copy(&mut from, &mut fs::File::create(to)?).map(drop)
}

/// A folder that is removed when it is dropped.
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
