//! `blame` on a repository whose history is known: three agents, sub-agents, and a person between.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::home::Home;

/// Who wrote a line: the number of a session and of its call, or nobody that is recorded.
type Truth = Option<(usize, usize)>;

/// A generator of numbers that is the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// A file of the repository, with the truth about each line.
#[derive(Default)]
struct File {
    lines: Vec<(String, Truth)>,
}

impl File {
    fn text(&self) -> String {
        self.lines.iter().map(|(text, _)| format!("{text}\n")).collect()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Agent {
    Claude,
    /// A sub-agent of Claude Code, in a file of its own.
    Helper,
    Codex,
    Gemini,
}

/// What one call changed.
struct Made {
    /// The id of the call.
    key: String,
    /// The file, and its text before.
    name: String,
    before: String,
    /// The number of the first line that was changed.
    at: usize,
    gone: Vec<String>,
    added: Vec<String>,
}

impl Made {
    /// Enough lines around the change that the text is in the file only once.
    fn around(&self) -> (Vec<String>, Vec<String>) {
        let lines: Vec<String> = self.before.lines().map(str::to_owned).collect();
        let (from, to) = (self.at.saturating_sub(3), self.at + self.gone.len());
        let tail = lines.get(to..(to + 3).min(lines.len())).unwrap_or_default();
        (lines[from..self.at].to_vec(), tail.to_vec())
    }
}

/// The repository while its history is made.
struct World {
    home: Home,
    root: String,
    files: BTreeMap<String, File>,
    dice: Dice,
    /// Seconds since the beginning.
    now: i64,
    made: usize,
}

impl World {
    fn at(&mut self) -> String {
        self.now += 1;
        let begin = antiphon_model::Timestamp::parse("2026-09-01T08:00:00.000Z").unwrap();
        antiphon_model::Timestamp::from_millis(begin.as_millis() + self.now * 1000).to_string()
    }

    fn write(&self, name: &str) {
        self.home.write(&format!("code/shop/{name}"), &self.files[name].text());
    }

    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]).args(args);
        git.current_dir(&self.root).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let done = git.output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn new_line(&mut self) -> String {
        self.made += 1;
        format!("    value_{} = compute({})", self.made, self.made * 7)
    }

    /// Changes a file in one place. Returns the lines before, what went, and what came.
    fn change(&mut self, name: &str, truth: Truth) -> (usize, Vec<String>, Vec<String>) {
        let added: Vec<String> = (0..=self.dice.below(3)).map(|_| self.new_line()).collect();
        let len = self.files[name].lines.len();
        let at = self.dice.below(len.saturating_sub(2).max(1));
        let gone = self.dice.below(3).min(len - at);
        let file = self.files.get_mut(name).unwrap();
        let new = added.iter().map(|text| (text.clone(), truth));
        let gone: Vec<String> =
            file.lines.splice(at..at + gone, new).map(|(text, _)| text).collect();
        (at, gone, added)
    }

    /// What a person does, with a commit.
    fn person(&mut self) {
        let name = self.some_file();
        match self.dice.below(4) {
            0 | 1 => drop(self.change(&name, None)),
            // A block goes to another place of the file.
            2 => {
                let lines = &mut self.files.get_mut(&name).unwrap().lines;
                let block: Vec<_> = lines.drain(2..5.min(lines.len())).collect();
                lines.extend(block);
            }
            _ => {
                let to = format!("src/part_{}.py", self.made);
                let file = self.files.remove(&name).unwrap();
                self.git(&["mv", &name, &to]);
                self.files.insert(to, file);
                self.git(&["commit", "-q", "-m", "rename"]);
                return;
            }
        }
        self.write(&name);
        self.git(&["commit", "-q", "-a", "-m", "by hand"]);
    }

    fn some_file(&mut self) -> String {
        let at = self.dice.below(self.files.len());
        self.files.keys().nth(at).unwrap().clone()
    }

