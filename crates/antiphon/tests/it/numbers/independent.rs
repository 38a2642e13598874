//! A count that knows nothing of the program: a plain walk over the JSON of an agent's files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::AddAssign;
use std::path::Path;

use serde_json::Value;

use super::layout::files;

/// Input without what came from a cache or went to one; output with reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
    }
}

/// Fixtures whose point is that a plain walk is wrong: copied beginnings of forks, totals that were
/// reset, documents of another shape, tokens of steps without those of their message, ids that
/// repeat.
const NOT_PLAIN: &[&str] = &[
    "codex replayed-by-ordinal",
    "codex replayed-elsewhere",
    "codex replayed-prefix",
    "codex reset",
    "codex legacy",
    "gemini saved",
    "opencode full",
    "opencode reverted",
];

/// What lies in a home, counted by itself; nothing, for what nobody wrote a walk for.
pub(super) fn count(kind: &str, what: &str, home: &Path) -> Option<Tokens> {
    if NOT_PLAIN.contains(&what) {
        return None;
    }
    match kind {
        "claude-code" => Some(claude_code(home)),
        "codex" => Some(codex(home)),
        "opencode" => Some(opencode(home)),
        "copilot" => Some(copilot(home)),
        "gemini" | "gemini-cli" => Some(gemini(home)),
        _ => None,
    }
}

/// The JSON of every line of every file that ends like this, by file.
fn lines(home: &Path, ending: &str) -> Vec<Vec<Value>> {
    let files = files(home).into_iter().filter(|path| path.to_str().unwrap().ends_with(ending));
    let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    files
        .map(|path| {
            let text = read(path);
            // Some lines hold several records.
            let records = text.lines().flat_map(|line| {
                serde_json::Deserializer::from_str(line).into_iter().map_while(Result::ok)
            });
            records.collect()
        })
        .collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn sum(tokens: impl IntoIterator<Item = Tokens>) -> Tokens {
    let mut total = Tokens::default();
    tokens.into_iter().for_each(|it| total += it);
    total
}

/// Every request once, as its last line tells it. Not every line of a message names its request.
/// Progress lines that repeat a sub-agent's lines are no requests of their own.
fn claude_code(home: &Path) -> Tokens {
    let mut requests: BTreeMap<(String, String), Tokens> = BTreeMap::new();
    for lines in lines(home, ".jsonl") {
        let mut named: BTreeMap<String, String> = BTreeMap::new();
        for line in &lines {
            let message = &line["message"];
            let usage = &message["usage"];
            let is_made_up = message["model"] == "<synthetic>";
            if line["type"] != "assistant" || !usage.is_object() || is_made_up {
                continue;
            }
            let id = message["id"].as_str().or(line["uuid"].as_str()).unwrap_or_default();
            let request = line["requestId"].as_str().map(str::to_owned);
            let request = request.or_else(|| named.get(id).cloned());
            let request = request.unwrap_or_else(|| text(&line["sessionId"]));
            named.insert(id.to_owned(), request.clone());
            let tokens = Tokens {
                input: number(&usage["input_tokens"]),
                output: number(&usage["output_tokens"]),
                cache_read: number(&usage["cache_read_input_tokens"]),
                cache_write: number(&usage["cache_creation_input_tokens"]),
            };
            requests.insert((request, id.to_owned()), tokens);
        }
    }
    sum(requests.into_values())
}

/// By how much the totals grew; what was used last, where there is no total to compare with or it
/// went down. Of a thread that is there twice, the longer file.
fn codex(home: &Path) -> Tokens {
    let read = |counts: &Value| {
        ["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"]
            .map(|name| number(&counts[name]))
    };
    let mut threads: BTreeMap<String, (usize, Tokens)> = BTreeMap::new();
    for lines in lines(home, ".jsonl") {
        let Some(first) = lines.first() else { continue };
        let source = &first["payload"]["source"];
        let is_made = source.is_object() || first["payload"]["forked_from_id"].is_string();
        let mut before = (!is_made).then_some([0; 4]);
        let mut used = Tokens::default();
        for line in &lines {
            let info = &line["payload"]["info"];
            if line["payload"]["type"] != "token_count" || !info["total_token_usage"].is_object() {
                continue;
            }
            let total = read(&info["total_token_usage"]);
            let grown = before.filter(|before| before.iter().zip(total).all(|(a, b)| *a <= b));
            let [input, output, cached, written] = match grown {
                Some(before) => std::array::from_fn(|at| total[at] - before[at]),
                None => read(&info["last_token_usage"]),
            };
            before = Some(total);
            used += Tokens {
                input: input.saturating_sub(cached + written),
                output,
                cache_read: cached,
                cache_write: written,
            };
        }
        let id = first["payload"]["id"].as_str().or(first["id"].as_str());
        let id = id.map_or_else(|| format!("{first}"), str::to_owned);
        let known = threads.entry(id).or_default();
        if lines.len() > known.0 {
            *known = (lines.len(), used);
        }
    }
    sum(threads.into_values().map(|(_, tokens)| tokens))
}

/// Every answer of every session, by their ids, in exports and in files of their own.
fn opencode(home: &Path) -> Tokens {
    let mut answers: BTreeMap<(String, String), Tokens> = BTreeMap::new();
    let mut sessions = BTreeSet::new();
    let mut left = Vec::new();
    for path in files(home) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Ok(document) = serde_json::from_str::<Value>(&text) else { continue };
        let name = path.to_str().unwrap().to_owned();
        match document["messages"].as_array() {
            Some(messages) => left.extend(messages.iter().map(|it| (None, it["info"].clone()))),
            None if name.contains("/message/") => {
                let folder = path.parent().and_then(Path::file_name).unwrap();
                left.push((Some(folder.to_str().unwrap().to_owned()), document));
            }
            None => drop(sessions.insert(self::text(&document["id"]))),
        }
    }
    for (folder, info) in left {
        // Messages of a session that is gone count for nobody.
        if folder.is_some_and(|it| !sessions.contains(&it)) || !info["tokens"].is_object() {
            continue;
        }
        let tokens = &info["tokens"];
        let mut own = Tokens {
            input: number(&tokens["input"]),
            output: number(&tokens["output"]),
            cache_read: number(&tokens["cache"]["read"]),
            cache_write: number(&tokens["cache"]["write"]),
        };
        // Versions differ on whether the output has it; the total tells, if there is one.
        let reasoning = number(&tokens["reasoning"]);
        let all = own.input + own.output + own.cache_read + own.cache_write + reasoning;
        if reasoning > own.output || number(&tokens["total"]) == all {
            own.output += reasoning;
        }
        answers.insert((text(&info["sessionID"]), text(&info["id"])), own);
    }
    sum(answers.into_values())
}

