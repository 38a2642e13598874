//! `antiphon install`: an agent's hooks, so that its sessions are kept as they happen; or a server
//! that answers the agent's questions about them.
//!
//! The settings are the user's own file. It is changed only where our entries stand, after the user
//! has seen how, whole or not at all, and a copy of it as it was stays beside it. What was there is
//! remembered, so that to remove our entries brings it back.

mod json_text;
mod remembered;
mod servers;
mod settings;

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use antiphon_formats::{FORMATS, Format, Hooks, SettingsFolder};
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
use servers::Server;
use settings::{NotSettings, Settings};

#[derive(Debug, Args)]
#[command(after_help = "\
The change to the settings is shown first and must be confirmed; a backup of the file is kept
beside it. `docs/hooks.md` describes what is copied, and where; `docs/mcp.md` what can be asked.

Examples:
  antiphon install claude-code
  antiphon install claude-code --remove
  antiphon install codex --mcp")]
pub(crate) struct InstallArgs {
    /// The agent
    #[arg(value_parser = known_agent())]
    agent: &'static Format,
    /// Instead of hooks, add a server that answers the agent's questions about earlier sessions
    #[arg(long)]
    mcp: bool,
    /// Let the server answer questions about the sessions of all projects
    #[arg(long, requires = "mcp")]
    all_projects: bool,
    /// Remove what was installed
    #[arg(long)]
    remove: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// An agent whose hooks are known.
pub(crate) type Hooked = (&'static Format, &'static Hooks);

/// An agent that has hooks or takes servers.
fn known_agent() -> impl TypedValueParser<Value = &'static Format> {
    let is_known =
        |format: &&Format| format.layout.hooks.is_some() || format.layout.servers.is_some();
    let names = FORMATS.iter().filter(is_known).map(|format| format.name);
    PossibleValuesParser::new(names)
        .try_map(|name| antiphon_formats::find(&name).ok_or("no such agent"))
}

/// How often a change is tried, if the agent writes its settings at the same time.
const TRIES: usize = 3;

pub(crate) fn run(args: &InstallArgs) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let path = settings_path(args, &environment)?;
    remove_half_written(&path);
    let store = Store::open_default(&environment)?;
    let mut is_agreed = args.yes;
    for _ in 0..TRIES {
        let before = read(&path, args.agent)?;
        let remembered = Remembered::read(&store, &path, args.kind());
        let entry = Entry::new(args, remembered.as_ref())?;
        let change = changed(args, before.as_deref(), remembered.as_ref(), &entry);
        let change = change.map_err(|error| not_settings(&path, args.agent, &error))?;
        let text = before.as_deref().unwrap_or_default();
        if change == before || change.as_deref() == Some(text) {
            terminal::lines(&format!("`{}` {}; nothing to change.", path.display(), args.state()))?;
            return Ok(Outcome::Done);
        }
        // What was agreed to is agreed to if only something else in the file has changed since.
        if !is_agreed || args.yes {
            show(&path, text, change.as_deref().unwrap_or_default())?;
        }
        if !is_agreed && !agrees()? {
            terminal::lines("Nothing changed.")?;
            return Ok(Outcome::No);
        }
        is_agreed = true;
        match apply(args, &store, &path, before.as_deref(), change, &entry)? {
            Applied::Written { backup } => return report(args, &store, &path, backup.as_deref()),
            Applied::Removed => {
                let shown = path.display();
                terminal::lines(&format!("\nRemoved {shown} (nothing else was in it)"))?;
                return Ok(Outcome::Done);
            }
            Applied::Interfered => {}
        }
    }
    let what = format!("`{}` was changed by another program each time", path.display());
    let hint = format!("close {} and run the command again", args.agent.product);
    Err(UserError::failed(what).hint(hint).into())
}

impl InstallArgs {
    /// What tells apart two things that may be installed in the same settings.
    fn kind(&self) -> &'static str {
        if self.mcp { "-mcp" } else { "" }
    }

    /// How the settings are if nothing is to be changed.
    fn state(&self) -> &'static str {
        match (self.mcp, self.remove) {
            (false, false) => "already has the hooks",
            (false, true) => "has no Antiphon hooks",
            (true, false) => "already has the server",
            (true, true) => "has no Antiphon server",
        }
    }
}

/// What is installed.
#[derive(Debug)]
enum Entry {
    Hooks(Settings),
    Server(Server),
}

impl Entry {
    fn new(args: &InstallArgs, remembered: Option<&Remembered>) -> anyhow::Result<Self> {
        let before = remembered.and_then(|it| it.before.as_deref());
        let layout = &args.agent.layout;
        match (args.mcp, &layout.hooks, &layout.servers) {
            (true, _, Some(servers)) => {
                Ok(Self::Server(Server::new(servers, program()?, args.all_projects, before)))
            }
            (false, Some(hooks), _) => Ok(Self::Hooks(Settings::new(args.agent, hooks, before))),
            (true, _, None) | (false, None, _) => Err(not_known(args)),
        }
    }

    fn with(&self, text: &str) -> anyhow::Result<Result<String, NotSettings>> {
        Ok(match self {
            Self::Hooks(settings) => settings.with_hooks(text, &settings.command(&program()?)),
            Self::Server(server) => server.with(text),
        })
    }

    fn without(&self, text: &str) -> Result<String, NotSettings> {
        match self {
            Self::Hooks(settings) => settings.without_hooks(text),
            Self::Server(server) => server.without(text),
        }
    }
}

