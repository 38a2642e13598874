//! `antiphon digest`: what sessions did, by project.

mod markdown;
mod text;

use antiphon_catalog::SessionQuery;
use antiphon_library::{Asked, Environment, project_query};
use clap::Args;

use super::NOTHING_KEPT;
use crate::failure::{Outcome, report_left_out};
use crate::fresh;
use crate::range::RangeArgs;
use crate::redaction::Redaction;
use crate::terminal::{self, Bar, complain};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon digest                                    today, in every project
  antiphon digest --since yesterday --project .      this repository
  antiphon digest --since monday --markdown          without secrets, ready to paste")]
pub(crate) struct DigestArgs {
    #[command(flatten)]
    range: RangeArgs,
    /// Only sessions of this project; `.` is the repository around the current folder
    #[arg(long, value_name = "FOLDER")]
    project: Option<String>,
    /// Only sessions of this agent (a part of its name, such as claude or codex)
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Print Markdown, without secrets
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &DigestArgs) -> anyhow::Result<Outcome> {
    let range = args.range.range_or("today")?;
    let environment = Environment::of_process();
    let wanted = SessionQuery {
        agent: args.agent.as_deref().map(str::to_lowercase),
        project: args.project.as_deref().map(|it| project_query(it, &environment)),
        since: range.since,
        until: range.until,
        ..SessionQuery::default()
    };
    // What is pasted leaves this machine.
    let mut redaction = Redaction::unless(!args.markdown);
    let redactor = redaction.parts().map(|(redactor, _)| redactor.clone());
    let store = fresh::store(Asked::Catalogue)?;
    let bar = Bar::new("sessions read");
    let report =
        store.digest(&wanted, &range, redactor.as_ref(), &|done, of| bar.show(done, of))?;
    drop(bar);
    let digest = &report.digest;
    if args.json {
        terminal::json(&report)?;
    } else if digest.projects.is_empty() {
        complain("no session did anything in that time; --since takes today, monday, 7d …");
        if store.is_empty() {
            complain(NOTHING_KEPT);
        }
    } else if args.markdown {
        let text = markdown::write(digest, &args.range.zone(), &range);
        terminal::document(&redaction.text(text))?;
    } else {
        text::print(digest, &args.range.zone())?;
    }
    let outcome = report_left_out(&report.left_out);
    let is_nothing = digest.projects.is_empty() && matches!(outcome, Outcome::Done);
    Ok(if is_nothing && !args.json { Outcome::No } else { outcome })
}
