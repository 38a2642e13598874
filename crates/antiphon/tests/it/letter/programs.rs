//! The standards' own programs: where they are found, and how they are asked.

use std::path::{Path, PathBuf};
use std::process::Command;

use antiphon_documents::Standard;
use serde::Deserialize;
use serde_json::Value;

use crate::run::workspace;

/// TypeScript, and the standards' text.
pub(super) struct Programs {
    typescript: PathBuf,
    interfaces: String,
    consistency: String,
}

pub(super) struct Document {
    pub(super) name: String,
    pub(super) standard: Standard,
    pub(super) value: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) name: String,
    /// What the compiler says.
    types: Vec<String>,
    /// What the function of section 6.2 says.
    rules: Vec<String>,
}

impl Answer {
    pub(super) fn is_accepted(&self) -> bool {
        self.types.is_empty() && self.rules.is_empty()
    }
}

/// What the standards use and do not define.
const UNDEFINED: &str = "
type AgentSession = Session;
type SessionStatus = Session['status'];
type Phase = unknown; // of version 2, whose text is not there
interface SubagentInfo { sub_session_id?: string } // as section 4.1 of STD-008 has it

// A document is read from a file, and may have members that an interface does not name: STD-008
// adds to STD-001 that way, and the standard's own migration spreads whole documents of older
// versions. The compiler objects to such members only in what is written down as code, as here; so
// each interface is opened for them. Nothing else about it is changed.
type Open<T> = T extends readonly (infer U)[] ? Open<U>[]
  : T extends object ? { [K in keyof T]: Open<T[K]> } & { [other: string]: unknown }
  : T;
";

impl Programs {
    /// An error says what is not there: the standards are not in this repository, and the compiler
    /// comes from the network (`make test-net`).
    pub(super) fn find() -> Result<Self, &'static str> {
        let Some(typescript) = std::env::var_os("ANTIPHON_TYPESCRIPT") else {
            return Err("the TypeScript compiler is not there; `make test-net` fetches it");
        };
        let folder = workspace().join("../shared/seeds");
        let read = |number: &str| {
            let mut files = std::fs::read_dir(&folder).ok()?.filter_map(Result::ok);
            let file = files.find(|it| it.file_name().to_string_lossy().starts_with(number))?;
            std::fs::read_to_string(file.path()).ok()
        };
        let (Some(single), Some(several)) = (read("003"), read("000")) else {
            return Err("the standards are not in this repository");
        };
        let blocks: Vec<&str> = [&single, &several].into_iter().flat_map(|it| blocks(it)).collect();
        let is_interface = |it: &&&str| it.starts_with("interface ") || it.starts_with("type ");
        let interfaces: Vec<&str> = blocks.iter().filter(is_interface).copied().collect();
        let function = "function validateMultiAgentSession";
        let consistency = blocks.iter().find(|it| it.starts_with(function)).copied();
        assert!(interfaces.len() > 8 && consistency.is_some(), "the standards' own code");
        Ok(Self {
            typescript: workspace().join(typescript).canonicalize().unwrap(),
            interfaces: interfaces.join("\n"),
            consistency: consistency.unwrap_or_default().to_owned(),
        })
    }

    /// Asks about all documents at once; answers come in their order.
    pub(super) fn ask(&self, what: &str, documents: impl Iterator<Item = Document>) -> Vec<Answer> {
        let folder = tempfile::Builder::new().prefix(what).tempdir().unwrap();
        let put = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        put("standards.ts", &format!("{UNDEFINED}{}", self.interfaces));
        put("consistency.ts", &self.consistency);
        let mut names = Vec::new();
        for (at, document) in documents.enumerate() {
            let name = format!("d{at:05}");
            let interface = match document.standard {
                Standard::Std001 => "Session",
                Standard::Std008 => "MultiAgentSession",
            };
            let code = skeleton(&document.value);
            put(&format!("{name}.ts"), &format!("const {name}: Open<{interface}> = {code};\n"));
            let several = document.standard == Standard::Std008;
            let whole = serde_json::json!({ "several": several, "document": document.value });
            put(&format!("{name}.json"), &whole.to_string());
            names.push(document.name);
        }
        let check = workspace().join("crates/antiphon/tests/it/letter/check.js");
        let done = Command::new("node")
            .arg(check)
            .arg(&self.typescript)
            .arg(folder.path())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{error}");
        let out = String::from_utf8(done.stdout).unwrap();
        let answers = out.lines().map(|line| serde_json::from_str(line).unwrap());
        let named = answers.zip(names).map(|(answer, name): (Answer, _)| Answer { name, ..answer });
        named.collect()
    }
}

/// The blocks of TypeScript in a text.
fn blocks(text: &str) -> Vec<&str> {
    let parts = text.split("```typescript\n").skip(1);
    parts.filter_map(|part| part.split("\n```").next()).collect()
}

/// A document as code, with nothing that no type depends on: texts that are no words, the values of
/// numbers, and items that are like one before.
fn skeleton(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(_) => 1.into(),
        Value::String(text) => {
            let is_word = |it: u8| it.is_ascii_lowercase() || it == b'_';
            match text.len() <= 24 && text.bytes().all(is_word) {
                true => value.clone(),
                false => "a text".into(),
            }
        }
        Value::Array(items) => {
            let mut seen = std::collections::BTreeSet::new();
            let items = items.iter().map(skeleton);
            items.filter(|item| seen.insert(item.to_string())).collect()
        }
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| *name != "x_antiphon");
            members.map(|(name, value)| (name.clone(), skeleton(value))).collect()
        }
    }
}

/// Every file that may be a session: our samples and fixtures, and real ones where they are.
pub(super) fn sessions() -> Vec<PathBuf> {
    let mut folders = vec![
        workspace().join("samples"),
        workspace().join("crates/antiphon-formats/fixtures"),
        workspace().join("crates/antiphon-documents/fixtures"),
        real_files().join("formats"),
        real_files().join("seed-projects"),
    ];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let path = path.path();
            let size = std::fs::metadata(&path).map_or(0, |it| it.len());
            match path.is_dir() {
                true => folders.push(path),
                false if size < 4 << 20 => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

fn real_files() -> PathBuf {
    workspace().join("../shared/data")
}

pub(super) fn has_real_files() -> bool {
    Path::new(&real_files()).exists()
}
