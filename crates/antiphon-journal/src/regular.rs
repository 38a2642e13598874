//! Opening regular files, and nothing else.
//!
//! Among an agent's files there may be a named pipe, a socket, or a link to a device. Opening a
//! pipe waits for the process at its other end, and a device may never end. So a file is opened
//! without waiting, and its type is checked after opening, because the path may lead elsewhere by
//! then.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

/// Opens a regular file for reading. A link is followed; anything but a regular file at its end is
/// an error of the kind [`io::ErrorKind::InvalidInput`].
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, false)
}

/// Like [`open`], but fails if the last part of the path is a link.
fn open_no_link(path: &Path) -> io::Result<File> {
    open_with(path, true)
}

/// Opens a regular file with these options, which may create it. They must not truncate it: that is
/// done once its type is known.
pub fn open_by(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    checked(path, options, false)
}

/// Writes a regular file, replacing one that exists.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = open_by(path, options.write(true).create(true).truncate(false))?;
    file.set_len(0)?;
    file.write_all(bytes)
}

/// All bytes of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// A range of bytes of a regular file; fewer, if it ends before.
pub fn read_range(path: &Path, range: std::ops::Range<u64>) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    file.seek(SeekFrom::Start(range.start))?;
    let mut bytes = Vec::new();
    file.take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file in a folder. A link is followed if its target is in that folder too; any
/// other link is an error of the kind [`io::ErrorKind::PermissionDenied`].
pub fn open_within(path: &Path, folder: &Path) -> io::Result<File> {
    match resolve_within(path, folder)? {
        Some(resolved) => open_no_link(&resolved),
        None => Err(io::Error::new(io::ErrorKind::PermissionDenied, LeadsOut)),
    }
}

/// Whether a path, with its links followed, leads into a folder.
pub fn is_within(path: &Path, folder: &Path) -> bool {
    resolve_within(path, folder).is_ok_and(|resolved| resolved.is_some())
}

/// Whether a path leads to a regular file in a folder without any link below the folder, so that
/// [`open_within`] would open it. Nothing is opened.
pub fn is_plainly_within(path: &Path, folder: &Path) -> bool {
    without_links(path, folder).is_some_and(|it| it.is_file())
}

/// Whether a file was not opened because a link led out of its folder.
pub fn leads_out(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<LeadsOut>())
}

/// A link leads out of the folder that it should stay in.
#[derive(Debug, thiserror::Error)]
#[error("a link pointing outside its folder")]
struct LeadsOut;

/// Where a path leads to, if that is in the folder.
fn resolve_within(path: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // Most are not links, and resolving a whole path takes a call for each of its parts.
    if without_links(path, folder).is_some() {
        return Ok(Some(path.to_owned()));
    }
    let (path, folder) = (path.canonicalize()?, folder.canonicalize()?);
    Ok(path.starts_with(&folder).then_some(path))
}

/// The metadata of a path below the folder, if no part of it below the folder is a link.
fn without_links(path: &Path, folder: &Path) -> Option<Metadata> {
    let below = path.strip_prefix(folder).ok()?;
    let mut at = folder.to_owned();
    let mut last = None;
    for part in below.components() {
        at.push(part);
        let metadata = at.symlink_metadata().ok()?;
        if metadata.is_symlink() || !matches!(part, Component::Normal(_)) {
            return None;
        }
        last = Some(metadata);
    }
    last
}

fn open_with(path: &Path, refuses_links: bool) -> io::Result<File> {
    checked(path, OpenOptions::new().read(true), refuses_links)
}

fn checked(path: &Path, options: &mut OpenOptions, refuses_links: bool) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::NOFOLLOW, refuses_links);
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    #[cfg(not(unix))]
    let _ = refuses_links;
    let file = match options.open(path) {
        // A pipe that nobody reads, or a socket.
        #[cfg(unix)]
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            return Err(refused());
        }
        opened => opened?,
    };
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(refused()),
    }
}

/// The error for anything but a regular file.
pub(crate) fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_nothing_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "words").unwrap();
        fs::create_dir(at("folder")).unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink(at("pipe"), at("link to a pipe")).unwrap();
        symlink("/dev/zero", at("link to a device")).unwrap();
        assert_eq!(read(&at("file")).unwrap(), b"words");
        assert_eq!(read(&at("link")).unwrap(), b"words");
        for name in ["folder", "pipe", "socket", "link to a pipe", "link to a device", "absent"] {
            assert!(open(&at(name)).is_err(), "{name}");
        }
        for name in ["folder", "pipe", "socket", "link", "link to a pipe", "absent", ""] {
            assert!(!is_plainly_within(&at(name), folder.path()), "{name}");
        }
        assert!(is_plainly_within(&at("file"), folder.path()));
        assert!(!is_plainly_within(&at("file"), &at("folder")));
        assert!(!is_plainly_within(&at("folder/../file"), folder.path()));
        assert_eq!(open(&at("absent")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(open(&at("pipe")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn only_regular_files_are_written_and_nothing_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "many words").unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        symlink("/dev/full", at("link to a device")).unwrap();
        for name in ["file", "new"] {
            write(&at(name), b"words").unwrap();
            assert_eq!(fs::read(at(name)).unwrap(), b"words", "{name}");
        }
        for name in ["pipe", "link to a device"] {
            let refused = write(&at(name), b"words").unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        // With both ends open, opening does not fail.
        let both = OpenOptions::new().read(true).write(true).open(at("pipe")).unwrap();
        assert_eq!(write(&at("pipe"), b"x").unwrap_err().kind(), io::ErrorKind::InvalidInput);
        drop(both);
    }

    #[test]
    fn a_link_is_followed_only_within_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("agent/sub")).unwrap();
        fs::write(at("agent/file"), "own").unwrap();
        fs::write(at("secret"), "secret").unwrap();
        symlink(at("secret"), at("agent/out")).unwrap();
        symlink("../file", at("agent/sub/in")).unwrap();
        symlink(folder.path(), at("agent/above")).unwrap();
        symlink(at("agent"), at("other name")).unwrap();
        let opened = |path: &str, within: &str| open_within(&at(path), &at(within)).is_ok();
        assert!(opened("agent/file", "agent"));
        assert!(opened("agent/sub/in", "agent"));
        assert!(opened("other name/file", "other name"), "the folder itself may be a link");
        assert!(!opened("agent/out", "agent"));
        assert!(!opened("agent/above/secret", "agent"));
        assert!(!opened("agent/sub/in", "agent/sub"));
    }
}
