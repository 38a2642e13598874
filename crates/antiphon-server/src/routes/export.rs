//! A session in another form, and its session document with what is wrong with it.

use antiphon_documents::{
    Document, DocumentFinding, PhaseDetail, Rules, Standard, WriteOptions, validate_bytes,
};
use antiphon_library::{find_bundle, native, open_with};
use antiphon_model::Reading;
use antiphon_recorder::Policy;
use antiphon_redact::{Counts, Redactor};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde::Serialize;
use serde_json::value::RawValue;

use super::views::unread;
use crate::answer::{Stopped, json, written};
use crate::app::App;
use crate::call::Call;
use crate::export::{self, ExportError};
use crate::library::Located;
use crate::opened::Folded;
use crate::problem::Problem;

/// The forms, the type of each, and the ending of its file.
const FORMS: [(&str, &str, &str); 9] = [
    ("antiphon", "application/x-ndjson", "jsonl"),
    ("std", "application/json", "json"),
    ("std-001", "application/json", "json"),
    ("std-008", "application/json", "json"),
    ("transcript", "text/plain; charset=utf-8", "txt"),
    ("atif", "application/json", "json"),
    ("openai", "application/x-ndjson", "jsonl"),
    ("otlp", "application/json", "json"),
    ("native", "application/octet-stream", "jsonl"),
];

/// `antiphon export`, as an attachment.
pub(crate) async fn form(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let (id, wanted) = (call.param("id").to_owned(), call.param("format").to_owned());
    let found = FORMS.iter().find(|(name, ..)| *name == wanted);
    let (name, kind, ending) = *found.ok_or_else(|| Problem::not_found("there is no such form"))?;
    if name == "native" && call.is_far() {
        let what = "an agent's own file is not redacted, and does not leave this machine";
        return Err(Problem::forbidden(what));
    }
    let file = file_name(&id, name, ending);
    let mut answer = written(&call.app, &call.headers, kind, move |app, out| {
        let at = app.library.find(&id)?;
        write(app, &at, name, out)
    })
    .await?;
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{file}\""));
    let disposition = disposition.unwrap_or(HeaderValue::from_static("attachment"));
    answer.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
    Ok(answer)
}

/// A name for a file that is nothing but a name.
fn file_name(id: &str, form: &str, ending: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-' || *c == '_';
    let stem: String = id.chars().filter(is_plain).skip_while(|c| *c == '-').take(64).collect();
    let stem = if stem.is_empty() { "session" } else { &stem };
    format!("{stem}.{form}.{ending}")
}

fn write(app: &App, at: &Located, form: &str, out: &mut dyn std::io::Write) -> Result<(), Stopped> {
    let clean = &mut |text: &str| redact(&app.redactor, text);
    let standard = match form {
        "antiphon" => return write_log(app, at, out),
        "native" => return write_native(at, out),
        "transcript" => return write_transcript(app, at, out),
        "atif" | "otlp" => return with(app, at, |it| foreign(it, form, clean, out)),
        "openai" => return with(app, at, |it| foreign(it, "openai-chat", clean, out)),
        "std-001" => Some(Standard::Std001),
        "std-008" => Some(Standard::Std008),
        _ => None,
    };
    with(app, at, |folded| {
        let options = WriteOptions { standard, phases: PhaseDetail::Advised };
        let reading = folded.reading();
        let document = Document::of(&reading, options).map_err(unread)?;
        export::document(&document, clean, out).map_err(not_written)
    })
}

/// Every export is redacted, wherever it goes.
fn with(
    app: &App,
    at: &Located,
    write: impl FnOnce(&Folded) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    app.sessions.with(at, true, write)?
}

fn redact(redactor: &Redactor, text: &str) -> String {
    redactor.redact_json(text, &mut Counts::default()).into_owned()
}

fn foreign(
    folded: &Folded,
    format: &str,
    clean: export::Clean<'_>,
    out: &mut dyn std::io::Write,
) -> Result<(), Stopped> {
    export::foreign(&folded.reading(), &folded.id(), format, clean, out).map_err(not_written)
}

