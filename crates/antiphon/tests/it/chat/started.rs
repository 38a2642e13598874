//! Servers that others made, started for a test and ended with it.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::run::workspace;

/// A server on loopback.
pub(super) struct Started {
    process: Child,
    port: u16,
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Started {
    /// Starts a server, which is told its port by the last argument, and waits until it listens.
    pub(super) fn new(mut command: Command) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = Self { process: command.spawn().unwrap(), port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.process.try_wait().unwrap().is_none(), "the server ended");
            assert!(begun.elapsed() < Duration::from_secs(120), "the server does not listen");
            std::thread::sleep(Duration::from_millis(200));
        }
        server
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// The file that a variable of `make test-net` names; a word, where it could not be installed.
#[expect(clippy::print_stdout, reason = "it says that a test is skipped")]
pub(super) fn installed(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).filter(|path| !path.is_empty());
    if found.is_none() {
        println!("skipped: {variable} is not set; `make test-net` installs what it names");
    }
    found.map(|path| workspace().join(path).canonicalize().unwrap())
}