    fn session(&mut self, number: usize, agent: Agent) {
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        let mut lines = self.beginning(number, &id, agent);
        let mut sub: Vec<Value> = Vec::new();
        for call in 0..=self.dice.below(3) {
            let name = self.some_file();
            let before = self.files[&name].text();
            let rewrites = self.dice.below(4) == 0;
            let (at, gone, added) = self.change(&name, Some((number, call)));
            self.write(&name);
            let change =
                Made { key: format!("call_{number}_{call}"), name, before, at, gone, added };
            match agent {
                Agent::Claude => lines.extend(self.claude_call(&id, None, &change, rewrites)),
                Agent::Helper => sub.extend(self.claude_call(&id, Some("aaa"), &change, rewrites)),
                Agent::Codex => lines.extend(self.codex_call(&change)),
                Agent::Gemini => lines.push(self.gemini_call(&change)),
            }
        }
        self.save(&id, agent, &lines, &sub);
    }

    /// The first lines of a session, with its prompt.
    fn beginning(&mut self, number: usize, id: &str, agent: Agent) -> Vec<Value> {
        let at = self.at();
        let prompt = format!("Do task {number}");
        match agent {
            Agent::Claude | Agent::Helper => vec![self.claude(id, "user", &json!(prompt), None)],
            Agent::Codex => vec![
                json!({"timestamp": at, "type": "session_meta", "payload": {
                    "id": id, "timestamp": at, "cwd": self.root, "originator": "codex_cli_rs",
                    "cli_version": "0.136.0", "source": "cli"}}),
                json!({"timestamp": at, "type": "response_item", "payload": {
                    "type": "message", "role": "user",
                    "content": [{"type": "input_text", "text": prompt}]}}),
            ],
            Agent::Gemini => vec![
                json!({"sessionId": id, "projectHash": "p", "startTime": at, "lastUpdated": at,
                    "kind": "main", "directories": [self.root]}),
                json!({"id": format!("u{number}"), "timestamp": at, "type": "user",
                    "content": prompt}),
            ],
        }
    }

