//! Sessions of Claude Code whose truth is known, written as that agent would.

use serde_json::{Value, json};

use crate::home::Home;

/// A session while it is made. Every line is one second after the one before it.
pub(crate) struct Claude {
    id: String,
    folder: String,
    model: String,
    /// Milliseconds since 1970.
    now: i64,
    lines: Vec<Value>,
}

/// What a request used: input, output, cache read, cache written.
pub(crate) type Tokens = [u64; 4];

const SONNET: &str = "claude-sonnet-4-5-20250929";

impl Claude {
    pub(crate) fn new(number: u32, folder: &str, start: &str) -> Self {
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        let now = antiphon_model::Timestamp::parse(start).unwrap().as_millis();
        Self { id, folder: folder.to_owned(), model: SONNET.to_owned(), now, lines: Vec::new() }
    }

    pub(crate) fn with_model(self, model: &str) -> Self {
        Self { model: model.to_owned(), ..self }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn wait(&mut self, seconds: i64) {
        self.now += seconds * 1000;
    }

    pub(crate) fn now(&self) -> String {
        antiphon_model::Timestamp::from_millis(self.now).to_string()
    }

    fn add(&mut self, kind: &str, message: &Value, request: Option<&str>) -> String {
        self.wait(1);
        let uuid = format!("{:04}-{}", self.lines.len(), self.id);
        let parent = self.lines.last().map(|line| line["uuid"].clone());
        self.lines.push(json!({
            "parentUuid": parent, "isSidechain": false, "cwd": self.folder, "sessionId": self.id,
            "version": "2.1.210", "gitBranch": "main", "type": kind, "message": message,
            "uuid": uuid, "timestamp": self.now(), "requestId": request,
        }));
        uuid
    }

    pub(crate) fn prompt(&mut self, text: &str) -> String {
        self.add("user", &json!({ "role": "user", "content": text }), None)
    }

    fn reply(&mut self, block: &Value, stop: &str, tokens: Tokens) -> String {
        let [input, output, read, write] = tokens;
        let request = format!("req_{}_{}", self.id, self.lines.len());
        let message = json!({
            "id": format!("msg_{request}"), "type": "message", "role": "assistant",
            "model": self.model, "content": [block], "stop_reason": stop,
            "usage": { "input_tokens": input, "output_tokens": output,
                "cache_read_input_tokens": read, "cache_creation_input_tokens": write },
        });
        self.add("assistant", &message, Some(&request))
    }

    pub(crate) fn say(&mut self, text: &str, tokens: Tokens) -> String {
        self.reply(&json!({ "type": "text", "text": text }), "end_turn", tokens)
    }

    pub(crate) fn think(&mut self, text: &str) -> String {
        let thought = json!({ "type": "thinking", "thinking": text, "signature": "c2ln" });
        self.reply(&thought, "tool_use", [10, 50, 1000, 100])
    }

    /// A call that takes so many seconds; the id of the message that made it.
    pub(crate) fn call(
        &mut self,
        tool: &str,
        input: &Value,
        (out, is_error): (&str, bool),
        seconds: i64,
        tokens: Tokens,
    ) -> String {
        let call = format!("toolu_{}_{}", self.id, self.lines.len());
        let block = json!({ "type": "tool_use", "id": call, "name": tool, "input": input });
        let made = self.reply(&block, "tool_use", tokens);
        self.wait(seconds - 1);
        let result = json!({
            "type": "tool_result", "tool_use_id": call, "content": out, "is_error": is_error,
        });
        self.add("user", &json!({ "role": "user", "content": [result] }), None);
        made
    }

    pub(crate) fn bash(&mut self, command: &str, out: (&str, bool), seconds: i64) -> String {
        self.call("Bash", &json!({ "command": command }), out, seconds, [10, 50, 1000, 100])
    }

    /// Writes it where Claude Code would.
    pub(crate) fn save(&self, home: &Home) {
        let project = self.folder.replace(['/', '.', '_'], "-");
        let lines: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        home.write(&format!(".claude/projects/{project}/{}.jsonl", self.id), &lines);
    }
}
