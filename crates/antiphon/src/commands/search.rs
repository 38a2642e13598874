//! `antiphon search`: words in everything that was said and done.

use antiphon_catalog::{Query, Sort};
use antiphon_journal::{Clock as _, SystemClock};
use antiphon_library::{Environment, Store, search};

use super::NOTHING_KEPT;
use crate::cli;
use crate::failure::{Outcome, UserError, report_left_out};
use crate::terminal::{self, Bar, Page, Style, complain};

pub(crate) fn run(args: &cli::Search) -> anyhow::Result<Outcome> {
    let query = Query::parse(&args.query.join(" "), SystemClock.now()).map_err(UserError::usage)?;
    let sort = match args.sort {
        cli::SearchSort::Newest => Sort::Newest,
        cli::SearchSort::Relevance => Sort::Relevance,
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
