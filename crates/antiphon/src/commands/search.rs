//! `antiphon search`: words in everything that was said and done.

use antiphon_catalog::{Query, Sort};
use antiphon_journal::{Clock as _, SystemClock};
use antiphon_library::{Environment, Store, search};
use clap::{Args, ValueEnum};

use super::NOTHING_KEPT;
use crate::failure::{Outcome, UserError, report_left_out};
use crate::range::local_zone;
use crate::terminal::{self, Bar, Page, Style, complain};

#[derive(Debug, Args)]
#[command(after_help = "\
All words must match; \"a phrase\" matches literally. Filters: tool:Bash file:src/x.rs agent:codex
project:web role:user since:2026-03-01 until:2026-04-01 is:error. The newest matches come first.")]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true)]
    query: Vec<String>,
    /// Maximum number of matches
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Sort order
    #[arg(long, value_enum, default_value_t = SearchSort::Newest)]
    sort: SearchSort,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// In which order places are told.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SearchSort {
    /// Newest session first, and within a session the latest match
    Newest,
    /// Best match first; searches messages only, not tool calls
    Relevance,
}

pub(crate) fn run(args: &SearchArgs) -> anyhow::Result<Outcome> {
    let query = Query::parse(&args.query.join(" "), SystemClock.now(), &local_zone());
    let query = query.map_err(UserError::usage)?;
    let sort = match args.sort {
        SearchSort::Newest => Sort::Newest,
        SearchSort::Relevance => Sort::Relevance,
    };
    let store = Store::open_default(&Environment::of_process())?;
    let answer = {
        let bar = Bar::new("sessions read");
        search(&store, &query, sort, args.limit, &|done, of| bar.show(done, of))?
    };
    if args.json {
        terminal::json(&answer.hits)?;
    } else {
        let mut page = Page::new();
        for hit in &answer.hits {
            let short: String = hit.session.chars().take(8).collect();
            page.add(Style::Name, &short).plain("  ");
            page.faint(&format!("{}  {}", hit.role, hit.tool.as_deref().unwrap_or_default()));
            page.faint(&hit.timestamp.map(|at| format!("  {at}")).unwrap_or_default()).end()?;
            page.plain(&format!("  {}", hit.snippet)).end()?;
        }
        page.finish()?;
    }
    if answer.is_partial && !answer.hits.is_empty() {
        complain("No message has all these words; showing the best partial matches.");
    } else if sort == Sort::Relevance && !args.json {
        complain("Ranking covers messages only; use --sort newest to search tool calls as well.");
    }
    if answer.is_cut && !args.json {
        complain(&format!("There may be more: use --limit {}.", args.limit * 2));
    }
    let outcome = report_left_out(&answer.left_out);
    if answer.hits.is_empty() {
        complain(if store.is_empty() { NOTHING_KEPT } else { "No matches." });
        return Ok(if outcome == Outcome::Done { Outcome::No } else { outcome });
    }
    Ok(outcome)
}
