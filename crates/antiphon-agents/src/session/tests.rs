use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::*;
use crate::cast::{BUNDLED, Cast};
use crate::model::Script;

mod cuts;
mod hostile;
mod limits;
mod replays;
mod stops;
mod talks;
mod tools;

/// A folder in which a session runs.
struct Stage {
    folder: tempfile::TempDir,
}

const HOST: &str = "model = \"mine\"\n[root]\nname = \"Host\"\nsystem = \"You host.\"\n";

impl Stage {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A cast from its text, and a script from its turns.
fn setup(cast: &str, turns: &str) -> Setup {
    let cast =
        Cast::parse(&cast.replace("\"mine\"", "\"openai/mine\""), "cast.toml", Path::new("/"));
    let mut models = Models::default();
    models.insert("openai/mine", Rc::new(Script::parse(turns, "turns.jsonl").unwrap()));
    Setup { cast: Some(cast.unwrap()), models, ..Setup::default() }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Runs prompts to the end; gives what came of each.
fn run(mut session: Session, prompts: &[&str]) -> Vec<Turn> {
    block_on(async {
        let mut turns: Vec<Turn> = session.start().await.unwrap().into_iter().collect();
        let first = session.first_prompt();
        for prompt in first.iter().map(String::as_str).chain(prompts.iter().copied()) {
            turns.push(session.prompt(prompt).await.unwrap());
        }
        session.end(None).unwrap();
        turns
    })
}

/// What everybody's transcript says, by name.
fn transcripts(path: &Path) -> Vec<(String, Vec<(String, String)>)> {
    let log = antiphon_journal::Log::find(path).unwrap();
    let (session, _) = log.fold().unwrap();
    let bodies = antiphon_journal::LogBodies::new(&log);
    let reading = antiphon_model::Reading { session: &session, bodies: &bodies };
    let agents = session.agents().map(|(ix, _)| {
        let entries = crate::transcript_of(&reading, ix, None).unwrap();
        let rows = entries
            .iter()
            .map(|entry| (entry.role().as_str().to_owned(), entry.content().words().into_owned()));
        (session.agent_name(ix).to_owned(), rows.collect())
    });
    agents.collect()
}

/// What one agent has.
fn transcript(path: &Path, name: &str) -> Vec<(String, String)> {
    transcripts(path).into_iter().find(|(it, _)| it == name).unwrap().1
}

fn said(turn: &Turn) -> &str {
    match turn {
        Turn::Said(words) => words,
        Turn::Silent | Turn::Withheld { .. } | Turn::Limit(_) | Turn::Interrupted => {
            panic!("nothing was said: {turn:?}")
        }
    }
}
