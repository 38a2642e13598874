//! An agent's settings with our server and without.

use std::collections::BTreeMap;

use antiphon_formats::{ServerValue, Servers, Syntax};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::json_text::{Object, without_comments};
use super::settings::NotSettings;

/// The name of our server in the settings.
const NAME: &str = "antiphon";

/// Our server, as an agent is told to start it.
#[derive(Debug)]
pub(super) struct Server {
    servers: &'static Servers,
    program: String,
    arguments: Vec<&'static str>,
    /// Whether the member that contains servers was there before ours.
    has_member: bool,
}

impl Server {
    /// `before` is what the settings were before our server came, if that is known.
    pub(super) fn new(
        servers: &'static Servers,
        program: String,
        has_all_projects: bool,
        before: Option<&str>,
    ) -> Self {
        let arguments = if has_all_projects { vec!["mcp", "--all-projects"] } else { vec!["mcp"] };
        let has_member = before.is_some_and(|text| {
            let root = Object::whole(&without_comments(text));
            root.is_ok_and(|root| root.member(servers.member).is_some())
        });
        Self { servers, program, arguments, has_member }
    }

    pub(super) fn with(&self, text: &str) -> Result<String, NotSettings> {
        match self.servers.syntax {
            Syntax::Json => self.with_in_json(text),
            Syntax::Toml => self.with_in_toml(text),
        }
    }

    pub(super) fn without(&self, text: &str) -> Result<String, NotSettings> {
        match self.servers.syntax {
            _ if text.trim().is_empty() => Ok(text.to_owned()),
            Syntax::Json => self.without_in_json(text),
            Syntax::Toml => self.without_in_toml(text),
        }
    }

    /// The description of our server.
    fn entry(&self) -> Described {
        let value = |value: ServerValue| match value {
            ServerValue::Program => self.program.clone().into(),
            ServerValue::Arguments => self.arguments.clone().into(),
            ServerValue::CommandLine => {
                let mut words = vec![self.program.as_str()];
                words.extend(&self.arguments);
                words.into()
            }
            ServerValue::Text(text) => text.into(),
            ServerValue::Texts(texts) => texts.to_vec().into(),
            ServerValue::True => true.into(),
        };
        Described(self.servers.server.iter().map(|(name, it)| (*name, value(*it))).collect())
    }

    /// Whether a server of our name is ours: it runs this program, wherever that lies.
    fn is_ours(entry: &Value) -> bool {
        let words = |value: &Value| match value {
            Value::String(word) => vec![word.clone()],
            Value::Array(words) => {
                words.iter().filter_map(|it| it.as_str().map(Into::into)).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
        };
        let mut line = entry.get("command").map(words).unwrap_or_default();
        line.extend(entry.get("args").map(words).unwrap_or_default());
        let name = line.first().and_then(|program| program.rsplit(['/', '\\']).next());
        name.is_some_and(|name| matches!(name, "antiphon" | "antiphon.exe"))
            && line.get(1).is_some_and(|word| word == "mcp")
    }

    fn someone_else() -> NotSettings {
        NotSettings::new(format!("it has a server `{NAME}` that is not Antiphon's"))
    }

    fn with_in_json(&self, text: &str) -> Result<String, NotSettings> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let plain = without_comments(text);
        let root = Object::whole(&plain)?;
        let member = self.servers.member;
        let Some(servers) = root.member(member) else {
            let servers = BTreeMap::from([(NAME, self.entry())]);
            return Ok(root.with(text, 0, member, &servers));
        };
        let servers = Object::at(&plain, servers.value.clone())
            .ok_or_else(|| NotSettings::new(format!("`{member}` is not a JSON object")))?;
        let Some(known) = servers.member(NAME) else {
            return Ok(servers.with(text, 1, NAME, &self.entry()));
        };
        let raw = plain.get(known.value.clone()).unwrap_or_default();
        let entry: Value = serde_json::from_str(raw).unwrap_or_default();
        if entry == self.entry().value() {
            return Ok(text.to_owned());
        }
        if !Self::is_ours(&entry) {
            return Err(Self::someone_else());
        }
        let text = servers.without(text, NAME);
        self.with_in_json(&text)
    }

