//! A phase or a note by a person.

use std::time::Duration;

use antiphon_journal::{Options, Writer};
use antiphon_library::{
    AnnotateError, NewAnnotation, annotation, annotations_to_write, append_annotations,
    next_annotation, open_with,
};
use antiphon_model::Reading;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use super::events::not_written;
use super::sessions::Created;
use super::views::unread;
use crate::answer::document;
use crate::app::App;
use crate::body::{JSON, read};
use crate::call::Call;
use crate::library::Located;
use crate::problem::Problem;

/// The phases of STD-001.
const PHASES: [&str; 7] =
    ["understand", "explore", "plan", "execute", "verify", "mixed", "unclassified"];
/// How long another writer may take.
const WAIT: Duration = Duration::from_secs(5);

/// A phase or a note about some calls.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Given {
    /// A phase of STD-001.
    phase_type: Option<String>,
    /// What is to be said.
    note: Option<String>,
    /// The id of the first call.
    from: String,
    /// The id of the last call.
    to: String,
}

pub(crate) async fn annotate(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let id = call.param("id").to_owned();
    let body = read(&call, &[JSON]).await?;
    let created = call.app.compute(move |app| {
        let given: Given = serde_json::from_slice(&body)
            .map_err(|error| Problem::bad_request(format!("not an annotation: {error}")))?;
        let at = app.library.find(&id)?;
        write(app, &at, &given).map(|id| Created { id })
    });
    Ok(document(StatusCode::CREATED, &created.await?))
}

fn write(app: &App, at: &Located, given: &Given) -> Result<String, Problem> {
    match (&given.phase_type, &given.note) {
        (None, None) => return Err(Problem::bad_request("`phase_type` or `note` is missing")),
        (Some(phase), _) if !PHASES.contains(&phase.as_str()) => {
            return Err(Problem::bad_request(format!("a phase is one of {}", PHASES.join(", "))));
        }
        _ => {}
    }
    let failed = |error| Problem::failed("the session cannot be annotated", &error);
    let beside =
        if at.is_recorded { None } else { annotations_to_write(&at.path).map_err(failed)? };
    let log = match (&beside, at.is_recorded) {
        (Some(log), _) => log,
        (None, true) => &at.path,
        (None, false) => return Err(Problem::conflict("only kept sessions can be annotated")),
    };
    let program = "antiphon serve".to_owned();
    let options = Options { wait: WAIT, program, ..Options::default() };
    let writer = Writer::open(log, options).map_err(|error| not_written(&error))?;
    let opened = open_with(&at.path, app.library.store().ok()).map_err(failed)?;
    let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
    let number = next_annotation(&reading).map_err(unread)?;
    let new = NewAnnotation {
        phase_type: given.phase_type.as_deref(),
        note: given.note.as_deref(),
        from: Some(&given.from),
        to: Some(&given.to),
        by: "human",
        confidence: given.phase_type.as_ref().map(|_| "medium"),
        ..NewAnnotation::default()
    };
    let about = annotation(&reading, &new, number).map_err(refused)?;
    let ids = append_annotations(writer, vec![about], number, beside.is_some()).map_err(refused)?;
    ids.into_iter().next().ok_or_else(|| Problem::conflict("nothing was written"))
}

fn refused(error: AnnotateError) -> Problem {
    match error {
        AnnotateError::NoCall { .. } => Problem::bad_request("there is no such call"),
        AnnotateError::SeveralCalls { .. } | AnnotateError::Order { .. } => {
            Problem::bad_request(error.to_string())
        }
        AnnotateError::Body(error) => unread(error),
        AnnotateError::Draft(error) => Problem::bad_request(error.to_string()),
        AnnotateError::Log(error) => not_written(&error),
    }
}
