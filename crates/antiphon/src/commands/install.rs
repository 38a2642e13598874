//! `antiphon install`: an agent's hooks, so that its sessions are kept as they happen.
//!
//! The settings are the user's own file. It is changed only where our hooks stand, after the user
//! has seen how, whole or not at all, and a copy of it as it was stays beside it. What was there is
//! remembered, so that to remove the hooks brings it back.

mod remembered;
mod settings;

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use antiphon_formats::{Format, Hooks};
use antiphon_journal::regular;
use antiphon_journal::{Clock, SystemClock};
use antiphon_library::{Environment, Store};
use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use similar::{ChangeTag, TextDiff};

use crate::failure::{Outcome, UserError};
use crate::terminal::{self, Page, Style};
use remembered::Remembered;
use settings::{NotSettings, Settings};

#[derive(Debug, Args)]
#[command(after_help = "\
The change to the settings is shown first and must be confirmed; a backup of the file is kept
beside it. `docs/hooks.md` describes what is copied, and where.

Examples:
  antiphon install claude-code
  antiphon install claude-code --remove")]
pub(crate) struct InstallArgs {
    /// The agent
    #[arg(value_parser = hooked_agent())]
    agent: Hooked,
    /// Remove the hooks
    #[arg(long)]
    remove: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// An agent whose hooks are known.
pub(crate) type Hooked = (&'static Format, &'static Hooks);

fn hooked_agent() -> impl TypedValueParser<Value = Hooked> {
    let names = antiphon_formats::hooked().map(|(format, _)| format.name);
    let find = |name: String| antiphon_formats::hooked().find(|(format, _)| format.name == name);
    PossibleValuesParser::new(names).try_map(move |name| find(name).ok_or("no such agent"))
}

pub(crate) fn run(args: &InstallArgs) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let (agent, hooks) = args.agent;
    let path = settings_path(agent, hooks, &environment)?;
    remove_half_written(&path);
    let before = read(&path, agent)?;
    let text = before.as_deref().unwrap_or_default();
    let store = Store::open_default(&environment)?;
    let remembered = Remembered::read(&store, &path);
    let known = remembered.as_ref().and_then(|it| it.before.as_deref());
    let settings = Settings::new(agent, hooks, known);
    let change = match args.remove {
        true => without_ours(before.as_deref(), remembered.as_ref(), &settings),
        false => settings.with_hooks(text, &settings.command(&program()?)).map(Some),
    };
    let change = change.map_err(|error| not_settings(&path, agent, &error))?;
    if change == before || change.as_deref() == Some(text) {
        let said = if args.remove { "has no Antiphon hooks" } else { "already has the hooks" };
        terminal::lines(&format!("`{}` {said}; nothing to change.", path.display()))?;
        return Ok(Outcome::Done);
    }
    show(&path, text, change.as_deref().unwrap_or_default())?;
    if !args.yes && !agrees()? {
        terminal::lines("Nothing changed.")?;
        return Ok(Outcome::No);
    }
    if read(&path, agent)? != before {
        let what = format!("`{}` was changed in the meantime", path.display());
        return Err(UserError::failed(what).hint("run the command again").into());
    }
    let Some(after) = change else {
        fs::remove_file(&path).with_context(|| format!("cannot remove `{}`", path.display()))?;
        Remembered::forget(&store, &path);
        terminal::lines(&format!("\nRemoved {} (nothing else was in it)", path.display()))?;
        return Ok(Outcome::Done);
    };
    let backup = before.is_some().then(|| back_up(&path)).transpose()?;
    if !args.remove {
        let was = without_ours(before.as_deref(), remembered.as_ref(), &settings);
        let was = was.map_err(|error| not_settings(&path, agent, &error))?;
        Remembered::write(&store, &path, was, &after)
            .with_context(|| format!("cannot write to `{}`", store.root().display()))?;
    }
    write(&path, &after).with_context(|| format!("cannot write `{}`", path.display()))?;
    if args.remove {
        Remembered::forget(&store, &path);
    }
    report(args, &store, &path, backup.as_deref())
}

/// The settings without our hooks: as they were before those came, if nothing else has changed
/// since; nothing, where there was no file and nothing has come into it.
fn without_ours(
    now: Option<&str>,
    remembered: Option<&Remembered>,
    settings: &Settings,
) -> Result<Option<String>, NotSettings> {
    let Some(text) = now else { return Ok(None) };
    let without = settings.without_hooks(text)?;
    if without == text {
        return Ok(Some(without));
    }
    if let Some(Remembered { before, after, .. }) = remembered {
        if settings.without_hooks(after)? == without {
            return Ok(before.clone());
        }
        if before.is_none() && without.trim() == "{}" {
            return Ok(None);
        }
    }
    Ok(Some(without))
}

