//! Questions about many sessions, and about what the program itself is.

use antiphon_catalog::{Query as Words, Sort};
use antiphon_journal::{Clock as _, SystemClock};
use antiphon_library::{SearchHit, formats as all_formats, search as search_in};
use antiphon_views::{Prices, Reading, Run, RunPart, run};
use axum::response::Response;
use serde::Serialize;

use crate::answer::json;
use crate::app::App;
use crate::call::Call;
use crate::problem::Problem;

/// `antiphon search --json`.
pub(crate) async fn search(call: Call) -> Result<Response, Problem> {
    let mut query = call.query()?;
    let words = query.one("q")?.ok_or_else(|| Problem::bad_request("`q` is missing"))?;
    let sort = query.choice("sort", &[("newest", Sort::Newest), ("relevance", Sort::Relevance)])?;
    let limit: usize = query.number("limit")?.unwrap_or(20);
    query.finish()?;
    let words = Words::parse(&words, SystemClock.now(), &call.app.zone);
    let words = words.map_err(Problem::bad_request)?;
    let is_far = call.is_far();
    json(&call, move |app| {
        let sort = sort.unwrap_or(Sort::Newest);
        let found = search_in(app.library.store()?, &words, sort, limit, &|_, _| {});
        let mut hits = found.map_err(|error| unlisted(&error))?.hits;
        if is_far {
            hits.iter_mut().for_each(without_edges);
        }
        Ok(hits)
    })
    .await
}

/// What was cut out of a text may begin or end within a secret, so that no rule knows it any more:
/// words at its edges are left out.
fn without_edges(hit: &mut SearchHit) {
    let snippet = hit.snippet.trim_matches('…');
    let start = snippet.find(char::is_whitespace).unwrap_or(snippet.len());
    let end = snippet.rfind(char::is_whitespace).unwrap_or(start).max(start);
    hit.snippet = format!("…{}…", snippet.get(start..end).unwrap_or_default());
}

/// `antiphon formats --json`.
pub(crate) async fn formats(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    json(&call, |_| Ok(all_formats())).await
}

/// How the server is.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ServerStatus {
    /// The version of the program.
    version: &'static str,
    /// Whether it refuses to write.
    read_only: bool,
    /// The number of sessions.
    sessions: usize,
    /// How many streams are open.
    listeners: usize,
}

pub(crate) async fn status(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    json(&call, |app| {
        Ok(ServerStatus {
            version: env!("CARGO_PKG_VERSION"),
            read_only: app.is_read_only,
            sessions: app.library.store().map_or(1, antiphon_library::Store::count),
            listeners: app.hub.listeners(),
        })
    })
    .await
}

pub(crate) fn unlisted(error: &antiphon_catalog::CatalogError) -> Problem {
    Problem::failed("the catalogue cannot be read", error)
}

/// A run, and how many sessions it has.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ListedRun {
    /// The id of the run.
    #[serde(rename = "runId")]
    run_id: String,
    /// The ids of its sessions, the latest first.
    sessions: Vec<String>,
}

/// The runs that sessions belong to, that with the latest session first.
pub(crate) async fn runs(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    json(&call, |app| {
        let mut runs: Vec<ListedRun> = Vec::new();
        for session in app.library.store()?.sessions() {
            let Some(run_id) = session.run_id.clone() else { continue };
            let id = session.session_id.clone();
            match runs.iter_mut().find(|run| run.run_id == run_id) {
                Some(run) => run.sessions.push(id),
                None => runs.push(ListedRun { run_id, sessions: vec![id] }),
            }
        }
        Ok(runs)
    })
    .await
}

/// `antiphon view run --json`.
pub(crate) async fn one_run(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let (id, is_far) = (call.param("id").to_owned(), call.is_far());
    json(&call, move |app| {
        let found = run_of(app, &id, is_far)?;
        found.ok_or_else(|| Problem::not_found("no session belongs to such a run"))
    })
    .await
}

fn run_of(app: &App, run_id: &str, is_far: bool) -> Result<Option<Run>, Problem> {
    let sessions = app.library.store()?.sessions();
    let own = sessions.iter().filter(|it| it.run_id.as_deref() == Some(run_id));
    let mut parts = Vec::new();
    for session in own {
        let Ok(at) = app.library.find(session.key.as_str()) else { continue };
        let part = app
            .sessions
            .with(&at, is_far, |folded| part(&folded.reading(), &folded.id(), &app.prices));
        if let Ok(part) = part {
            parts.push(part?);
        }
    }
    Ok(run(run_id, &parts))
}

fn part(reading: &Reading<'_>, id: &str, prices: &Prices) -> Result<RunPart, Problem> {
    RunPart::read(reading, id, prices).map_err(super::views::unread)
}

/// `antiphon blame --json`, of a file as the last session left it.
pub(crate) async fn blame(call: Call) -> Result<Response, Problem> {
    let mut query = call.query()?;
    let missing = |name: &str| Problem::bad_request(format!("`{name}` is missing"));
    let project = query.one("project")?.ok_or_else(|| missing("project"))?;
    let path = query.one("path")?.ok_or_else(|| missing("path"))?;
    query.finish()?;
    // The path is only compared with what sessions say; one that leaves its project is none.
    if path.starts_with('/') || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(Problem::bad_request("`path` is not a path within a project"));
    }
    json(&call, move |app| {
        let store = app.library.store()?;
        let blamed = store.blame_as_left(&project, &path, &|_, _| {});
        let blamed = blamed.map_err(|error| unlisted(&error))?;
        let none = || Problem::not_found("no kept session wrote this file");
        Ok(blamed.ok_or_else(none)?.blame)
    })
    .await
}