fn not_written(error: ExportError) -> Stopped {
    match error {
        ExportError::Write(_) => Stopped::Gone,
        ExportError::NoMessages | ExportError::NoWriter => {
            Problem::conflict("the session cannot be written in this form").into()
        }
        ExportError::Body(error) => unread(error).into(),
        other @ ExportError::Session(_) => {
            Problem::failed("the session cannot be read", &other).into()
        }
    }
}

fn write_transcript(app: &App, at: &Located, out: &mut dyn std::io::Write) -> Result<(), Stopped> {
    let opened = open_with(&at.path, app.library.store().ok());
    let opened = opened.map_err(|error| not_written(error.into()))?.redacted(&app.redactor);
    let own = opened.session.info().session_id.as_deref();
    let id = own.unwrap_or(&opened.name).to_owned();
    let counts = &mut Counts::default();
    let clean = |line: &str| app.redactor.redact_value(line, &mut Counts::default()).into_owned();
    let mut text = String::new();
    let mut add = |piece: &str| {
        text.push_str(piece);
        Ok(())
    };
    export::transcript(&opened, &id, &at.path, Policy::Seed, &clean, &mut add)
        .map_err(not_written)?;
    Ok(out.write_all(app.redactor.redact(&text, counts).as_bytes())?)
}

fn write_log(app: &App, at: &Located, out: &mut dyn std::io::Write) -> Result<(), Stopped> {
    let mut counts = Counts::default();
    let store = app.library.store().ok();
    let log = export::log(&at.path, Some((&app.redactor, &mut counts)), store);
    let (text, _) = log.map_err(not_written)?;
    Ok(out.write_all(text.as_bytes())?)
}

fn write_native(at: &Located, out: &mut dyn std::io::Write) -> Result<(), Stopped> {
    let bundle = find_bundle(&at.path).map_err(|error| not_written(error.into()))?;
    let none =
        || Problem::conflict("this session was recorded by Antiphon, and has no native file");
    let bytes = native(&bundle.ok_or_else(none)?).map_err(|error| not_written(error.into()))?;
    Ok(out.write_all(&bytes)?)
}

/// A session document, and what is wrong with it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct CheckedDocument {
    /// What `antiphon export --as std` writes.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    document: Box<RawValue>,
    /// Whether it has no errors.
    valid: bool,
    /// What `antiphon validate` says of it.
    findings: Vec<DocumentFinding>,
}

pub(crate) async fn findings(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let id = call.param("id").to_owned();
    json(&call, move |app| {
        let at = app.library.find(&id)?;
        app.sessions.with(&at, true, |folded| checked(app, &folded.reading()))?
    })
    .await
}

fn checked(app: &App, reading: &Reading<'_>) -> Result<CheckedDocument, Problem> {
    let options = WriteOptions { standard: None, phases: PhaseDetail::Advised };
    let mut document = Document::of(reading, options).map_err(unread)?;
    document.number(document.name.free(std::iter::empty()));
    let name = format!("{}.json", document.name.stem());
    let mut text = Vec::new();
    let clean = &mut |text: &str| redact(&app.redactor, text);
    let unwritten = |error: ExportError| Problem::failed("the document cannot be written", &error);
    export::document(&document, clean, &mut text).map_err(unwritten)?;
    let report = validate_bytes(&text, Some(&name), Rules::Usual);
    let broken = |error: serde_json::Error| Problem::failed("the document is broken", &error);
    let text = String::from_utf8_lossy(&text).into_owned();
    let document = RawValue::from_string(text.trim_end().to_owned()).map_err(broken)?;
    Ok(CheckedDocument { document, valid: report.valid, findings: report.findings })
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_files_name_has_nothing_that_a_header_or_a_folder_would_act_on() {
        assert_eq!(file_name("debate", "std", "json"), "debate.std.json");
        assert_eq!(
            file_name("../../x\"\r\nSet-Cookie: a=b", "otlp", "json"),
            "xSet-Cookieab.otlp.json"
        );
        assert_eq!(file_name("…", "openai", "jsonl"), "session.openai.jsonl");
    }
}
