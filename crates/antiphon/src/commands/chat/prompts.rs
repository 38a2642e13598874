//! Lines of stdin, each a prompt: read in a thread, so that nobody waits for them.

use antiphon_journal::Lines;
use tokio::sync::mpsc::{Receiver, channel};

/// So many lines may wait.
const WAITING_MAX: usize = 64;

/// The lines of stdin that say something, until it ends.
pub(super) fn of_stdin() -> Receiver<String> {
    let (sender, receiver) = channel(WAITING_MAX);
    std::thread::spawn(move || {
        let mut lines = Lines::new(std::io::stdin().lock());
        // What cannot be read ends it as the end does.
        while let Ok(Some(line)) = lines.next_line() {
            let text = String::from_utf8_lossy(line.bytes).trim().to_owned();
            if !text.is_empty() && sender.blocking_send(text).is_err() {
                break;
            }
        }
    });
    receiver
}
