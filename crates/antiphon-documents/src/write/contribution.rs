//! What a call added to the agent's context.

use antiphon_model::{BodyError, CallIx};
use antiphon_views::Reading;
use serde_json::{Map, Value};

use super::display::clip;

/// Derived from the result of calls that read, search or run something; `None` for a call that
/// failed or returned no text.
pub(super) fn contribution(
    reading: &Reading<'_>,
    ix: CallIx,
    text: &str,
) -> Result<Option<Map<String, Value>>, BodyError> {
    let session = reading.session;
    let kind = match session.tool_name(ix) {
        "Read" | "NotebookRead" | "read_file" | "view_image" => "file_content",
        "Glob" | "Grep" | "LS" | "LSP" | "WebSearch" | "web_search" | "list_dir" => "search_result",
        "Bash" | "BashOutput" | "shell" | "exec" | "exec_command" => "command_output",
        "WebFetch" => "knowledge",
        _ => return Ok(None),
    };
    let call = session.call(ix);
    let Some(result) = call.last_result().map(|event| session.entry(event)) else {
        return Ok(None);
    };
    if result.is_error() || text.trim().is_empty() {
        return Ok(None);
    }
    let mut whole = Map::new();
    whole.insert("type".to_owned(), kind.into());
    let summary = clip(&reading.call_text(session.tool_name(ix), call)?);
    whole.insert("summary".to_owned(), summary.into());
    whole.insert("full_content".to_owned(), text.into());
    Ok(Some(whole))
}
