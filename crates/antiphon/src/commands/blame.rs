//! `antiphon blame`: who wrote each line of a file, and why.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use antiphon_library::{Asked, BlamedFile};
use antiphon_views::{BlameRule, BlamedLine, trace};
use clap::Args;

use super::view::trace::print as print_trace;
use crate::failure::{Outcome, UserError, report_left_out};
use crate::fresh;
use crate::opened::Opened;
use crate::range::local_zone;
use crate::terminal::{self, Bar, Page, Style, clip, count};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon blame src/main.rs
  antiphon blame src/main.rs:10-20
  antiphon blame src/main.rs --why 12     from the prompt to the call that wrote line 12

A line is shown with `?` if no kept session wrote it: a person did, a shell command, or a session that
is not kept.")]
pub(crate) struct BlameArgs {
    /// The file, with lines if only some are wanted: PATH, PATH:LINE or PATH:FROM-TO
    #[arg(value_name = "PATH[:LINES]")]
    file: PathBuf,
    /// Show how the line with this number came about, from the person's prompt on
    #[arg(long, value_name = "LINE")]
    why: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &BlameArgs) -> anyhow::Result<Outcome> {
    let (path, range) = file_and_lines(&args.file)?;
    let range = args.why.map(|line| line..=line).or(range);
    let store = fresh::store(Asked::Catalogue)?;
    let bar = Bar::new("sessions read");
    let blamed = store.blame(&path, range.as_ref(), &|done, of| bar.show(done, of));
    drop(bar);
    let BlamedFile { blame, left_out } = blamed?;
    let outcome = report_left_out(&left_out);
    if let Some(line) = args.why {
        let Some(found) = blame.lines.first() else {
            return Err(UserError::not_found(format!("there is no line {line}")).into());
        };
        return why(found, args.json);
    }
    if args.json {
        terminal::json(&blame)?;
    } else {
        print(&blame.lines)?;
    }
    Ok(outcome)
}

/// `PATH:10-20`, unless a file has that name.
fn file_and_lines(file: &Path) -> anyhow::Result<(PathBuf, Option<RangeInclusive<usize>>)> {
    let split = file.to_str().filter(|_| !file.exists()).and_then(|text| text.rsplit_once(':'));
    let Some((path, lines)) = split else { return Ok((file.to_owned(), None)) };
    let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
    match (from.parse::<usize>(), to.parse::<usize>()) {
        (Ok(from), Ok(to)) if 0 < from && from <= to => Ok((path.into(), Some(from..=to))),
        _ => {
            let error = UserError::usage(format!("`{lines}` does not name lines"));
            Err(error.hint("for example src/main.rs:12 or src/main.rs:10-20").into())
        }
    }
}

fn why(line: &BlamedLine, json: bool) -> anyhow::Result<Outcome> {
    let (Some(session), Some(message)) = (&line.session, &line.message_id) else {
        let unknown = UserError::not_found("no kept session wrote this line");
        return Err(unknown.hint("a person or a shell command may have").into());
    };
    let opened = Opened::read(Path::new(session))?;
    let steps = trace(&opened.reading(), opened.event(message)?)?;
    super::view::present(&opened, json, &steps, |page, steps| print_trace(page, steps, false))
}

const PROMPT_WIDTH: usize = 24;

fn print(lines: &[BlamedLine]) -> anyhow::Result<()> {
    let mut page = Page::new();
    let zone = local_zone();
    let number_width = lines.last().map_or(1, |line| line.line.to_string().len());
    let mut before: Option<&BlamedLine> = None;
    for line in lines {
        let is_same = before.is_some_and(|it| it.call_id == line.call_id && it.rule == line.rule);
        before = Some(line);
        let id: String = line.session.as_deref().unwrap_or("?").chars().take(8).collect();
        let day = line.timestamp.and_then(|at| zone.minute_name(at)).unwrap_or_default();
        let day = day.get(..10).unwrap_or_default();
        let prompt = clip(line.prompt.as_deref().unwrap_or_default(), PROMPT_WIDTH);
        let style = match line.rule {
            BlameRule::Inserted => Style::Call,
            BlameRule::Moved => Style::Name,
            BlameRule::Unknown => Style::Faint,
        };
        page.add(style, &format!("{id:<8} "));
        // A row that repeats the one above says so by its colour alone.
        let words = format!("{day:<10} {}", terminal::pad(&prompt, PROMPT_WIDTH));
        page.add(if is_same { Style::Faint } else { Style::Plain }, &words);
        page.faint(&format!(" {:>number_width$}) ", line.line));
        page.add_line(Style::Plain, &line.text)?;
    }
    if !lines.is_empty() {
        let unknown = lines.iter().filter(|line| line.rule == BlameRule::Unknown).count();
        let known = lines.len() - unknown;
        page.faint(&format!("{} of {} written by agents", known, count(lines.len(), "line")));
        page.end()?;
    }
    page.finish()
}