    fn without_in_json(&self, text: &str) -> Result<String, NotSettings> {
        let plain = without_comments(text);
        let root = Object::whole(&plain)?;
        let servers = root.member(self.servers.member);
        let servers = servers.and_then(|member| Object::at(&plain, member.value.clone()));
        let Some(servers) = servers else { return Ok(text.to_owned()) };
        let Some(known) = servers.member(NAME) else { return Ok(text.to_owned()) };
        let raw = plain.get(known.value.clone()).unwrap_or_default();
        if !Self::is_ours(&serde_json::from_str(raw).unwrap_or_default()) {
            return Ok(text.to_owned());
        }
        let text = servers.without(text, NAME);
        // What held nothing else goes with it, unless it was there before.
        let plain = without_comments(&text);
        let root = Object::whole(&plain)?;
        let left = root.member(self.servers.member);
        let left = left.and_then(|member| Object::at(&plain, member.value.clone()));
        match left.is_some_and(|left| left.is_empty()) && !self.has_member {
            true => Ok(root.without(&text, self.servers.member)),
            false => Ok(text),
        }
    }

    fn with_in_toml(&self, text: &str) -> Result<String, NotSettings> {
        let table = parse(text)?;
        let known = table.get(self.servers.member).and_then(|servers| servers.get(NAME));
        let entry = self.entry().value();
        let known = known.map(|known| serde_json::to_value(known).unwrap_or_default());
        if known.as_ref() == Some(&entry) {
            return Ok(text.to_owned());
        }
        if known.as_ref().is_some_and(|known| !Self::is_ours(known)) {
            return Err(Self::someone_else());
        }
        let rest = self.without_in_toml(text)?;
        let newline = if rest.contains("\r\n") { "\r\n" } else { "\n" };
        let mut out = rest.clone();
        if !out.is_empty() && !out.ends_with('\n') {
            out.push_str(newline);
        }
        if !out.is_empty() {
            out.push_str(newline);
        }
        out.push_str(&format!("[{}.{NAME}]{newline}", self.servers.member));
        for (name, value) in self.entry().0 {
            out.push_str(&format!("{name} = {}{newline}", toml_value(&value)));
        }
        // Where servers are written in another way, a table of ours does not fit in.
        match parse(&out) {
            Ok(table) if self.rest_of(table.clone()) == self.rest_of(parse(&rest)?) => Ok(out),
            _ => Err(NotSettings::new(format!(
                "its `{}` is not written as tables",
                self.servers.member
            ))),
        }
    }

    fn without_in_toml(&self, text: &str) -> Result<String, NotSettings> {
        let table = parse(text)?;
        let known = table.get(self.servers.member).and_then(|servers| servers.get(NAME));
        let known = known.map(|known| serde_json::to_value(known).unwrap_or_default());
        if !known.is_some_and(|known| Self::is_ours(&known)) {
            return Ok(text.to_owned());
        }
        let own = format!("[{}.{NAME}", self.servers.member);
        let (mut out, mut is_ours) = (String::with_capacity(text.len()), false);
        for line in text.split_inclusive('\n') {
            let is_header = line.trim_start().starts_with('[');
            let was_ours = is_ours;
            if is_header {
                let rest = line.trim_start().strip_prefix(&own);
                is_ours = rest.is_some_and(|rest| rest.starts_with(']') || rest.starts_with('.'));
            }
            if is_ours && !was_ours {
                // The empty line above came with it.
                let kept = out.trim_end_matches(['\n', '\r']).len();
                let newline = if out.contains("\r\n") { "\r\n" } else { "\n" };
                let is_apart = out.get(kept..).is_some_and(|end| end.matches('\n').count() > 1);
                if is_apart {
                    out.truncate(kept);
                    out.push_str(newline);
                }
            }
            if !is_ours {
                if was_ours && is_header && !out.is_empty() {
                    out.push_str(if out.contains("\r\n") { "\r\n" } else { "\n" });
                }
                out.push_str(line);
            }
        }
        match parse(&out) {
            Ok(left)
                if self.rest_of(left.clone()) == self.rest_of(table) && !self.has_server(&left) =>
            {
                Ok(out)
            }
            _ => Err(NotSettings::new(
                "Antiphon's server is not written as a table of its own".to_owned(),
            )),
        }
    }

