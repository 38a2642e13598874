//! Running the binary with nothing of the user's around it.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run printed, and how it ended.
pub(crate) struct Done {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) exit: i32,
}

/// All three at once, for snapshots.
impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.out)?;
        if !self.err.is_empty() {
            write!(f, "--- stderr\n{}", self.err)?;
        }
        if self.exit != 0 {
            writeln!(f, "--- exit {}", self.exit)?;
        }
        Ok(())
    }
}

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The binary, in the workspace's folder, with an empty environment.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon"));
    command.env_clear().current_dir(workspace());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// Runs `antiphon` with the words of `arguments`.
pub(crate) fn antiphon(arguments: &str) -> Done {
    run_with(&arguments.split_whitespace().collect::<Vec<_>>(), b"")
}

pub(crate) fn run_with(arguments: &[&str], stdin: &[u8]) -> Done {
    let mut command = command();
    command.args(arguments);
    finish(command, stdin)
}

/// Runs a command to its end with this input.
pub(crate) fn finish(mut command: Command, stdin: &[u8]) -> Done {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = stdin.to_vec();
    // On a thread: the binary may answer before it has read all.
    let feeder = std::thread::spawn(move || pipe.write_all(&input));
    let done = child.wait_with_output().unwrap();
    let _ = feeder.join().unwrap();
    Done {
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
        exit: done.status.code().unwrap_or(-1),
    }
}

/// A folder for a test's files.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes a file, and gives its path as text.
pub(crate) fn file(folder: &tempfile::TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Appends events to a log, and gives the ids that were acknowledged.
pub(crate) fn append(log: &str, events: &str) -> Vec<String> {
    let done = run_with(&["append", log], events.as_bytes());
    assert_eq!((done.exit, done.err.as_str()), (0, ""), "{done}");
    done.out.lines().map(Into::into).collect()
}
