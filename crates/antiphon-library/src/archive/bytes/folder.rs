//! Bytes as the files of a folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use antiphon_journal::regular;
use antiphon_sources::relative;

use super::{Bytes, Draft, Settled, Stored};
use crate::store::make_folders;

/// A folder and everything below it.
#[derive(Debug, Clone)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Bytes for Folder {
    fn list(&self, below: &str) -> Vec<String> {
        let (mut files, mut folders) = (Vec::new(), vec![self.path(below)]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(_) => files.push(entry.path()),
                    Err(_) => {}
                }
            }
        }
        files.sort();
        files.iter().map(|path| relative(path, &self.0)).collect()
    }

    fn len(&self, name: &str) -> Option<u64> {
        let metadata = fs::metadata(self.path(name)).ok();
        metadata.filter(fs::Metadata::is_file).map(|metadata| metadata.len())
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Stored>> {
        Ok(Box::new(regular::open(&self.path(name))?))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Draft>> {
        let path = self.path(name);
        make_folders(path.parent().unwrap_or(&self.0))?;
        Ok(Box::new(NewFile::create(path)?))
    }

    fn append(&self, name: &str) -> io::Result<Box<dyn Write>> {
        let path = self.path(name);
        make_folders(path.parent().unwrap_or(&self.0))?;
        let mut options = OpenOptions::new();
        let options = private(options.append(true).create(true));
        Ok(Box::new(regular::open_by(&path, options)?))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// A file that gets its name when it is complete.
struct NewFile {
    file: File,
    /// Its temporary path.
    new: PathBuf,
    path: PathBuf,
    is_put: bool,
}

impl NewFile {
    fn create(path: PathBuf) -> io::Result<Self> {
        let new = half_written(&path);
        let mut options = OpenOptions::new();
        let options = private(options.write(true).create(true).truncate(true));
        let file = regular::open_by(&new, options)?;
        Ok(Self { file, new, path, is_put: false })
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Draft for NewFile {
    #[expect(
        clippy::disallowed_methods,
        reason = "no log: there is one sync, and its failure is told"
    )]
    fn put(mut self: Box<Self>, settled: Settled) -> io::Result<()> {
        match settled {
            Settled::First | Settled::Named => self.file.sync_data()?,
            Settled::Later => {}
        }
        fs::rename(&self.new, &self.path)?;
        self.is_put = true;
        match (settled, self.path.parent()) {
            // If a folder cannot be opened, its entries are written together with the files.
            (Settled::Named, Some(folder)) => File::open(folder).map_or(Ok(()), |it| it.sync_all()),
            _ => Ok(()),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_put {
            let _ = fs::remove_file(&self.new);
        }
    }
}

/// Replaces a file atomically.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = Box::new(NewFile::create(path.to_owned())?);
    file.write_all(bytes)?;
    file.put(Settled::Later)
}

/// The temporary name of a file.
fn half_written(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", process::id()));
    path.with_file_name(name)
}

/// Whether this is the temporary name of a file.
pub(crate) fn is_half_written(name: &str) -> bool {
    let process = name.strip_suffix(".new").and_then(|name| name.rsplit_once('.'));
    process.is_some_and(|(_, id)| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
}

/// New files are readable by their owner only.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
