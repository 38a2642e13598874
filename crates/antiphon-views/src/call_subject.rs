//! What a call is about, in as few words as a person would use.

use antiphon_model::{Arguments, BodyError, CallIx, json};

use crate::Reading;
use crate::edits::{named_paths, relative_path};
use crate::shell::is_shell;

/// The names of arguments that say what a call looks for or asks for, the most telling first.
const TELLING: &[&str] =
    &["query", "url", "description", "prompt", "skill", "name", "subject", "question", "task"];
const PATTERN: &[&str] = &["pattern", "regex", "glob"];
const FOLDER: &[&str] = &["path", "dir_path", "directory", "folder"];

/// What a call is about, without the name of its tool: the command of a shell, the files that are
/// read or changed, what is searched for. Everything else is its arguments in short. A command may
/// have several lines.
pub fn call_subject(reading: &Reading<'_>, ix: CallIx) -> Result<String, BodyError> {
    let session = reading.session;
    let tool = session.tool_name(ix);
    let arguments = Arguments::of(reading, ix)?;
    if is_shell(tool) {
        let command = command(&arguments).or_else(|| session.raw_command(ix).map(Into::into));
        if let Some(command) = command {
            return Ok(command);
        }
    }
    let cwd = session.info().cwd.as_deref();
    let relative = |path: String| relative_path(&path, cwd, cwd);
    if let Some(pattern) = arguments.any_text(PATTERN) {
        return Ok(match arguments.any_text(FOLDER).map(relative) {
            Some(folder) => format!("{pattern} in {folder}"),
            None => pattern,
        });
    }
    let paths: Vec<String> = named_paths(reading, ix)?.into_iter().map(relative).collect();
    if !paths.is_empty() {
        return Ok(paths.join(", "));
    }
    if let Some(text) = arguments.any_text(TELLING) {
        return Ok(text);
    }
    let raw = session.raw_command(ix);
    Ok(match session.call(ix).arguments {
        place if place.is_none() => raw.unwrap_or_default().to_owned(),
        place => crate::short_arguments(&reading.bodies.read(place)?),
    })
}

/// A command as it would be typed. `bash -lc 'make test'` is `make test`.
fn command(arguments: &Arguments) -> Option<String> {
    let list = arguments.raw("command").or(arguments.raw("cmd"));
    let mut words: Vec<String> = Vec::new();
    let is_list = list.is_some_and(|list| {
        json::elements(list, |word| words.extend(json::text(word).map(String::from))).is_ok()
    });
    if !is_list {
        return arguments.any_text(&["command", "cmd", "script"]);
    }
    match words.as_slice() {
        [shell, flag, script] if shell.ends_with("sh") && matches!(&**flag, "-c" | "-lc") => {
            Some(script.clone())
        }
        words => Some(words.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{call, read};

    #[test]
    fn a_call_is_told_in_the_words_that_matter() {
        let check = |tool: &str, arguments: &str| {
            let started = r#"{"message_id":"s","event_type":"session_started","cwd":"/w/shop"}"#;
            let log = [started.to_owned(), call("a", "c", tool, arguments, "")];
            read(&log, |reading| {
                let (ix, _) = reading.session.calls().next().unwrap();
                call_subject(reading, ix).unwrap()
            })
        };
        assert_eq!(check("Bash", r#"{"command":"make\ntest","description":"x"}"#), "make\ntest");
        assert_eq!(check("shell", r#"{"command":["bash","-lc","make test"]}"#), "make test");
        assert_eq!(check("shell", r#"{"command":["ls","-l"]}"#), "ls -l");
        assert_eq!(check("Read", r#"{"file_path":"/w/shop/src/a.rs"}"#), "src/a.rs");
        assert_eq!(check("Read", r#"{"file_path":"/etc/hosts"}"#), "/etc/hosts");
        assert_eq!(check("Grep", r#"{"pattern":"fn x","path":"/w/shop/src"}"#), "fn x in src");
        assert_eq!(check("Glob", r#"{"pattern":"**/*.rs"}"#), "**/*.rs");
        let patch = r#"*** Begin Patch\n*** Update File: a.rs\n@@\n-a\n+b\n*** Add File: b.rs\n+c\n*** End Patch"#;
        assert_eq!(check("apply_patch", &format!(r#"{{"input":"{patch}"}}"#)), "a.rs, b.rs");
        assert_eq!(check("WebFetch", r#"{"url":"https://a.b","prompt":"look"}"#), "https://a.b");
        assert_eq!(check("mcp__x", r#"{"n":3,"flag":true}"#), "n: 3, flag: true");
        assert_eq!(check("mcp__x", "{}"), "");
    }
}
