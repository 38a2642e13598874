//! A debate: `cargo run -p antiphon-agents --example debate`. Its answers stand in a script here;
//! with `model = "openai/gpt-5-mini"` in the cast, and without `models`, a service gives them.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::Path;
use std::rc::Rc;

use antiphon_agents::{Cast, Models, Script, Session, Setup};

const CAST: &str = r#"
[root]
name = "Moderator"
[[agent]]
name = "For"
system = "You argue for tabs."
[[agent]]
name = "Against"
system = "You argue for spaces."
"#;
const SCRIPT: &str = r#"
{"agent": "Moderator", "tool_calls": [{"name": "discuss", "arguments": {"prompt": "Tabs?", "speakers": ["For", "Against"]}}]}
{"agent": "For", "content": "Everybody sees the width they like."}
{"agent": "Against", "content": "And nobody sees what the author saw."}
{"agent": "Moderator", "content": "They agree to disagree."}
"#;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = std::env::temp_dir().join(format!("debate-{}.jsonl", std::process::id()));
    let mut models = Models::default();
    models.insert("mine", Rc::new(Script::parse(SCRIPT, "debate")?));
    models.set_above_all("mine");
    let cast = Some(Cast::parse(CAST, "debate.toml", Path::new("."))?);
    let mut session = Session::begin(&log, Setup { cast, models, ..Setup::default() })?;
    let turn = session.prompt("Let them debate.").await?;
    println!("{turn:?}; `antiphon view dialog {}` shows all of it", log.display());
    Ok(session.end(None)?)
}
