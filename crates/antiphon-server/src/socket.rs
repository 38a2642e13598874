//! The socket in the store: for the user alone, and out of reach of any page.

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::{Extension, Router};
use tokio::net::UnixListener;
use tokio::sync::watch;

use crate::access::OverSocket;
use crate::listen::serve;

const NAME: &str = "server.sock";

/// A socket that is removed when its server ends.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
    listener: std::os::unix::net::UnixListener,
}

impl Socket {
    /// Opens the socket; nothing, if another server has it.
    pub(crate) fn open(store: &Path) -> io::Result<Option<Self>> {
        let path = store.join(NAME);
        if UnixStream::connect(&path).is_ok() {
            return Ok(None);
        }
        // Whoever left it there is gone.
        let _ = std::fs::remove_file(&path);
        let listener = std::os::unix::net::UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Some(Self { path, listener }))
    }

    pub(crate) async fn accept(&self, router: Router, mut is_ending: watch::Receiver<bool>) {
        let Ok(listener) = self.listener.try_clone().and_then(UnixListener::from_std) else {
            return;
        };
        let own = rustix::process::getuid().as_raw();
        let router = router.layer(Extension(OverSocket));
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = is_ending.changed() => return,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let is_user = stream.peer_cred().is_ok_and(|peer| peer.uid() == own);
            if is_user {
                tokio::spawn(serve(stream, router.clone()));
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Asks the server of a store, if one runs, for an address of the page with a new code.
pub fn ask_for_code(store: &Path, page: &str) -> Option<String> {
    #[derive(serde::Serialize)]
    struct Wanted<'a> {
        path: &'a str,
    }
    #[derive(serde::Deserialize)]
    struct Address {
        url: String,
    }
    let mut stream = UnixStream::connect(store.join(NAME)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let body = serde_json::to_string(&Wanted { path: page }).ok()?;
    let len = body.len();
    let request = format!(
        "POST /api/code HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {len}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.take(64 << 10).read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let address: Address = serde_json::from_str(body).ok()?;
    head.starts_with("HTTP/1.1 200").then_some(address.url)
}