/// The totals of the last end; and what was said after it, or where there is none.
fn copilot(home: &Path) -> Tokens {
    let mut total = Tokens::default();
    for lines in lines(home, ".jsonl") {
        let mut runs: Vec<Tokens> = Vec::new();
        let mut said: u64 = 0;
        for line in &lines {
            let data = &line["data"];
            match line["type"].as_str().unwrap_or_default() {
                "assistant.message" => said += number(&data["outputTokens"]),
                "session.shutdown" => {
                    let models = data["modelMetrics"].as_object();
                    let usages = models.iter().flat_map(|it| it.values()).map(|it| &it["usage"]);
                    let mut end = sum(usages.map(|usage| {
                        let (read, write) =
                            (number(&usage["cacheReadTokens"]), number(&usage["cacheWriteTokens"]));
                        let input = number(&usage["inputTokens"]);
                        Tokens {
                            input: input.saturating_sub(read + write),
                            output: number(&usage["outputTokens"]),
                            cache_read: read,
                            cache_write: write,
                        }
                    }));
                    let details = &data["tokenDetails"];
                    if end == Tokens::default() && details.is_object() {
                        let count = |name: &str| number(&details[name]["tokenCount"]);
                        end = Tokens {
                            input: count("input"),
                            output: count("output"),
                            cache_read: count("cache_read"),
                            cache_write: count("cache_write"),
                        };
                    }
                    if end == Tokens::default() {
                        continue;
                    }
                    // Totals go on, or begin anew.
                    if runs
                        .last()
                        .is_some_and(|last| last.input <= end.input && last.output <= end.output)
                    {
                        runs.pop();
                    }
                    runs.push(end);
                    said = 0;
                }
                _ => {}
            }
        }
        total += sum(runs);
        total.output += said;
    }
    total
}

/// Every answer, as it was written last; some chats are there twice.
fn gemini(home: &Path) -> Tokens {
    let mut answers: BTreeMap<(String, String), Tokens> = BTreeMap::new();
    for path in files(home) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        let messages: Vec<Value> = match document["messages"].as_array() {
            Some(messages) => messages.clone(),
            None => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
        };
        let chat = document["sessionId"].as_str().map(str::to_owned);
        let chat = chat.unwrap_or_else(|| path.display().to_string());
        for message in &messages {
            let tokens = &message["tokens"];
            if !tokens.is_object() {
                continue;
            }
            let (cached, thoughts) = (number(&tokens["cached"]), number(&tokens["thoughts"]));
            let own = Tokens {
                input: number(&tokens["input"]).saturating_sub(cached) + number(&tokens["tool"]),
                output: number(&tokens["output"]) + thoughts,
                cache_read: cached,
                cache_write: 0,
            };
            answers.insert((chat.clone(), self::text(&message["id"])), own);
        }
    }
    sum(answers.into_values())
}
