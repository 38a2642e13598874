//! `antiphon changes`: what sessions changed, as a diff.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use antiphon_catalog::SessionQuery;
use antiphon_library::{Asked, EditedSessions, Environment, project_query, root_of};
use antiphon_views::{Base, Changes, EditLog, FileStatus, changes};
use clap::Args;

use crate::failure::{Outcome, UserError, report_left_out};
use crate::fresh;
use crate::opened::Opened;
use crate::range::RangeArgs;
use crate::terminal::{self, Bar, Page, Style, clip, clip_path, complain, count};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon changes latest
  antiphon changes latest --stat
  antiphon changes --since today --project .
  antiphon changes latest | git apply        the same changes, in another copy

The diff consists of what the edits of agents say. What a shell command may have changed is not known;
such commands are listed on stderr.")]
pub(crate) struct ChangesArgs {
    /// The sessions
    #[arg(value_name = "SESSION")]
    sessions: Vec<PathBuf>,
    #[command(flatten)]
    range: RangeArgs,
    /// All sessions of this project; `.` is the repository around the current folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "sessions")]
    project: Option<String>,
    /// Only this file: its path within the project, or the end of it
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// List the files, without their lines
    #[arg(long)]
    stat: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ChangesArgs) -> anyhow::Result<Outcome> {
    let range = args.range.range()?;
    let (mut log, outcome) = match args.sessions.is_empty() {
        false => named(&args.sessions)?,
        true if args.project.is_none() && range.since.is_none() => {
            let error = UserError::usage("name a session, or use --since or --project");
            return Err(error.hint("`antiphon changes latest` is the latest session").into());
        }
        true => {
            let environment = Environment::of_process();
            let project = args.project.as_deref().map(|it| project_query(it, &environment));
            let query = SessionQuery { project, since: range.since, ..SessionQuery::default() };
            let bar = Bar::new("sessions read");
            let store = fresh::store(Asked::Catalogue)?;
            let EditedSessions { log, left_out } =
                store.edits(&query, &|done, of| bar.show(done, of))?;
            drop(bar);
            (log, report_left_out(&left_out))
        }
    };
    log.keep_between(range.since, range.until);
    let changes = changes(log, args.file.as_deref());
    if args.json {
        terminal::json(&changes)?;
    } else if args.stat {
        print_stat(&changes)?;
    } else if std::io::stdout().is_terminal() {
        print_diff(&changes.diff)?;
    } else {
        // Byte for byte, so that it can be applied.
        terminal::document(&changes.diff)?;
    }
    if !args.json {
        print_possible(&changes);
    }
    Ok(outcome)
}

/// The edits of the sessions that a person names.
fn named(sessions: &[PathBuf]) -> anyhow::Result<(EditLog, Outcome)> {
    let (mut log, mut outcome) = (EditLog::default(), Outcome::Done);
    for session in sessions {
        let opened = Opened::read(session)?;
        let root = root_of(opened.session.info().cwd.as_deref());
        log.add(&opened.reading(), &opened.id(), root.as_deref())?;
        if let bad @ Outcome::BadInput = opened.outcome() {
            outcome = bad;
        }
    }
    Ok((log, outcome))
}

fn print_diff(diff: &str) -> anyhow::Result<()> {
    let mut page = Page::new();
    for line in diff.lines() {
        page.add_line(diff_style(line), line)?;
    }
    page.finish()
}

/// How a line of a diff is shown.
pub(super) fn diff_style(line: &str) -> Style {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', ..] => Style::Head,
        [b'+', ..] => Style::Good,
        [b'-', ..] => Style::Removed,
        [b'@', ..] => Style::Name,
        [b' ', ..] => Style::Plain,
        _ => Style::Faint,
    }
}

fn print_stat(changes: &Changes) -> anyhow::Result<()> {
    let mut page = Page::new();
    let room = page.width.unwrap_or(100).saturating_sub(34).max(20);
    let paths: Vec<String> = changes.files.iter().map(|file| clip_path(&file.path, room)).collect();
    let width = paths.iter().map(|path| path.chars().count()).max().unwrap_or_default();
    for (file, path) in changes.files.iter().zip(&paths) {
        page.plain(&format!("{path:<width$}  "));
        let style = match file.status {
            FileStatus::Added => Style::Good,
            FileStatus::Deleted => Style::Removed,
            FileStatus::Modified | FileStatus::Renamed => Style::Plain,
        };
        page.add(style, &format!("{:<8}  ", file.status.as_str()));
        page.add(Style::Good, &format!("{:>6} ", format!("+{}", file.added)));
        page.add(Style::Removed, &format!("{:>6}", format!("-{}", file.removed)));
        if file.base == Base::Unknown {
            page.faint("  in part");
        }
        page.end()?;
    }
    let (added, removed) = changes
        .files
        .iter()
        .fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    let files = count(changes.files.len(), "file");
    page.faint(&format!(
        "{files} changed, {} added, {} removed",
        count(added, "line"),
        count(removed, "line")
    ));
    page.end()?;
    page.finish()
}

/// Lists the commands that may have changed files.
fn print_possible(changes: &Changes) {
    const SHOWN: usize = 20;
    let possible = &changes.possible;
    if possible.is_empty() {
        return;
    }
    let commands = count(possible.len(), "shell command");
    complain(&format!("{commands} may have changed files too; that is not in the diff:"));
    for change in possible.iter().take(SHOWN) {
        complain(&format!("  {}", clip(&change.command, 76)));
    }
    if possible.len() > SHOWN {
        complain(&format!("  … and {} more: --json lists them all", possible.len() - SHOWN));
    }
}
