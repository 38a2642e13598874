//! The list of sessions, and new sessions.

use std::collections::BTreeSet;

use antiphon_catalog::{ProjectQuery, Query as Words, SessionQuery, SessionSort, Sort};
use antiphon_journal::{Clock as _, Draft, Options, SystemClock, Writer};
use antiphon_library::{List, Listed, ListedSession, search};
use antiphon_model::{Event, SessionStarted, Timestamp, Zone, parse_moment};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::events::not_written;
use crate::access::Who;
use crate::answer::{Stopped, document, written};
use crate::app::App;
use crate::body::{JSON, read};
use crate::call::Call;
use crate::library::{Library, file_row, redact_row};
use crate::problem::Problem;
use crate::query::Query;
use crate::redacted::Redacting;

const LIMIT: usize = 50;
const STATUSES: [(&str, &str); 6] = [
    ("running", "running"),
    ("completed", "completed"),
    ("failed", "failed"),
    ("timed-out", "timed-out"),
    ("cancelled", "cancelled"),
    ("interrupted", "interrupted"),
];
const SORTS: [(&str, SessionSort); 4] = [
    ("changed", SessionSort::Changed),
    ("started", SessionSort::Started),
    ("cost", SessionSort::Cost),
    ("events", SessionSort::Events),
];

/// A page of the list of sessions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct SessionPage<'a> {
    /// The sessions, as `antiphon ls --json` lists them.
    sessions: Vec<ListedSession<'a>>,
    /// How many there are on all pages.
    total: usize,
    /// For `after`: where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// What is wanted of the list.
struct Wanted {
    words: Option<Words>,
    query: SessionQuery,
    status: Option<&'static str>,
    sort: SessionSort,
    limit: usize,
    after: Option<Cursor>,
}

impl Wanted {
    fn parse(app: &App, mut query: Query) -> Result<Self, Problem> {
        let lower = |text: Option<String>| text.map(|text| text.to_lowercase());
        let (now, zone) = (SystemClock.now(), &app.zone);
        let words = query.one("q")?.map(|words| Words::parse(&words, now, zone)).transpose();
        let since = moment(&mut query, "since", now, zone)?;
        let until = moment(&mut query, "until", now, zone)?;
        let project = query.one("project")?;
        let wanted = Self {
            words: words.map_err(Problem::bad_request)?,
            query: SessionQuery {
                agent: lower(query.one("agent")?),
                project: project.as_deref().map(project_query),
                role: lower(query.one("role")?),
                issue: lower(query.one("issue")?),
                tool: lower(query.one("tool")?),
                file: lower(query.one("file")?),
                min_cost_usd: query.number("min_cost")?,
                since,
                until,
            },
            status: query.choice("status", &STATUSES)?,
            sort: query.choice("sort", &SORTS)?.unwrap_or(SessionSort::Changed),
            limit: query.number("limit")?.unwrap_or(LIMIT),
            after: query.one("after")?.map(|text| Cursor::parse(&text)).transpose()?,
        };
        query.finish()?;
        Ok(wanted)
    }
}

/// The time that a parameter names.
pub(crate) fn moment(
    query: &mut Query,
    name: &str,
    now: Timestamp,
    zone: &Zone,
) -> Result<Option<Timestamp>, Problem> {
    let moment = query.one(name)?.map(|text| parse_moment(&text, now, zone)).transpose();
    moment.map_err(|_| Problem::bad_request(format!("`{name}` is not a time")))
}

/// The projects that a request means. No folder of the machine is looked at for it.
pub(crate) fn project_query(text: &str) -> ProjectQuery {
    match text.starts_with('/') {
        true => ProjectQuery::Folder(text.to_owned()),
        false => ProjectQuery::part(text),
    }
}

/// Where a page ended: the value by which its last row was sorted, and the row's key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cursor {
    value: Option<u64>,
    key: String,
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, Problem> {
        let parse = || {
            let (value, key) = text.split_once('-')?;
            let value = match value {
                "none" => None,
                hex => Some(u64::from_str_radix(hex, 16).ok()?),
            };
            let key = antiphon_catalog::Key::parse(key)?.to_string();
            Some(Self { value, key })
        };
        parse().ok_or_else(|| Problem::bad_request("`after` is not from a page's `next`"))
    }

    fn of(listed: &Listed, sort: SessionSort) -> Self {
        // Times and costs are not negative here, and so keep their order as bits.
        let time = |at: Timestamp| u64::try_from(at.as_millis()).unwrap_or(0);
        let session = &listed.session;
        let value = match sort {
            SessionSort::Changed => Some(time(session.at())),
            SessionSort::Started => session.started_at.map(time),
            SessionSort::Cost => Some(listed.totals.known().as_f64().to_bits()),
            SessionSort::Events => session.events,
        };
        Self { value, key: session.key.to_string() }
    }

    fn text(&self) -> String {
        match self.value {
            Some(value) => format!("{value:x}-{}", self.key),
            None => format!("none-{}", self.key),
        }
    }
}

/// The rows behind a cursor. Its own row is where it was, unless that has changed meanwhile: then
/// the page goes on with the first row that is sorted behind it.
fn rest(rows: Vec<Listed>, after: &Cursor, sort: SessionSort) -> Vec<Listed> {
    let cursors: Vec<Cursor> = rows.iter().map(|row| Cursor::of(row, sort)).collect();
    let own = cursors.iter().position(|cursor| cursor == after).map(|at| at + 1);
    let start = own.unwrap_or_else(|| {
        cursors.iter().position(|cursor| cursor.value < after.value).unwrap_or(rows.len())
    });
    let seen = |row: &Listed| row.session.key.as_str() == after.key;
    rows.into_iter().skip(start).filter(|row| !seen(row)).collect()
}