    fn claude_call(
        &mut self,
        id: &str,
        agent: Option<&str>,
        change: &Made,
        rewrites: bool,
    ) -> [Value; 2] {
        let path = format!("{}/{}", self.root, change.name);
        let (tool, input) = match rewrites {
            true => {
                let after = self.files[&change.name].text();
                ("Write", json!({"file_path": path, "content": after}))
            }
            false => {
                let (head, tail) = change.around();
                let text = |middle: &[String]| {
                    let lines = head.iter().chain(middle).chain(&tail);
                    lines.map(|it| format!("{it}\n")).collect::<String>()
                };
                let (old, new) = (text(&change.gone), text(&change.added));
                ("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
            }
        };
        let key = &change.key;
        let block = json!([{"type": "tool_use", "id": key, "name": tool, "input": input}]);
        let made = self.claude(id, "assistant", &block, agent);
        let block = json!([{"type": "tool_result", "tool_use_id": key, "content": "ok"}]);
        let mut got = self.claude(id, "user", &block, agent);
        got["toolUseResult"] = json!({"filePath": path, "originalFile": change.before});
        [made, got]
    }

    fn codex_call(&mut self, change: &Made) -> [Value; 2] {
        let (head, tail) = change.around();
        let mut patch = format!("*** Begin Patch\n*** Update File: {}\n@@\n", change.name);
        let signed = [(' ', &head), ('-', &change.gone), ('+', &change.added), (' ', &tail)];
        for (sign, lines) in signed {
            patch.extend(lines.iter().map(|it| format!("{sign}{it}\n")));
        }
        patch.push_str("*** End Patch\n");
        let made = json!({"timestamp": self.at(), "type": "response_item", "payload": {
            "type": "custom_tool_call", "status": "completed", "call_id": change.key,
            "name": "apply_patch", "input": patch}});
        let got = json!({"timestamp": self.at(), "type": "response_item", "payload": {
            "type": "custom_tool_call_output", "call_id": change.key,
            "output": "Exit code: 0\nOutput:\nSuccess."}});
        [made, got]
    }

    fn gemini_call(&mut self, change: &Made) -> Value {
        let Made { key, name, before, .. } = change;
        let after = self.files[name].text();
        let arguments = json!({"file_path": format!("{}/{name}", self.root), "content": after});
        json!({"id": format!("g{key}"), "timestamp": self.at(), "type": "gemini", "content": "",
            "toolCalls": [{"id": key, "name": "write_file", "args": arguments,
            "status": "success", "timestamp": self.at(),
            "resultDisplay": {"fileName": name, "originalContent": before, "newContent": after},
            "result": [{"functionResponse": {"id": key, "name": "write_file",
                "response": {"output": "Successfully overwrote file."}}}]}]})
    }

    /// Writes the files of a session where its agent would.
    fn save(&self, id: &str, agent: Agent, lines: &[Value], sub: &[Value]) {
        let text = |lines: &[Value]| lines.iter().map(|it| format!("{it}\n")).collect::<String>();
        let folder = format!(".claude/projects/{}", self.root.replace(['/', '.', '_'], "-"));
        let path = match agent {
            Agent::Claude | Agent::Helper => format!("{folder}/{id}.jsonl"),
            Agent::Codex => {
                format!(".codex/sessions/2026/09/01/rollout-2026-09-01T08-00-00-{id}.jsonl")
            }
            Agent::Gemini => {
                format!(".gemini/tmp/shop/chats/session-2026-09-01T08-00-{}.jsonl", &id[..8])
            }
        };
        self.home.write(&path, &text(lines));
        if agent == Agent::Helper {
            self.home.write(&format!("{folder}/{id}/subagents/agent-aaa.jsonl"), &text(sub));
        }
    }

    fn claude(&mut self, id: &str, kind: &str, content: &Value, agent: Option<&str>) -> Value {
        let at = self.at();
        let mut line = json!({"parentUuid": null, "isSidechain": agent.is_some(), "cwd": self.root,
            "sessionId": id, "version": "2.1.210", "type": kind, "timestamp": at,
            "uuid": format!("u{}-{id}", self.now),
            "message": {"role": kind, "content": content}});
        if let Some(agent) = agent {
            line["agentId"] = json!(agent);
        }
        if kind == "assistant" {
            line["message"]["id"] = json!(format!("msg_{}", self.now));
            line["message"]["model"] = json!("claude-sonnet-4-5-20250929");
        }
        line
    }
}

#[test]
fn forty_sessions_and_a_person_every_line_has_its_author_or_none() {
    if Command::new("git").arg("--version").output().is_err() {
        println!("skipped: git is not there");
        return;
    }
    for seed in [7, 777] {
        forty_sessions(seed);
    }
}

fn forty_sessions(seed: u64) {
    let home = Home::new();
    let root = home.path("code/shop").display().to_string();
    let (files, dice) = (BTreeMap::new(), Dice(seed));
    let mut world = World { home, root, files, dice, now: 0, made: 0 };
    for name in ["src/app.py", "src/parse.py", "src/report.py"] {
        let lines = (0..30).map(|_| (world.new_line(), None)).collect();
        world.files.insert(name.to_owned(), File { lines });
        world.write(name);
    }
    world.git(&["init", "-q", "-b", "main"]);
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "base"]);
    for number in 1..=40 {
        let agents = [Agent::Claude, Agent::Codex, Agent::Helper, Agent::Gemini];
        let agent = agents[world.dice.below(agents.len())];
        world.session(number, agent);
        world.git(&["commit", "-q", "-a", "-m", "by an agent", "--allow-empty"]);
        if number % 3 == 0 {
            world.person();
        }
    }
    let done = world.home.run("sync");
    assert_eq!(done.exit, 0, "{done}");
    let (mut known, mut agents) = (0, 0);
    for (name, file) in &world.files {
        let path = Path::new(&world.root).join(name);
        let done = world.home.run(&format!("blame {} --json", path.display()));
        assert_eq!(done.exit, 0, "{done}");
        let blame: Value = serde_json::from_str(&done.out).unwrap();
        let found = blame["lines"].as_array().unwrap();
        assert_eq!(found.len(), file.lines.len(), "{name}");
        for (line, (text, truth)) in found.iter().zip(&file.lines) {
            assert_eq!(line["text"], **text, "{name}");
            let said = line["call_id"].as_str();
            let wanted = truth.map(|(session, call)| format!("call_{session}_{call}"));
            assert!(
                said.is_none() || said == wanted.as_deref(),
                "{seed}: {name}: {line}, truth {wanted:?}"
            );
            known += usize::from(said.is_some());
            agents += usize::from(truth.is_some());
        }
    }
    assert_eq!(known, agents, "{seed}: every line that an agent wrote has its author");
}
