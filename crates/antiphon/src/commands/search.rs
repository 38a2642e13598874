//! `antiphon search`: words and patterns in everything that was said and done.

use antiphon_catalog::{Query, Sort};
use antiphon_journal::{Clock as _, SystemClock};
use antiphon_library::{
    Answer, Asked, SearchHit, SearchTurn, SearchedSession, add_context, search,
};
use antiphon_model::Timestamp;
use clap::{Args, ValueEnum};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::NOTHING_KEPT;
use crate::failure::{Outcome, UserError, report_left_out};
use crate::fresh;
use crate::range::local_zone;
use crate::terminal::{self, Bar, Page, Style, clip, clip_path, complain, when};

#[derive(Debug, Args)]
#[command(after_help = "\
All words must match, in any order; \"a phrase\" matches literally, /a pattern/ and re:pattern as a
regular expression. Case is ignored. Filters: tool:Bash file:src/x.rs agent:codex project:web
session:0f0e role:user since:2026-03-01 until:2026-04-01 is:error. The newest matches come first.

Examples:
  antiphon search connection refused since:7d
  antiphon search '/timed? ?out after \\d+ s/' tool:Bash
  antiphon search -C 2 flaky session:latest   with two messages before and after each match")]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true)]
    query: Vec<String>,
    /// Maximum number of matches
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Show N messages before and after each match
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<usize>,
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
    let store = fresh::store(Asked::Catalogue)?;
    let mut answer = {
        let bar = Bar::new("sessions read");
        search(&store, &query, sort, args.limit, &|done, of| bar.show(done, of))?
    };
    if let Some(around) = args.context {
        add_context(&mut answer.hits, around);
    }
    if args.json {
        terminal::json(&answer.hits)?;
    } else {
        print(&answer)?;
    }
    if answer.is_partial && !answer.hits.is_empty() {
        complain("No message has all these words; showing the best partial matches.");
    } else if sort == Sort::Relevance && !args.json {
        complain("Ranking covers messages only; use --sort newest to search tool calls as well.");
    }
    if answer.is_cut && !args.json {
        complain(&format!("There may be more: use --limit {}.", args.limit.saturating_mul(2)));
    }
    let outcome = report_left_out(&answer.left_out);
    if answer.hits.is_empty() {
        complain(&nothing(&query, &answer, store.is_empty()));
        return Ok(if outcome == Outcome::Done { Outcome::No } else { outcome });
    }
    Ok(outcome)
}

/// Why nothing was found, and what a person may have meant.
fn nothing(query: &Query, answer: &Answer, is_empty: bool) -> String {
    if is_empty {
        return NOTHING_KEPT.to_owned();
    }
    if let Some(session) = query.session.as_deref().filter(|_| answer.is_nowhere) {
        return format!("There is no session `{session}`; `antiphon ls` lists the sessions.");
    }
    let mut text = "No matches.".to_owned();
    for (word, near) in &answer.nearest {
        let near: Vec<String> = near.iter().map(|word| format!("`{word}`")).collect();
        text.push_str(&format!(" `{word}` is nowhere; similar words: {}.", near.join(", ")));
    }
    text
}

/// How far matches are indented.
const INDENT: usize = 4;

/// Each session once, above what was found in it.
fn print(answer: &Answer) -> anyhow::Result<()> {
    let mut page = Page::new();
    let now = SystemClock.now();
    for (at, session) in answer.sessions.iter().enumerate() {
        if at > 0 {
            page.end()?;
        }
        print_session(&mut page, session, now)?;
        let hits: Vec<&SearchHit> =
            answer.hits.iter().filter(|hit| hit.session == session.id).collect();
        for hit in &hits {
            print_hit(&mut page, hit, &short_id(hit, &hits))?;
        }
    }
    page.finish()
}

fn print_session(page: &mut Page, session: &SearchedSession, now: Timestamp) -> anyhow::Result<()> {
    const PROJECT_WIDTH: usize = 40;
    let title = session.title.as_deref().unwrap_or("(no title)");
    page.add(Style::Head, &clip(title, page.width.unwrap_or(usize::MAX))).end()?;
    let id: String = session.id.chars().take(8).collect();
    page.add(Style::Name, &id);
    if let Some(project) = &session.project {
        page.faint(&format!("  {}", clip_path(project, PROJECT_WIDTH)));
    }
    page.faint(&format!("  {}", when(session.at, now, &local_zone()))).end()
}