/// Where the agent's own settings are; where a link leads, if it is one.
fn settings_path(
    agent: &Format,
    hooks: &Hooks,
    environment: &Environment,
) -> anyhow::Result<PathBuf> {
    let folders = agent.layout.kept.as_ref().map(|kept| environment.agent_folders(kept));
    let folder = folders.into_iter().flatten().next();
    let folder =
        folder.ok_or_else(|| UserError::failed("cannot find the home folder: $HOME is not set"))?;
    let path = folder.join(hooks.settings);
    if path.is_symlink() {
        let shown = path.display().to_string();
        return path.canonicalize().with_context(|| format!("`{shown}` is a broken link"));
    }
    Ok(path)
}

/// `None` where there is no file.
fn read(path: &Path, agent: &Format) -> anyhow::Result<Option<String>> {
    match regular::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(Some(text)),
        Ok(Err(_)) => Err(not_settings(path, agent, &NotSettings::text())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
}

fn not_settings(path: &Path, agent: &Format, error: &NotSettings) -> anyhow::Error {
    UserError::failed(format!("`{}` was not changed: {error}", path.display()))
        .hint(format!("fix it by hand first; {} cannot read it either", agent.product))
        .into()
}

/// This program, however it was called.
fn program() -> anyhow::Result<String> {
    let program = std::env::current_exe()?;
    let program = program.to_str().context("the path of this program is not valid UTF-8")?;
    Ok(program.to_owned())
}

/// What is changed, as a difference of lines.
fn show(path: &Path, before: &str, after: &str) -> anyhow::Result<()> {
    let mut page = Page::live();
    page.add(Style::Head, &path.display().to_string()).end()?;
    let diff = TextDiff::from_lines(before, after);
    for (at, group) in diff.grouped_ops(2).iter().enumerate() {
        if at > 0 {
            page.faint("  …").end()?;
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (style, sign) = match change.tag() {
                ChangeTag::Insert => (Style::Good, "+"),
                ChangeTag::Delete => (Style::Bad, "-"),
                ChangeTag::Equal => (Style::Faint, " "),
            };
            page.add(style, &format!("{sign} {}", change.value().trim_end())).end()?;
        }
    }
    page.finish()
}

fn agrees() -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(UserError::usage("not a terminal: pass --yes to confirm").into());
    }
    terminal::lines("Apply this change? [y/N]")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Copies the file as it is, with its permissions, under a name that was never used.
fn back_up(path: &Path) -> anyhow::Result<PathBuf> {
    let now = SystemClock.now().to_string();
    let digits: String = now.chars().filter(char::is_ascii_digit).collect();
    for number in 1..=1000 {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}", digits.get(..14).unwrap_or(&digits)));
        if number > 1 {
            name.push(format!("-{number}"));
        }
        name.push(".backup");
        let backup = path.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&backup) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot write `{}`", backup.display()));
            }
        }
        fs::copy(path, &backup).with_context(|| format!("cannot write `{}`", backup.display()))?;
        return Ok(backup);
    }
    Err(UserError::failed("cannot create a backup: too many were made in this second").into())
}

/// The file is there as it was, or as it shall be, and nothing between.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| match fs::metadata(path) {
        Ok(metadata) => file.set_permissions(metadata.permissions()),
        Err(_) => Ok(()),
    });
    let written = written.and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// Removes what an installation has left that was killed while it wrote.
fn remove_half_written(path: &Path) {
    let begin = format!("{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(".new"));
        if process.and_then(|id| id.parse().ok()).is_some_and(|id| !is_running(id)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether there is a process of that number, other than this.
fn is_running(id: i32) -> bool {
    if u32::try_from(id).is_ok_and(|id| id == std::process::id()) {
        return false;
    }
    #[cfg(unix)]
    {
        let process = rustix::process::Pid::from_raw(id);
        let asked = process.map(rustix::process::test_kill_process);
        asked.is_some_and(|asked| asked != Err(rustix::io::Errno::SRCH))
    }
    #[cfg(not(unix))]
    true
}

fn report(
    args: &InstallArgs,
    store: &Store,
    path: &Path,
    backup: Option<&Path>,
) -> anyhow::Result<Outcome> {
    let mut page = Page::live();
    page.end()?;
    page.plain(&format!("Updated {}", path.display()));
    if let Some(backup) = backup {
        page.plain(&format!(" (backup: {})", backup.display()));
    }
    page.end()?;
    if !args.remove {
        let (agent, _) = args.agent;
        page.plain(&format!(
            "From the next prompt on, {}'s sessions are copied to ",
            agent.product
        ));
        page.plain(&format!("`{}`; list them with `antiphon ls`.", store.root().display()))
            .end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}
