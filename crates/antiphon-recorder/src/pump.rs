//! Passes on what a command prints: first to its destination, then a copy to the queue.

use std::io::{Read, Write};
use std::thread::JoinHandle;

use antiphon_journal::{Clock, SystemClock};

use crate::frame::Source;
use crate::queue::Sender;

const CHUNK_BYTES: usize = 64 << 10;

/// Starts a thread that passes on everything that can be read. It ends with its source. If the
/// destination is closed, so is the source, and the command notices that as it would without us.
pub(crate) fn start<R, W>(mut from: R, mut to: W, source: Source, queue: Sender) -> JoinHandle<()>
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
{
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let count = match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                // The other end of a pty is gone (EIO): that is its end of file.
                Err(_) => return,
            };
            let Some(chunk) = buffer.get(..count) else { return };
            let passed = to.write_all(chunk).and_then(|()| to.flush());
            queue.put(source, SystemClock.now(), chunk);
            if passed.is_err() {
                return;
            }
        }
    })
}