fn print_hit(page: &mut Page, hit: &SearchHit, id: &str) -> anyhow::Result<()> {
    page.plain("  ").add(Style::Call, id).faint(&format!("  {}", hit.role));
    page.faint(&hit.tool.as_deref().map(|tool| format!("  {tool}")).unwrap_or_default());
    page.end()?;
    let around = hit.context.as_deref().unwrap_or_default();
    let own = around.iter().position(|turn| turn.message_id == hit.message_id);
    let (before, after) = around.split_at(own.unwrap_or_default());
    print_turns(page, before)?;
    let room = page.width.map_or(usize::MAX, |width| width.saturating_sub(INDENT));
    let (snippet, marks) = around_mark(&hit.snippet, &hit.marks, room);
    page.plain(&" ".repeat(INDENT));
    print_marked(page, &snippet, &marks);
    page.end()?;
    print_turns(page, after.get(1..).unwrap_or_default())
}

/// Messages around a match, each on a line.
fn print_turns(page: &mut Page, turns: &[SearchTurn]) -> anyhow::Result<()> {
    const WIDTH: usize = 120;
    let room = page.width.unwrap_or(WIDTH).min(WIDTH);
    for SearchTurn { role, text, .. } in turns {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = clip(&format!("{role}: {line}"), room.saturating_sub(INDENT));
        page.faint(&format!("{}{line}", " ".repeat(INDENT))).end()?;
    }
    Ok(())
}

/// As much of a text as there is room for, with its first mark in sight, and the marks in it.
fn around_mark(text: &str, marks: &[(usize, usize)], room: usize) -> (String, Vec<(usize, usize)>) {
    let letters: Vec<char> = text.chars().collect();
    if text.width() <= room {
        return (text.to_owned(), marks.to_vec());
    }
    let first = marks.first().map_or(0, |(from, _)| *from);
    let start = first.saturating_sub(room / 3);
    // An ellipsis at either end takes the place of a letter.
    let mut shown: String = if start > 0 { "…".to_owned() } else { String::new() };
    let skipped = start + usize::from(start > 0);
    let mut end = skipped;
    while let Some(letter) = letters.get(end) {
        if shown.width() + letter.width().unwrap_or_default() + 1 > room {
            shown.push('…');
            break;
        }
        shown.push(*letter);
        end += 1;
    }
    let within = |at: usize| at.clamp(skipped, end) - start;
    let marks = marks.iter().map(|(from, to)| (within(*from), within(*to)));
    (shown, marks.filter(|(from, to)| from < to).collect())
}

/// A text with marks in it, which are in order and in characters.
fn print_marked(page: &mut Page, text: &str, marks: &[(usize, usize)]) {
    let mut letters = text.chars();
    let mut at = 0;
    for &(from, to) in marks {
        let before: String = letters.by_ref().take(from.saturating_sub(at)).collect();
        let marked: String = letters.by_ref().take(to.saturating_sub(from)).collect();
        page.plain(&before).add(Style::Match, &marked);
        at = to;
    }
    page.plain(letters.as_str());
}

/// As much of a message's id as tells it from the other matches of its session. Ids that are not
/// random are shown whole: many begin alike.
fn short_id(hit: &SearchHit, all: &[&SearchHit]) -> String {
    const UUID_LEN: usize = 36;
    const SHOWN: usize = 8;
    let id = &hit.message_id;
    let is_random =
        id.len() == UUID_LEN && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let short = id.get(..SHOWN).filter(|_| is_random).unwrap_or(id);
    let is_alone =
        |short: &str| all.iter().filter(|other| other.message_id.starts_with(short)).count() <= 1;
    if is_alone(short) { short.to_owned() } else { id.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_snippet_is_cut_around_its_first_mark_and_the_marks_move_with_it() {
        let text = format!("{}needle{}", "a".repeat(100), "b".repeat(100));
        let (shown, marks) = around_mark(&text, &[(100, 106), (190, 200)], 40);
        assert_eq!(shown.width(), 40);
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        let [(from, to)] = marks.as_slice() else { panic!("{marks:?}") };
        let marked: String = shown.chars().skip(*from).take(to - from).collect();
        assert_eq!(marked, "needle");
    }

    #[test]
    fn what_fits_stays_as_it_is_and_wide_letters_take_the_room_of_two() {
        assert_eq!(around_mark("abc", &[(1, 2)], 3), ("abc".to_owned(), vec![(1, 2)]));
        let (shown, _) = around_mark(&"漢".repeat(30), &[], 20);
        assert!(shown.width() <= 20, "{shown}");
    }
}
