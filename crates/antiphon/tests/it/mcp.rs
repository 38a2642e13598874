//! `antiphon mcp` and `install --mcp`: an agent asks about earlier sessions.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::claude::Claude;
use crate::home::Home;

const USED: [u64; 4] = [10, 50, 1000, 100];

/// A client of the server, in a folder of the home.
struct Client {
    server: Child,
    answers: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    fn new(home: &Home, folder: &str, arguments: &[&str]) -> Self {
        std::fs::create_dir_all(home.path(folder)).unwrap();
        let mut command = home.command(arguments);
        command.current_dir(home.path(folder)).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let answers = BufReader::new(server.stdout.take().unwrap());
        let mut client = Self { server, answers, asked: 0 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        assert_eq!(client.ask("initialize", &hello)["result"]["serverInfo"]["name"], "antiphon");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.server.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.send(&message);
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Whether a call was answered, and the text.
    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (result["isError"] == json!(false), text)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn session(home: &Home, number: u32, folder: &str, word: &str) -> String {
    let folder = home.path(folder).canonicalize().unwrap().display().to_string();
    let mut session = Claude::new(number, &folder, "2026-10-31T17:00:00Z");
    session.prompt(&format!("Look for {word}"));
    let asked = json!({ "query": word });
    let found = format!("untrusted: {word} was found");
    session.call("mcp__antiphon__search_sessions", &asked, (&found, false), 1, USED);
    session.bash("cat all", (&"many words\n".repeat(30_000), false), 1);
    session.say("Done.", USED);
    session.save(home);
    session.id().to_owned()
}

fn home() -> (Home, String, String) {
    let home = Home::new();
    for name in ["shop/.git", "shop/src", "shop-secret/.git"] {
        std::fs::create_dir_all(home.path(name)).unwrap();
    }
    let here = session(&home, 1, "shop", "zqword");
    let there = session(&home, 2, "shop-secret", "zqword");
    home.run("sync");
    (home, here, there)
}

#[test]
fn only_sessions_of_the_project_around_are_told() {
    let (home, here, there) = home();
    let mut client = Client::new(&home, "shop/src", &["mcp"]);
    let (is_answered, text) = client.call("search_sessions", &json!({ "query": "zqword" }));
    assert!(is_answered && text.contains(&here) && !text.contains(&there), "{text}");
    // Whatever the query says.
    let wide = json!({ "query": "zqword project:shop-secret" });
    let (_, text) = client.call("search_sessions", &wide);
    assert!(!text.contains(&there), "{text}");
    for session in [there.as_str(), &there[..8], "latest~1"] {
        let (is_answered, text) = client.call("get_session", &json!({ "session": session }));
        assert!(!is_answered && !text.contains("secret"), "{session}: {text}");
    }
    let mut client = Client::new(&home, "shop", &["mcp", "--all-projects"]);
    let (_, text) = client.call("search_sessions", &json!({ "query": "zqword" }));
    assert!(text.contains(&here) && text.contains(&there), "{text}");
}

#[test]
fn what_antiphon_answered_before_is_not_found_again() {
    let (home, here, _) = home();
    let mut client = Client::new(&home, "shop", &["mcp"]);
    let (_, text) = client.call("search_sessions", &json!({ "query": "zqword" }));
    assert!(!text.contains("was found"), "{text}");
    let (_, text) = client.call("read_messages", &json!({ "session": here }));
    assert!(!text.contains("was found") && text.contains("an answer of Antiphon itself"), "{text}");
}

#[test]
fn a_long_session_is_read_in_parts() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("shop/.git")).unwrap();
    let folder = home.path("shop").canonicalize().unwrap().display().to_string();
    let mut session = Claude::new(1, &folder, "2026-10-31T17:00:00Z");
    for number in 0..60 {
        session.prompt(&format!("prompt number {number}."));
        session.say(&"some words ".repeat(200), USED);
    }
    session.save(&home);
    home.run("sync");
    let mut client = Client::new(&home, "shop", &["mcp"]);
    let (mut after, mut told) = (None::<String>, String::new());
    for _ in 0..20 {
        let mut arguments = json!({ "session": "latest" });
        if let Some(after) = &after {
            arguments["after"] = json!(after);
        }
        let (is_answered, text) = client.call("read_messages", &arguments);
        assert!(is_answered && text.starts_with("untrusted"), "{text}");
        assert!(serde_json::to_string(&text).unwrap().len() <= 64 << 10);
        let (_, answer) = text.split_once('{').unwrap();
        let answer: Value = serde_json::from_str(&format!("{{{answer}")).unwrap();
        told.push_str(&text);
        after = answer["next"].as_str().map(Into::into);
        if after.is_none() {
            break;
        }
    }
    for number in 0..60 {
        let prompt = format!("prompt number {number}.");
        assert_eq!(told.matches(&prompt).count(), 1, "{prompt}");
    }
}

#[test]
fn a_server_is_installed_once_and_removed_byte_for_byte() {
    for (agent, path, text) in [
        ("claude-code", ".claude.json", "{\"numStartups\":3,\"mcpServers\":{}}"),
        ("codex", ".codex/config.toml", "# mine\nmodel = \"x\" # no newline at the end"),
        ("gemini", ".gemini/settings.json", "{\n  // mine\n  \"theme\": \"x\",\n}\n"),
        (
            "opencode",
            ".config/opencode/opencode.jsonc",
            "{\n\t\"mcp\": {\n\t\t/* none */\n\t}\n}\n",
        ),
        ("cursor", ".cursor/mcp.json", ""),
        ("copilot", ".copilot/mcp-config.json", "{}"),
    ] {
        let home = Home::new();
        home.write(path, text);
        let done = home.run(&format!("install {agent} --mcp --yes"));
        assert_eq!(done.exit, 0, "{agent}: {done}");
        let told = home.text(path);
        assert!(told.contains("antiphon"), "{agent}: {told}");
        let again = home.run(&format!("install {agent} --mcp --yes"));
        assert!(again.out.contains("already has the server"), "{agent}: {again}");
        assert_eq!(home.text(path), told, "{agent}");
        let done = home.run(&format!("install {agent} --mcp --remove --yes"));
        assert_eq!((done.exit, home.text(path).as_str()), (0, text), "{agent}: {done}");
    }
}

#[test]
fn a_server_is_removed_from_settings_that_were_changed_since() {
    let home = Home::new();
    home.write(".claude.json", "{\n  \"a\": 1\n}\n");
    home.run("install claude-code --mcp --yes");
    let changed = home.text(".claude.json").replace("\"a\": 1", "\"a\": 2,\n  \"b\": 3");
    home.write(".claude.json", &changed);
    assert_eq!(home.run("install claude-code --mcp --remove --yes").exit, 0);
    assert_eq!(home.text(".claude.json"), "{\n  \"a\": 2,\n  \"b\": 3\n}\n");
}

#[test]
fn settings_that_appear_with_the_server_go_with_it() {
    let home = Home::new();
    assert_eq!(home.run("install cursor --mcp --yes").exit, 0);
    assert!(home.text(".cursor/mcp.json").contains("antiphon"));
    assert_eq!(home.run("install cursor --mcp --remove --yes").exit, 0);
    assert!(!home.path(".cursor/mcp.json").exists());
}

#[test]
fn an_agent_without_known_hooks_is_told_what_it_can_have() {
    let home = Home::new();
    let done = home.run("install codex --yes");
    assert_eq!(done.exit, 2, "{done}");
    assert!(done.err.contains("install codex --mcp"), "{done}");
}
