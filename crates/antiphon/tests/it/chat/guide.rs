//! Every snippet of `docs/agents.md`: casts are read, and commands print what it says.

use std::path::Path;

use antiphon_agents::Cast;

use crate::home::Home;
use crate::run::workspace;

/// A snippet: what it is, the name of its file, and its text.
struct Snippet<'t> {
    kind: &'t str,
    name: &'t str,
    text: &'t str,
}

fn snippets(page: &str) -> Vec<Snippet<'_>> {
    let parts: Vec<&str> = page.split("```").collect();
    let blocks = parts.iter().skip(1).step_by(2);
    blocks
        .map(|block| {
            let (info, text) = block.split_once('\n').unwrap();
            let (kind, name) = info.split_once(' ').unwrap_or((info, ""));
            Snippet { kind, name, text }
        })
        .collect()
}

/// The commands of a console, each with what it prints.
fn commands(console: &str) -> Vec<(&str, String)> {
    let mut commands: Vec<(&str, String)> = Vec::new();
    for line in console.lines() {
        match line.strip_prefix("$ antiphon ") {
            Some(command) => commands.push((command, String::new())),
            None => commands.last_mut().unwrap().1.push_str(&format!("{line}\n")),
        }
    }
    commands
}

/// Whether a text is what the page shows; `…` on a line of its own stands for any lines.
fn fits(shown: &str, printed: &str) -> bool {
    let mut rest = printed;
    for (number, part) in shown.split("…\n").enumerate() {
        match rest.find(part) {
            Some(at) if number > 0 || at == 0 => rest = &rest[at + part.len()..],
            Some(_) | None => return false,
        }
    }
    rest.is_empty() || shown.ends_with("…\n")
}

/// A command's words; quotes hold words together.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate();
    let words = parts.flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

#[test]
fn every_snippet_of_the_guide_is_right() {
    let page = std::fs::read_to_string(workspace().join("docs/agents.md")).unwrap();
    let home = Home::new();
    let (mut casts, mut runs) = (0, 0);
    for Snippet { kind, name, text } in snippets(&page) {
        match kind {
            "toml" => {
                Cast::parse(text, name, Path::new("/")).unwrap();
                home.write(name, text);
                casts += 1;
            }
            "jsonl" => home.write(name, text),
            "rust" => {
                let example = workspace().join("crates/antiphon-agents/examples").join(name);
                assert!(std::fs::read_to_string(&example).unwrap().contains(text), "{name}");
            }
            "console" => {
                for (command, shown) in commands(text) {
                    let words = words(command);
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    let done = super::done(home.command(&words));
                    assert_eq!(done.exit, 0, "{command}: {done}");
                    assert!(fits(&shown, &done.out), "{command}\n{shown}---\n{}", done.out);
                    runs += 1;
                }
            }
            // What needs a key cannot be run here.
            "sh" => assert!(text.contains("OPENAI_API_KEY")),
            other => assert_eq!(other, "", "what is a snippet of that?"),
        }
    }
    assert!(casts >= 4 && runs >= 10, "{casts} casts, {runs} commands");
}
