//! The store as commands read it: with what is new.
//!
//! Every command that answers from the store gets it here, so that the answer is as new as the
//! agents' own files. What changes the store opens it itself ([`Store::open_default`]).

use std::sync::OnceLock;

use antiphon_library::{Asked, Config, Environment, FRESH_WITHIN, Freshened, Store, StoreError};

use crate::terminal::{complain, count};

/// Whether a person asked for the store as it is.
static NO_SYNC: OnceLock<bool> = OnceLock::new();

/// The store, once it was opened, and what is not in it.
static OPENED: OnceLock<(Store, Freshened)> = OnceLock::new();

/// `--no-sync`.
pub(crate) fn set_no_sync(no_sync: bool) {
    let _ = NO_SYNC.set(no_sync);
}

/// The store, with what is new of the agents' sessions as far as there is time.
pub(crate) fn store(asked: Asked) -> anyhow::Result<Store> {
    if let Some((store, _)) = OPENED.get() {
        return Ok(store.clone());
    }
    let environment = Environment::of_process();
    let store = Store::open_default(&environment)?;
    let is_wanted = !NO_SYNC.get().copied().unwrap_or_default()
        && Config::load(None, &environment)?.library.fresh;
    let freshened = match is_wanted {
        true => store.freshen(&environment, asked, FRESH_WITHIN),
        false => Freshened::default(),
    };
    Ok(OPENED.get_or_init(|| (store, freshened)).0.clone())
}

/// The same, where a command can do without a store; but not with one that it does not understand.
pub(crate) fn store_if_any(asked: Asked) -> anyhow::Result<Option<Store>> {
    match store(asked) {
        Err(error) if matches!(error.downcast_ref(), Some(StoreError::Homeless)) => Ok(None),
        store => store.map(Some),
    }
}

/// Says on stderr what the answer may lack. It comes last, so that no pager hides it.
pub(crate) fn report_left() {
    let Some((store, freshened)) = OPENED.get() else { return };
    let Freshened { left, is_cut, is_deleting, .. } = *freshened;
    let newer = left.max(store.behind());
    if is_deleting {
        complain(
            "A session is being deleted, so nothing new was copied; `antiphon sync` does both.",
        );
    } else if newer > 0 {
        let (sessions, are) = (count(newer, "session"), if newer == 1 { "is" } else { "are" });
        let least = if is_cut { "At least " } else { "" };
        complain(&format!("{least}{sessions} {are} newer; `antiphon sync` copies everything."));
    } else if is_cut {
        complain("There was no time to look at all sessions; `antiphon sync` copies what is new.");
    }
}
