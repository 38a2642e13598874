//! `antiphon forget`: permanently deletes a session, after showing what will be deleted.

use std::io::{BufRead as _, IsTerminal as _};

use antiphon_library::{Environment, Found, Store};
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::terminal::{Page, complain};

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The session: its id, or the first few characters of it
    session: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(args: &ForgetArgs) -> anyhow::Result<Outcome> {
    let store = Store::open_default(&Environment::of_process())?;
    let finished = store.finish_forgetting()?;
    for session in &finished {
        complain(&format!("Finished an interrupted deletion of session {session}."));
    }
    if finished.iter().any(|id| *id == args.session || is_beginning(&args.session, id)) {
        return Ok(Outcome::Done);
    }
    let session = match store.find(&args.session) {
        Found::One(session) => session,
        Found::Several(_) => {
            let what = format!("`{}` matches several sessions", args.session);
            return Err(UserError::usage(what).hint("`antiphon ls` lists their ids").into());
        }
        Found::Nothing => {
            let what = format!("there is no session `{}`", args.session);
            return Err(UserError::not_found(what).hint("`antiphon ls` lists the sessions").into());
        }
    };
    let mut page = Page::live();
    page.plain(&format!("This permanently deletes session {}:", session.session_id)).end()?;
    for folder in store.kept_of(&session.session_id) {
        page.plain(&format!("  {}", folder.display())).end()?;
    }
    page.plain("The agent's own file, if it still exists, is not touched.").end()?;
    page.finish()?;
    if !args.yes {
        if !std::io::stdin().is_terminal() {
            return Err(UserError::usage("not a terminal: pass --yes to confirm").into());
        }
        complain("Delete it? [y/N]");
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            return Ok(Outcome::No);
        }
    }
    store.forget(&session.session_id)?;
    Ok(Outcome::Done)
}

/// Whether a word is a sufficient prefix of an id.
fn is_beginning(word: &str, id: &str) -> bool {
    const PREFIX_MIN: usize = 4;
    word.len() >= PREFIX_MIN && id.starts_with(word)
}
