//! `antiphon verify`: checks that every line is what was written, and that none is missing.

use std::path::PathBuf;

use antiphon_journal::{Hash, Head};
use antiphon_library::{Environment, Store, VerifiedSession, verify_session};
use antiphon_model::Severity;
use antiphon_sources::LOG_FORMAT;
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::opened::{locate, not_opened};
use crate::terminal::{self, Page, Style, count};

#[derive(Debug, Args)]
#[command(after_help = "\
Missing lines at the end of a log cannot be detected from the log itself. Store the head that
`verify` prints elsewhere, and pass it later:
  antiphon verify run.jsonl --head 35:9f2c…")]
pub(crate) struct VerifyArgs {
    /// The sessions
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<PathBuf>,
    /// The head that the log must contain, as `n:hash`
    #[arg(long, value_name = "N:HASH")]
    head: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Outcome> {
    let head = args.head.as_deref().map(parse_head).transpose()?;
    if head.is_some() && args.sessions.len() > 1 {
        return Err(UserError::usage("--head takes exactly one session").into());
    }
    let store = Store::open_default(&Environment::of_process()).ok();
    let mut rows = Vec::new();
    for path in &args.sessions {
        let found = locate(path)?;
        let row = verify_session(path, &found, head, store.as_ref())
            .map_err(|error| not_opened(&found, error))?;
        if head.is_some() && row.format != LOG_FORMAT {
            let what = format!("{} sessions have no hashes, so there is no head", row.format);
            return Err(UserError::usage(what).into());
        }
        rows.push(row);
    }
    if args.json {
        terminal::json(&rows)?;
    } else {
        let mut page = Page::new();
        rows.iter().try_for_each(|row| print(&mut page, row))?;
        page.finish()?;
    }
    Ok(if rows.iter().all(|row| row.valid) { Outcome::Done } else { Outcome::No })
}

fn parse_head(text: &str) -> anyhow::Result<Head> {
    let parsed = text.split_once(':').and_then(|(n, hash)| {
        Some(Head { n: n.parse().ok()?, hash: Hash::parse(hash.as_bytes())? })
    });
    parsed.ok_or_else(|| {
        UserError::usage(format!("`{text}` is not a head"))
            .hint("a head has the form `n:hash`, as printed by `antiphon verify`")
            .into()
    })
}

fn print(page: &mut Page, row: &VerifiedSession) -> anyhow::Result<()> {
    let lines = usize::try_from(row.lines).unwrap_or(usize::MAX);
    let (style, word) =
        if row.valid { (Style::Good, "ok      ") } else { (Style::Bad, "damaged ") };
    page.add(style, word).plain(&row.file);
    page.faint(&format!("  {}", count(lines, "line")));
    if row.format != LOG_FORMAT {
        let format = row.format;
        page.faint(&format!(
            " in {format} format (without a chain of hashes: unreadable lines are listed, but \
             changes cannot be detected)"
        ));
    } else if row.sealed == 0 && row.unsealed > 0 {
        page.faint(" (not sealed: only the syntax can be checked)");
    }
    if !row.ended {
        page.faint(", open");
    }
    page.end()?;
    for finding in &row.findings {
        let style = match finding.severity {
            Severity::Error => Style::Bad,
            Severity::Warning => Style::Faint,
        };
        let place = format!("{}:{}", finding.file, finding.line);
        page.plain("  ").add(style, &format!("{:<13}", finding.code)).plain(&place);
        page.plain(": ").plain(&finding.message).end()?;
    }
    if let Some(against) = &row.against_head {
        page.plain("  ").plain(against).end()?;
    }
    if let Some(head) = &row.head {
        page.faint("  head ").plain(head).end()?;
    }
    Ok(())
}