    fn has_server(&self, table: &toml::Table) -> bool {
        table.get(self.servers.member).is_some_and(|servers| servers.get(NAME).is_some())
    }

    /// Everything but our server.
    fn rest_of(&self, mut table: toml::Table) -> toml::Table {
        if let Some(toml::Value::Table(servers)) = table.get_mut(self.servers.member) {
            servers.remove(NAME);
            if servers.is_empty() {
                table.remove(self.servers.member);
            }
        }
        table
    }
}

/// A server, member by member, in the order in which they are written.
#[derive(Debug)]
struct Described(Vec<(&'static str, Value)>);

impl Described {
    fn value(self) -> Value {
        self.0.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Serialize for Described {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

fn parse(text: &str) -> Result<toml::Table, NotSettings> {
    text.parse::<toml::Table>().map_err(|error| NotSettings::new(error.message().to_owned()))
}

/// Texts, lists of texts and booleans are written alike in both languages.
fn toml_value(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default().replace("\",\"", "\", \"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(agent: &str) -> Server {
        let servers = antiphon_formats::find(agent).unwrap().layout.servers.as_ref().unwrap();
        Server::new(servers, "/usr/bin/antiphon".to_owned(), false, None)
    }

    #[test]
    fn every_agent_that_takes_servers_is_told_in_its_own_words() {
        let agents = ["claude-code", "codex", "gemini", "opencode", "cursor", "copilot"];
        for agent in agents {
            let told = server(agent).with("").unwrap();
            assert!(told.contains("/usr/bin/antiphon") && told.contains("mcp"), "{agent}: {told}");
            assert_eq!(server(agent).with(&told).unwrap(), told, "{agent}");
            let gone = server(agent).without(&told).unwrap();
            assert!(!gone.contains("antiphon"), "{agent}: {gone}");
        }
        assert_eq!(
            server("codex").with("model = \"x\"").unwrap(),
            "model = \"x\"\n\n[mcp_servers.antiphon]\ncommand = \"/usr/bin/antiphon\"\nargs = [\"mcp\"]\n"
        );
        let told = server("opencode").with("{}").unwrap();
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["mcp"]["antiphon"]["command"][1], "mcp");
    }

    #[test]
    fn only_our_table_goes_from_toml() {
        let text =
            "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"o\"\n\n[tui]\na = 1 # one\n";
        let told = server("codex").with(text).unwrap();
        assert!(told.starts_with(text));
        assert_eq!(server("codex").without(&told).unwrap(), text);
        let moved = told.replace("# mine\n", "").replace("[tui]", "[tui2]") + "\n[last]\nb = 2\n";
        let gone = server("codex").without(&moved).unwrap();
        assert!(gone.ends_with("[tui2]\na = 1 # one\n\n[last]\nb = 2\n"), "{gone}");
        let inline = "mcp_servers = { other = { command = \"o\" } }\n";
        assert!(server("codex").with(inline).is_err());
        assert!(server("codex").with("model = ").is_err());
    }

    #[test]
    fn a_server_of_our_name_that_is_not_ours_is_left_alone() {
        let text = r#"{"mcpServers": {"antiphon": {"command": "/opt/other", "args": ["mcp"]}}}"#;
        assert!(server("cursor").with(text).is_err());
        assert_eq!(server("cursor").without(text).unwrap(), text);
        let toml = "[mcp_servers.antiphon]\ncommand = \"other\"\n";
        assert!(server("codex").with(toml).is_err());
        let older = r#"{"mcpServers": {"antiphon": {"command": "/old/antiphon", "args": ["mcp"]}, "b": {}}}"#;
        let newer: Value = serde_json::from_str(&server("cursor").with(older).unwrap()).unwrap();
        assert_eq!(newer["mcpServers"]["antiphon"]["command"], "/usr/bin/antiphon");
    }
}
