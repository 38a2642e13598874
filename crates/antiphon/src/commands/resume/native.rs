//! `resume --run`, `--as AGENT`: an agent continues its own session.

use std::path::Path;
use std::process::Command;

use antiphon_formats::{FORMATS, Format};
use antiphon_library::{Environment, NativeFile, restore, resumption};

use super::{ResumeArgs, print_command};
use crate::failure::{Outcome, UserError};
use crate::opened::{Opened, locate};
use crate::terminal::{Page, complain, product};

pub(super) fn run(args: &ResumeArgs, wanted: Option<&str>) -> anyhow::Result<Outcome> {
    let can_resume = |format: &&Format| !format.layout.resume.is_empty();
    let known = FORMATS.iter().filter(can_resume);
    if let Some(wanted) = wanted
        && !known.clone().any(|format| format.name == wanted)
    {
        let names: Vec<&str> = known.map(|format| format.name).collect();
        let error = UserError::usage(format!("no session can be continued as `{wanted}`"));
        let hint = format!("use openai, anthropic, {}", names.join(" or "));
        return Err(error.hint(hint).into());
    }
    let opened = Opened::read(&args.session)?;
    if let Some(wanted) = wanted.filter(|wanted| *wanted != opened.format) {
        let (is, wanted) = (product(opened.format), product(wanted));
        let error = UserError::usage(format!("this is a session of {is}, not of {wanted}"));
        return Err(error.hint("--as openai and --as anthropic work for every session").into());
    }
    // Whether there is a command is known before anything is written.
    let command = resumption(&opened, None)?.command;
    if command.is_none() {
        let what = format!("how {} continues this session is not known", product(opened.format));
        return Err(UserError::failed(what).into());
    }
    let native = NativeFile::from(restore(&locate(&args.session)?, &Environment::of_process())?);
    let is_restored = native.restored;
    let found = resumption(&opened, Some(native))?;
    if !args.run {
        let mut page = Page::new();
        print_command(&mut page, &found, args)?;
        page.finish()?;
        return Ok(opened.outcome());
    }
    if let Some(native) = found.native.filter(|_| is_restored) {
        complain(&format!("Restored {}", native.path));
    }
    let id = opened.id();
    let words = antiphon_formats::find(opened.format).map(|format| format.layout.resume);
    let words = words.unwrap_or_default().iter().map(|word| word.replace("{}", &id));
    start(&words.collect::<Vec<_>>(), opened.session.info().cwd.as_deref())
}

/// Starts the agent in the session's folder, in our place.
fn start(words: &[String], folder: Option<&str>) -> anyhow::Result<Outcome> {
    let Some((program, arguments)) = words.split_first() else { return Ok(Outcome::No) };
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(folder) = folder {
        if !Path::new(folder).is_dir() {
            let what = format!("the session's folder `{folder}` does not exist any more");
            return Err(UserError::failed(what).into());
        }
        command.current_dir(folder);
    }
    crate::fresh::report_left();
    let failed = |error| UserError::with_exit(format!("cannot start `{program}`: {error}"), 127);
    // A process that waits would be ended by the Ctrl-C that is meant for the agent.
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        Err(failed(command.exec()).into())
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(failed)?;
        Ok(Outcome::Exit(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
    }
}