/// The settings as they shall be; `None` if the file goes.
fn changed(
    args: &InstallArgs,
    before: Option<&str>,
    remembered: Option<&Remembered>,
    entry: &Entry,
) -> Result<Option<String>, NotSettings> {
    if args.remove {
        return without_ours(before, remembered, entry);
    }
    match entry.with(before.unwrap_or_default()) {
        Ok(with) => with.map(Some),
        Err(error) => Err(NotSettings::new(error.to_string())),
    }
}

/// What became of a change.
#[derive(Debug)]
enum Applied {
    Written {
        backup: Option<PathBuf>,
    },
    Removed,
    /// Another program has changed the file since it was read.
    Interfered,
}

fn apply(
    args: &InstallArgs,
    store: &Store,
    path: &Path,
    before: Option<&str>,
    change: Option<String>,
    entry: &Entry,
) -> anyhow::Result<Applied> {
    let is_as_read = || read(path, args.agent).is_ok_and(|now| now.as_deref() == before);
    let Some(after) = change else {
        if !is_as_read() {
            return Ok(Applied::Interfered);
        }
        fs::remove_file(path).with_context(|| format!("cannot remove `{}`", path.display()))?;
        Remembered::forget(store, path, args.kind());
        return Ok(Applied::Removed);
    };
    let backup = before.is_some().then(|| back_up(path)).transpose()?;
    if !args.remove {
        let remembered = Remembered::read(store, path, args.kind());
        let was = without_ours(before, remembered.as_ref(), entry);
        let was = was.map_err(|error| not_settings(path, args.agent, &error))?;
        Remembered::write(store, path, args.kind(), was, &after)
            .with_context(|| format!("cannot write to `{}`", store.root().display()))?;
    }
    let written = write(path, &after, &is_as_read);
    if !written.with_context(|| format!("cannot write `{}`", path.display()))? {
        // The copy is of a state that is not the last one.
        backup.iter().for_each(|backup| drop(fs::remove_file(backup)));
        return Ok(Applied::Interfered);
    }
    if args.remove {
        Remembered::forget(store, path, args.kind());
    }
    Ok(Applied::Written { backup })
}

/// The settings without our entries: as they were before those came, if nothing else has changed
/// since; nothing, where there was no file and nothing has come into it.
fn without_ours(
    now: Option<&str>,
    remembered: Option<&Remembered>,
    entry: &Entry,
) -> Result<Option<String>, NotSettings> {
    let Some(text) = now else { return Ok(None) };
    let without = entry.without(text)?;
    if without == text {
        return Ok(Some(without));
    }
    if let Some(Remembered { before, after, .. }) = remembered {
        if entry.without(after)? == without {
            return Ok(before.clone());
        }
        if before.is_none() && matches!(without.trim(), "" | "{}") {
            return Ok(None);
        }
    }
    Ok(Some(without))
}

fn not_known(args: &InstallArgs) -> anyhow::Error {
    let product = args.agent.product;
    match args.mcp {
        true => UserError::usage(format!("how {product} is told of servers is not known")).into(),
        false => UserError::usage(format!("{product} has no hooks that are known"))
            .hint(format!(
                "`antiphon install {} --mcp` adds a server; `antiphon sync` copies its sessions",
                args.agent.name
            ))
            .into(),
    }
}

/// Where the agent's own settings are; where a link leads, if it is one.
fn settings_path(args: &InstallArgs, environment: &Environment) -> anyhow::Result<PathBuf> {
    let layout = &args.agent.layout;
    let folders = layout.kept.as_ref().map(|kept| environment.agent_folders(kept));
    let of_agent = folders.into_iter().flatten().next();
    let is_named =
        layout.kept.as_ref().is_some_and(|kept| environment.agents.contains_key(kept.variable));
    let (folder, files): (Option<PathBuf>, &[&str]) =
        match (args.mcp, &layout.hooks, &layout.servers) {
            (true, _, Some(servers)) => {
                let folder = match servers.folder {
                    SettingsFolder::Agent => of_agent,
                    SettingsFolder::Home if is_named => of_agent,
                    SettingsFolder::Home => environment.home.clone(),
                    SettingsFolder::Configuration(name) => environment.configuration(name),
                };
                (folder, servers.files)
            }
            (false, Some(hooks), _) => (of_agent, std::slice::from_ref(&hooks.settings)),
            (true, _, None) | (false, None, _) => return Err(not_known(args)),
        };
    let folder =
        folder.ok_or_else(|| UserError::failed("cannot find the home folder: $HOME is not set"))?;
    let paths = || files.iter().map(|file| folder.join(file));
    let path = paths().find(|path| path.exists()).or_else(|| paths().next()).unwrap_or_default();
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

/// The file is there as it was, or as it shall be, and nothing between. `false` if it is not as it
/// was read any more: some agents write their settings themselves, at any time.
fn write(path: &Path, text: &str, is_as_read: &dyn Fn() -> bool) -> io::Result<bool> {
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
    let written = written.and_then(|()| match is_as_read() {
        true => fs::rename(&new, path).map(|()| true),
        false => Ok(false),
    });
    if !matches!(written, Ok(true)) {
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
    if !args.remove && args.mcp {
        let product = args.agent.product;
        page.plain(&format!("From its next start on, {product} can ask about earlier sessions"));
        page.plain(if args.all_projects {
            " of all projects."
        } else {
            " of the project it is in."
        });
        page.end()?;
    } else if !args.remove {
        page.plain(&format!(
            "From the next prompt on, {}'s sessions are copied to ",
            args.agent.product
        ));
        page.plain(&format!("`{}`; list them with `antiphon ls`.", store.root().display()))
            .end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}
