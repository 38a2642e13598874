//! `validate`: finds what is wrong with a document, and where.
//!
//! Each group of rules is one pass and one file. The schemas describe the structure; links between
//! parts are looked up in a [`Document`], whose maps are built once. No rule stops at its first
//! finding, and none requires the document to be complete.

mod annotations;
mod at;
mod calls;
mod code;
mod counts;
mod document;
mod duplicates;
mod files;
mod links;
mod messages;
mod name;
mod old;
mod schema;
mod strict;
mod structure;
mod syntax;
mod time;

use std::fmt;

use antiphon_model::Severity;
use serde::Serialize;
use serde_json::Value;

use at::At;
pub use code::Code;
use document::Document;

/// The size above which a document is refused. Published documents have some thousands of bytes.
pub const BYTES_MAX: usize = 64 << 20;

/// The number of findings that are listed. A document with more is not a session document, or is an
/// attack.
const FINDINGS_MAX: usize = 10_000;

/// Which standard a document follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Standard {
    /// The session of one agent.
    #[serde(rename = "std-001")]
    Std001,
    /// The session of several.
    #[serde(rename = "std-008")]
    Std008,
}

impl Standard {
    pub fn name(self) -> &'static str {
        match self {
            Self::Std001 => "std-001",
            Self::Std008 => "std-008",
        }
    }

    /// The standard that the content follows; `None` if the value is not a session document.
    fn of(value: &Value) -> Option<Self> {
        let document = value.as_object()?;
        let has = |names: &[&str]| {
            names.iter().any(|&name| document.get(name).is_some_and(|value| !value.is_null()))
        };
        if !has(&["session_id", "task_title", "tool_calls", "collaboration", "sub_sessions"]) {
            return None;
        }
        // A `collaboration` of mode `single` is a session of one agent in the format for several.
        let is_multi = has(&["collaboration", "sub_sessions", "messages"]);
        Some(if is_multi { Self::Std008 } else { Self::Std001 })
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One problem, or possible problem, of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentFinding {
    /// An error violates the standard; a warning is about something that it leaves open.
    pub severity: Severity,
    /// What the finding is about; `docs/documents.md` lists the codes.
    pub code: Code,
    /// A JSON Pointer to the place; for a missing member, to where it should be.
    pub path: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The line, from 1, in a text that is not JSON and so has no pointers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1, in such a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl DocumentFinding {
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The rules that a document is checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rules {
    /// The standards as they are used in practice: other words, roles and later versions are
    /// accepted.
    #[default]
    Usual,
    /// Exactly the standards: their interfaces and the checks of section 6.2. The rules that find
    /// contradictions within a document apply as well.
    Strict,
}

/// The findings in one document, the errors first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentReport {
    /// The standard that it follows; null if it is not a session document.
    pub format: Option<Standard>,
    /// Whether the document has no errors; warnings do not count.
    pub valid: bool,
    /// What was found, the errors first.
    pub findings: Vec<DocumentFinding>,
}

/// A file that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValidatedFile {
    /// The path of the file.
    pub file: String,
    #[serde(flatten)]
    pub report: DocumentReport,
}

impl DocumentReport {
    fn new(format: Option<Standard>, mut findings: Findings) -> Self {
        let (valid, omitted) = (!findings.has_error, findings.omitted);
        if omitted > 0 {
            findings.kept.truncate(FINDINGS_MAX - 1);
            let message = format!("{} more findings are not listed", omitted + 1);
            findings.warning(Code::TooMany, "", message);
        }
        let mut findings = findings.kept;
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        Self { format, valid, findings }
    }

    /// How many findings are errors, and how many warnings.
    pub fn count(&self) -> (usize, usize) {
        let errors = self.findings.iter().filter(|finding| finding.is_error()).count();
        (errors, self.findings.len() - errors)
    }
}

/// The findings so far.
#[derive(Debug, Default)]
struct Findings {
    kept: Vec<DocumentFinding>,
    /// The number of findings that are not listed.
    omitted: usize,
    has_error: bool,
}

impl Findings {
    fn error(&mut self, code: Code, path: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Error, code, path, message);
    }

    fn warning(&mut self, code: Code, path: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Warning, code, path, message);
    }

    fn add(
        &mut self,
        severity: Severity,
        code: Code,
        path: impl Into<String>,
        message: impl Into<String>,
    ) {
        let (path, message) = (path.into(), message.into());
        self.push(DocumentFinding { severity, code, path, message, line: None, column: None });
    }

    fn push(&mut self, finding: DocumentFinding) {
        self.has_error |= finding.severity == Severity::Error;
        if self.kept.len() < FINDINGS_MAX {
            self.kept.push(finding);
        } else {
            self.omitted += 1;
        }
    }

    fn append(&mut self, others: Self) {
        others.kept.into_iter().for_each(|finding| self.push(finding));
        self.omitted += others.omitted;
        self.has_error |= others.has_error;
    }
}

/// Checks a document against its standard. `file_name` is compared with the content, but decides
/// nothing.
pub fn validate(text: &str, file_name: Option<&str>, held_to: Rules) -> DocumentReport {
    let mut findings = Findings::default();
    let Some(value) = syntax::parse(text, &mut findings) else {
        return DocumentReport::new(None, findings);
    };
    let Some(standard) = Standard::of(&value) else {
        let why = match value.is_object() {
            true => "it has neither `session_id` nor `tool_calls`",
            false => "it is not an object",
        };
        let message = format!("JSON, but not a session document: {why}");
        findings.error(Code::NotADocument, "", message);
        return DocumentReport::new(None, findings);
    };
    let root = At::root(&value);
    if old::is_version_0(&root, &mut findings) {
        return DocumentReport::new(Some(standard), findings);
    }
    let explained = old::check(&root, &mut findings);
    structure::check(&root, standard, &explained, &mut findings);
    let document = Document::new(root, standard);
    for rules in [
        calls::check,
        duplicates::check,
        links::check,
        messages::check,
        annotations::check,
        time::check,
        counts::check,
        files::check,
    ] {
        rules(&document, &mut findings);
    }
    strict::check(&document, held_to, &explained, &mut findings);
    if let Some(file_name) = file_name {
        name::check(&document, file_name, &mut findings);
    }
    DocumentReport::new(Some(standard), findings)
}

/// [`validate()`] for bytes that may not be text, or may be too many.
pub fn validate_bytes(bytes: &[u8], file_name: Option<&str>, held_to: Rules) -> DocumentReport {
    let mut findings = Findings::default();
    if bytes.len() > BYTES_MAX {
        let message = format!("larger than {} MiB: not a session document", BYTES_MAX >> 20);
        findings.error(Code::TooLarge, "", message);
        return DocumentReport::new(None, findings);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => validate(text, file_name, held_to),
        Err(error) => {
            let message = format!("not valid UTF-8 from byte {} on", error.valid_up_to());
            findings.error(Code::NotUtf8, "", message);
            DocumentReport::new(None, findings)
        }
    }
}

#[cfg(test)]
mod tests;
