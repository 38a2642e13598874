//! `resume --restore`, `--run`, `--as AGENT`: an agent goes on with its own session.

use std::process::Command;

use antiphon_formats::{FORMATS, Format};
use antiphon_library::{Environment, Restored, restore};

use super::ResumeArgs;
use crate::failure::{Outcome, UserError};
use crate::opened::{Opened, locate};
use crate::shell::quoted;
use crate::terminal::{Page, Style, complain, product};

pub(super) fn run(args: &ResumeArgs, wanted: Option<&str>) -> anyhow::Result<Outcome> {
    let can_resume = |format: &&Format| !format.layout.resume.is_empty();
    let known = FORMATS.iter().filter(can_resume);
    if let Some(wanted) = wanted
        && !known.clone().any(|format| format.name == wanted)
    {
        let names: Vec<&str> = known.map(|format| format.name).collect();
        let error = UserError::usage(format!("nothing can go on as `{wanted}`"));
        let hint = format!("use openai, anthropic, {}", names.join(" or "));
        return Err(error.hint(hint).into());
    }
    let opened = Opened::read(&args.session)?;
    if let Some(wanted) = wanted.filter(|wanted| *wanted != opened.format) {
        let (is, wanted) = (product(opened.format), product(wanted));
        let error = UserError::usage(format!("this is a session of {is}, not of {wanted}"));
        return Err(error.hint("--as openai and --as anthropic work for every session").into());
    }
    let path = locate(&args.session)?;
    match restore(&path, &Environment::of_process())? {
        Restored::Written(path) => complain(&format!("Written: {}", path.display())),
        Restored::There(path) => complain(&format!("Already there: {}", path.display())),
    }
    let format = antiphon_formats::find(opened.format).filter(can_resume);
    let Some(format) = format else {
        complain(&format!("How {} goes on with a session is not known.", product(opened.format)));
        return Ok(opened.outcome());
    };
    let id = opened.id();
    let words: Vec<String> =
        format.layout.resume.iter().map(|word| word.replace("{}", &id)).collect();
    if args.run {
        // The id comes from a file, and must be nothing but an id to the program that gets it.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if id.starts_with('-') || !id.chars().all(is_plain) {
            return Err(UserError::failed(format!("`{id}` is not the id of a session")).into());
        }
        return start(&words);
    }
    let mut page = Page::new();
    page.add(Style::Call, &quoted(&words));
    if let Some(folder) = opened.session.info().cwd.as_deref() {
        page.faint(&format!("  in {folder}"));
    }
    page.end()?;
    page.finish()?;
    Ok(opened.outcome())
}

/// Starts the agent, and ends as it does.
fn start(words: &[String]) -> anyhow::Result<Outcome> {
    let Some((program, arguments)) = words.split_first() else { return Ok(Outcome::No) };
    let status = Command::new(program).args(arguments).status();
    let status = status
        .map_err(|error| UserError::with_exit(format!("cannot start `{program}`: {error}"), 127))?;
    Ok(Outcome::Exit(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
