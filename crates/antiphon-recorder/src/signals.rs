//! Signals that are meant for the command.

use std::sync::mpsc::Sender;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::child::Notice;

/// Passes on every signal that we receive.
pub(crate) fn watch(notices: Sender<Notice>) -> std::io::Result<()> {
    let kinds = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT];
    let mut signals = SignalsInfo::<WithOrigin>::new(kinds)?;
    std::thread::spawn(move || {
        for Origin { signal, cause, .. } in signals.forever() {
            // The terminal sends its signals to the whole group, so the command has received them.
            let is_ours_alone = matches!(cause, Cause::Sent(_));
            if notices.send(Notice::Signal { signal, is_ours_alone }).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Whether a signal asks to stop.
pub(crate) fn asks_to_stop(signal: i32) -> bool {
    matches!(signal, SIGHUP | SIGINT | SIGQUIT | SIGTERM)
}