pub(crate) async fn list(call: Call) -> Result<Response, Problem> {
    let (wanted, is_far) = (Wanted::parse(&call.app, call.query()?)?, call.is_far());
    written(&call.app, &call.headers, "application/json", move |app, out| {
        let mut rows = rows(app, &wanted)?;
        let total = rows.len();
        if let Some(after) = &wanted.after {
            rows = rest(rows, after, wanted.sort);
        }
        let has_more = rows.len() > wanted.limit;
        rows.truncate(wanted.limit);
        let last = rows.last().filter(|_| has_more);
        let next = last.map(|row| Cursor::of(row, wanted.sort).text());
        if is_far {
            rows.iter_mut().for_each(|row| redact_row(row, &app.redactor));
        }
        let sessions = rows.iter().map(Listed::shown).collect();
        let page = SessionPage { sessions, total, next };
        Redacting::new(app, is_far).write(out, &page)
    })
    .await
}

fn rows(app: &App, wanted: &Wanted) -> Result<Vec<Listed>, Stopped> {
    let store = match &app.library {
        Library::File(path) => return Ok(vec![file_row(path, &app.prices)?]),
        Library::Kept(kept) => &kept.store,
    };
    let failed = |error| Problem::failed("the catalogue cannot be read", &error);
    let List { mut sessions, .. } = store
        .list(&wanted.query, wanted.status, wanted.sort, usize::MAX, &|_, _| {})
        .map_err(failed)?;
    if let Some(words) = &wanted.words {
        let found = search(store, words, Sort::Newest, usize::MAX, &|_, _| {}).map_err(failed)?;
        let found: BTreeSet<&str> = found.hits.iter().map(|hit| hit.session.as_str()).collect();
        sessions.retain(|it| found.contains(it.session.session_id.as_str()));
    }
    Ok(sessions)
}

/// A new recorded session.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSession {
    /// What to call it.
    title: Option<String>,
    /// The program that runs it.
    program: Option<String>,
    /// The folder in which it works.
    cwd: Option<String>,
    /// The role of its agent.
    role: Option<String>,
    /// The issue that it works on.
    issue: Option<String>,
    /// The run that it belongs to.
    run_id: Option<String>,
}

/// The id of something new.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Created {
    /// The id.
    pub(crate) id: String,
}

pub(crate) async fn create(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let who = call.who().clone();
    let body = read(&call, &[JSON]).await?;
    let created = call.app.compute(move |app| {
        let new: NewSession = serde_json::from_slice(&body)
            .map_err(|error| Problem::bad_request(format!("not a new session: {error}")))?;
        let store = app.library.store()?;
        let folder = store
            .new_session(None)
            .map_err(|error| Problem::failed("the session cannot be made", &error))?;
        // Before the session is there: whoever adds to it must be its maker.
        if let Who::Token(token) = &who {
            let remembered = app.access.tokens.remember(folder.key.as_str(), token);
            remembered.map_err(|error| Problem::failed("the session cannot be made", &error))?;
        }
        let id = folder.key.to_string();
        write_start(&folder.path, &id, &new)?;
        Ok(Created { id })
    });
    Ok(document(StatusCode::CREATED, &created.await?))
}

fn write_start(path: &std::path::Path, id: &str, new: &NewSession) -> Result<(), Problem> {
    let text = |text: &Option<String>| text.as_deref().map(|it| it.to_owned().into());
    let started = SessionStarted {
        session_id: Some(id.to_owned().into()),
        title: text(&new.title),
        program: text(&new.program).or(Some("antiphon serve".into())),
        cwd: text(&new.cwd),
        role: text(&new.role),
        issue: text(&new.issue),
        run_id: text(&new.run_id),
        ..SessionStarted::default()
    };
    let event = Event::new(antiphon_model::EventKind::SessionStarted(started));
    let draft = Draft::from_event(&event)
        .map_err(|error| Problem::bad_request(format!("not a new session: {error}")))?;
    let program = "antiphon serve".to_owned();
    let options = Options { program, session_id: Some(id.to_owned()), ..Options::default() };
    let writer = Writer::open(path, options).map_err(|error| not_written(&error))?;
    let acks = writer.append_batch(&[draft]).map_err(|error| not_written(&error))?;
    for ack in acks {
        ack.map_err(|error| not_written(&error))?;
    }
    writer.close().map_err(|error| not_written(&error))
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn a_cursor_that_no_page_gave_is_refused() {
        let key = "0".repeat(32);
        let good = Cursor { value: Some(18), key: key.clone() };
        assert_eq!(Cursor::parse(&good.text()).unwrap(), good);
        let none = Cursor { value: None, key: key.clone() };
        assert_eq!(Cursor::parse(&none.text()).unwrap(), none);
        let nines = "9".repeat(40);
        let long = format!("{}-{key}", "f".repeat(17));
        for bad in ["nonsense", "\0", nines.as_str(), "-", "12-../..", &long] {
            assert!(Cursor::parse(bad).is_err(), "{bad}");
        }
    }
}
