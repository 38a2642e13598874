//! What the events of a session are, so that a session without such events is not opened.

use std::collections::BTreeSet;

use antiphon_model::Session;

use crate::search::Query;

/// A session that has more tools than fit into this is hostile: it is opened.
const BYTES_MAX: usize = 64 << 10;

/// The kinds of all events of a session, its tools, and whether one is an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    kinds: BTreeSet<&'static str>,
    /// In small letters.
    tools: BTreeSet<String>,
    has_errors: bool,
}

impl Fields {
    pub(crate) fn of(session: &Session) -> Self {
        let mut fields = Self::default();
        for entry in session.entries() {
            fields.kinds.insert(entry.kind().as_str());
            fields.has_errors |= entry.is_error();
        }
        let names: BTreeSet<&str> = session.calls().map(|(ix, _)| session.tool_name(ix)).collect();
        fields.tools = names.into_iter().map(str::to_lowercase).collect();
        fields
    }

    /// The words that stand for them, each of which is in no other's place; nothing, if that would
    /// be too much.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        let kinds = self.kinds.iter().map(|kind| kind_word(kind));
        let tools = self.tools.iter().map(|tool| tool_word(tool));
        let error = self.has_errors.then(|| ERROR.to_owned());
        let words: Vec<String> = kinds.chain(tools).chain(error).collect();
        let bytes: usize = words.iter().map(String::len).sum();
        (bytes <= BYTES_MAX).then_some(words)
    }
}

const ERROR: &str = "is:error";

fn kind_word(kind: &str) -> String {
    format!("role:{kind}")
}

fn tool_word(tool: &str) -> String {
    format!("tool:{tool}")
}

/// The words of the fields that a session must have to be what a query asks for.
pub(crate) fn wanted(query: &Query) -> Vec<String> {
    // All others are about words, or about the session as a whole.
    let Query { role, tool, is_error, .. } = query;
    let (role, tool) = (role.as_deref().map(kind_word), tool.as_deref().map(tool_word));
    let error = is_error.then(|| ERROR.to_owned());
    role.into_iter().chain(tool).chain(error).collect()
}
