//! A person at a shell: types, and waits for what is printed.

use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pty_process::blocking::{Command, Pty};

pub(crate) struct Person {
    pty: Arc<Pty>,
    printed: Receiver<u8>,
    shell: Child,
}

impl Person {
    pub(crate) fn at_a_shell(home: &Path) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        let shell = Command::new("sh")
            .arg("-i")
            .env("ANTIPHON_HOME", home.join("store"))
            .env("ANTIPHON", env!("CARGO_BIN_EXE_antiphon"))
            .env("PS1", "> ");
        let shell = shell.spawn(pts).unwrap();
        let pty = Arc::new(pty);
        let (sender, printed) = channel();
        let from = Arc::clone(&pty);
        std::thread::spawn(move || {
            for byte in BufReader::new(&*from).bytes().map_while(Result::ok) {
                let _ = sender.send(byte);
            }
        });
        Self { pty, printed, shell }
    }

    pub(crate) fn types(&self, keys: &str) {
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn waits_for(&self, text: &str) {
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains(text) {
            let byte = self.printed.recv_timeout(Duration::from_secs(20));
            let so_far = String::from_utf8_lossy(&seen).into_owned();
            assert!(byte.is_ok(), "no {text:?} in {so_far:?}");
            seen.extend(byte);
        }
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
