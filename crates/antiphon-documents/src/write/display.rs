//! Short texts for people: a call and its result as a terminal would show them.

use serde_json::{Map, Value};

const MOST_CHARS: usize = 120;

/// `Read(src/main.rs)`: the tool and its most informative argument.
pub(super) fn command(tool: &str, input: &Map<String, Value>) -> Option<String> {
    let params = input.get("params")?.as_object()?;
    let primary = ["file_path", "notebook_path", "path", "command", "pattern", "query", "url"];
    let said = ["description", "subject", "prompt", "cmd"];
    let word = primary.iter().chain(&said).find_map(|name| params.get(*name)?.as_str())?;
    Some(format!("{tool}({})", clip(word)))
}

/// `Read 67 lines`: a description of the result.
pub(super) fn result(tool: &str, text: &str, structured: Option<&Map<String, Value>>) -> String {
    let lines = text.lines().count();
    let number =
        |name: &str| structured.and_then(|structured| structured.get(name)).and_then(Value::as_u64);
    let of_file = |name: &str| {
        let file = structured.and_then(|structured| structured.get("file"))?;
        file.get(name).and_then(Value::as_u64)
    };
    match tool {
        "Read" | "NotebookRead" | "read_file" => {
            count("Read", of_file("numLines").unwrap_or(lines as u64), "line")
        }
        "Glob" | "LS" | "list_dir" => {
            count("Found", number("numFiles").unwrap_or(lines as u64), "file")
        }
        "Grep" => match number("numLines").or_else(|| number("numFiles")) {
            Some(found) => count("Found", found, "match"),
            None => count("Found", lines as u64, "line"),
        },
        _ if text.trim().is_empty() => "(No content)".to_owned(),
        _ => {
            let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            match lines {
                0 | 1 => clip(first),
                more => format!("{} (+{} lines)", clip(first), more - 1),
            }
        }
    }
}

fn count(verb: &str, n: u64, what: &str) -> String {
    let plural = match (n, what) {
        (1, _) => "",
        (_, "match") => "es",
        _ => "s",
    };
    format!("{verb} {n} {what}{plural}")
}

/// The beginning of a text, on one line.
pub(super) fn clip(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = words.char_indices().nth(MOST_CHARS) {
        words.truncate(cut);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_in_a_few_words() {
        assert_eq!(result("Read", "a\nb\n", None), "Read 2 lines");
        assert_eq!(result("Glob", "a.rs\n", None), "Found 1 file");
        assert_eq!(result("Grep", "", None), "Found 0 lines");
        assert_eq!(result("Bash", "", None), "(No content)");
        assert_eq!(result("Bash", "\nok\nmore", None), "ok (+2 lines)");
    }

    #[test]
    fn a_call_as_a_terminal_shows_it() {
        let input = serde_json::json!({"params": {"command": "make  test", "timeout": 3}});
        assert_eq!(command("Bash", input.as_object().unwrap()).unwrap(), "Bash(make test)");
        let none = serde_json::json!({"params": {}});
        assert_eq!(command("TodoRead", none.as_object().unwrap()), None);
    }
}
