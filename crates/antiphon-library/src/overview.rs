//! A session on one page, with what only this machine knows: where its project is, and how its
//! agent continues it.

use antiphon_model::BodyError;
use antiphon_views::{Named, Prices, Reading, SessionOverview, overview};

use crate::root_of;

/// A session on one page. `id` is what it is called.
pub fn session_overview(
    reading: &Reading<'_>,
    id: &str,
    format: &str,
    prices: &Prices,
) -> Result<SessionOverview, BodyError> {
    let cwd = reading.session.info().cwd.as_deref();
    let (root, command) = (root_of(cwd), continue_command(format, id, cwd));
    let (root, continue_with) = (root.as_deref(), command.as_deref());
    overview(reading, &Named { session_id: id, format, root, continue_with }, prices)
}

/// The command with which the agent of a format continues a session that worked in the folder
/// `cwd`. Nothing, if no such command is known, or the id is not plainly an id: it comes from a
/// file, and the command is meant to be pasted into a shell.
pub fn continue_command(format: &str, id: &str, cwd: Option<&str>) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if id.starts_with('-') || !id.chars().all(is_plain) {
        return None;
    }
    let words = antiphon_formats::find(format).map(|format| format.layout.resume)?;
    let words: Vec<String> = words.iter().map(|word| word.replace("{}", id)).collect();
    let command = shlex::try_join(words.iter().map(String::as_str)).ok()?;
    match cwd.map(shlex::try_quote) {
        _ if words.is_empty() => None,
        None => Some(command),
        // A folder that a shell cannot be told has no command.
        Some(folder) => folder.ok().map(|folder| format!("cd {folder} && {command}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_continued_in_its_folder_by_its_agent() {
        let check = |format, id, cwd| continue_command(format, id, cwd);
        let wanted = Some("cd /w/shop && claude --resume 0f-1".to_owned());
        assert_eq!(check("claude-code", "0f-1", Some("/w/shop")), wanted);
        let wanted = Some("cd '/w/my shop' && codex resume 0f".to_owned());
        assert_eq!(check("codex", "0f", Some("/w/my shop")), wanted);
        assert_eq!(check("codex", "0f", None), Some("codex resume 0f".to_owned()));
        assert_eq!(check("otlp", "0f", None), None);
    }

    #[test]
    fn an_id_or_a_folder_from_a_hostile_file_is_no_command() {
        for id in ["$(rm -rf .)", "-rf", "a;b", "a b", "a\u{202e}"] {
            assert_eq!(continue_command("codex", id, Some("/w")), None, "{id}");
        }
        let quoted = continue_command("codex", "0f", Some("/w/$(touch x)"));
        assert_eq!(quoted.as_deref(), Some("cd '/w/$(touch x)' && codex resume 0f"));
        assert_eq!(continue_command("codex", "0f", Some("/w\0")), None);
    }
}
