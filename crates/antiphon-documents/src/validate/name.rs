//! Compares the name of the file with the document. The content decides; a name that contradicts it
//! misleads people, and tools that rely on names.

use super::at::quoted;
use super::document::Document;
use super::{Code, Findings, Standard};

pub(super) fn check(document: &Document<'_>, file_name: &str, findings: &mut Findings) {
    let stem = file_name.strip_suffix(".json").unwrap_or(file_name);
    let says_multi = stem.ends_with("-multi");
    let message = match document.standard {
        Standard::Std001 if says_multi => {
            Some("the name ends in `-multi`, but this is the session of one agent")
        }
        Standard::Std008 if !says_multi && document.is_multi_agent() => {
            Some("a session of several agents, in a file whose name does not end in `-multi.json`")
        }
        Standard::Std001 | Standard::Std008 => None,
    };
    if let Some(message) = message {
        findings.warning(Code::FileName, "", message);
    }
    let Some(id) = document.root.text("session_id") else {
        return;
    };
    if id == stem
        || id.strip_suffix("-multi") == Some(stem)
        || stem.strip_suffix("-multi") == Some(id)
    {
        return;
    }
    let path = document.root.path_of("session_id");
    let is_short =
        !id.is_empty() && stem.strip_prefix(id).is_some_and(|rest| rest.starts_with('-'));
    let (id, stem) = (quoted(id), quoted(stem));
    if is_short {
        let message = format!(
            "{id} is only the beginning of the file's name {stem}; the standard requires all of it"
        );
        findings.warning(Code::ShortId, path, message);
    } else {
        findings.warning(
            Code::FileName,
            path,
            format!("the id is {id}, but the file is called {stem}"),
        );
    }
}
