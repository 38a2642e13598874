//! What was done: `antiphon digest --json` and `antiphon diff --json`.

use antiphon_catalog::SessionQuery;
use antiphon_journal::{Clock as _, SystemClock};
use antiphon_library::{root_of, session_overview};
use antiphon_model::{TimeRange, Zone, parse_moment};
use antiphon_views::{ComparedRun, RunDiff, run_diff};
use axum::response::Response;

use super::many::unlisted;
use super::sessions::{moment, project_query};
use super::views::unread;
use crate::answer::json;
use crate::app::App;
use crate::call::Call;
use crate::opened::Folded;
use crate::problem::Problem;
use crate::query::Query;

/// What sessions did; today, unless a time is given.
pub(crate) async fn digest(call: Call) -> Result<Response, Problem> {
    let mut query = call.query()?;
    let zone = zone(&mut query)?.unwrap_or_else(|| call.app.zone.clone());
    let now = SystemClock.now();
    let since = moment(&mut query, "since", now, &zone)?;
    let until = moment(&mut query, "until", now, &zone)?;
    let today = || parse_moment("today", now, &zone).ok();
    let since = if until.is_none() { since.or_else(today) } else { since };
    let project = query.one("project")?;
    query.finish()?;
    let wanted = SessionQuery {
        project: project.as_deref().map(project_query),
        since,
        until,
        ..SessionQuery::default()
    };
    let range = TimeRange { since, until };
    json(&call, move |app| {
        let report = app.library.store()?.digest(&wanted, &range, None, &|_, _| {});
        report.map_err(|error| unlisted(&error))
    })
    .await
}

/// The zone in which days begin, by its name.
fn zone(query: &mut Query) -> Result<Option<Zone>, Problem> {
    let Some(name) = query.one("tz")? else { return Ok(None) };
    // A name and not a path: the zone is looked up in files of the system.
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+');
    let is_plain = name.chars().all(is_name) && !name.starts_with('/');
    let zone = is_plain.then(|| jiff::tz::TimeZone::get(&name).ok()).flatten();
    let zone = zone.ok_or_else(|| Problem::bad_request("`tz` is not a time zone"))?;
    Ok(Some(Zone::new(zone)))
}

/// Two sessions side by side.
pub(crate) async fn compare(call: Call) -> Result<Response, Problem> {
    let mut query = call.query()?;
    let mut one = |name: &str| -> Result<String, Problem> {
        query.one(name)?.ok_or_else(|| Problem::bad_request(format!("`{name}` is missing")))
    };
    let (a, b) = (one("a")?, one("b")?);
    query.finish()?;
    let is_far = call.is_far();
    json(&call, move |app| {
        let (a, b) = (app.library.find(&a)?, app.library.find(&b)?);
        // Sessions are locked in one order, so that two requests never wait for one another.
        let (first, second) = if a.path <= b.path { (&a, &b) } else { (&b, &a) };
        app.sessions.with(first, is_far, |held| {
            if a.path == b.path {
                return difference(app, held, held);
            }
            app.sessions.with(second, is_far, |other| match a.path < b.path {
                true => difference(app, held, other),
                false => difference(app, other, held),
            })?
        })?
    })
    .await
}

fn difference(app: &App, a: &Folded, b: &Folded) -> Result<RunDiff, Problem> {
    let page = |folded: &Folded| {
        session_overview(&folded.reading(), &folded.id(), folded.format(), &app.prices)
            .map_err(unread)
    };
    let root = |folded: &Folded| root_of(folded.session().info().cwd.as_deref());
    let (pages, roots) = ((page(a)?, page(b)?), (root(a), root(b)));
    let a = ComparedRun { reading: a.reading(), overview: &pages.0, root: roots.0.as_deref() };
    let b = ComparedRun { reading: b.reading(), overview: &pages.1, root: roots.1.as_deref() };
    run_diff(&a, &b, false).map_err(unread)
}
