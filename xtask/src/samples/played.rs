//! A sample that is played: a cast, and a script for every model that it names. Its clock goes on
//! by a millisecond whenever somebody looks, and by the length of each answer, so that every run is
//! the same.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use antiphon_agents::{Answering, Cast, Model, Models, Request, Script, Session, Setup, Tell};
use antiphon_journal::{Clock, Level, Options};
use antiphon_model::Timestamp;

/// When a sample begins: on an evening in March 2026.
const BEGINNING: i64 = 1_772_736_051_006;
/// How long a model takes for its first word, and for each token.
const FIRST_WORD_MS: i64 = 700;
const TOKEN_MS: i64 = 18;

/// Plays a cast to its end. The script stands beside it, under the same name.
pub(super) fn play(cast: &Path, log: &Path) -> Result<(), Box<dyn Error>> {
    let script = cast.with_extension("jsonl");
    let name = cast.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let cast = Cast::read(cast)?;
    let clock = Arc::new(Steady(AtomicI64::new(BEGINNING)));
    let mut models = Models::default();
    for model in named_models(&cast, &std::fs::read_to_string(&script)?)? {
        let paced = Paced {
            name: model.trim_start_matches("anthropic/").to_owned(),
            script: Script::read(&script)?,
            clock: Arc::clone(&clock),
            answered: RefCell::default(),
        };
        models.insert(model, Rc::new(paced));
    }
    let session_id = Some(name);
    let options = Options { level: Level::Os, session_id, clock, ..Options::default() };
    let setup = Setup { cast: Some(cast), models, options, ..Setup::default() };
    let mut session = Session::begin(log, setup)?;
    let prompt = session.first_prompt().ok_or("the cast has no prompt")?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(session.prompt(&prompt))?;
    Ok(session.end(None)?)
}

/// The models of a cast, and those that its script gives to agents.
fn named_models(cast: &Cast, script: &str) -> serde_json::Result<Vec<String>> {
    let mut named: Vec<String> = cast.models().map(str::to_owned).collect();
    for line in script.lines() {
        let turn: serde_json::Value = serde_json::from_str(line)?;
        let calls = turn.get("tool_calls").and_then(|calls| calls.as_array());
        let calls = calls.into_iter().flatten();
        let models = calls.filter_map(|call| call.pointer("/arguments/model")?.as_str());
        named.extend(models.map(str::to_owned));
    }
    Ok(named)
}

/// A clock that nobody else sets.
#[derive(Debug)]
struct Steady(AtomicI64);

impl Clock for Steady {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// A script that takes its time, and answers under the name of a model.
#[derive(Debug)]
struct Paced {
    name: String,
    script: Script,
    clock: Arc<Steady>,
    /// How often each agent was answered.
    answered: RefCell<BTreeMap<String, usize>>,
}

impl Model for Paced {
    fn answer<'a>(&'a self, request: Request<'a>, tell: Tell<'a>) -> Answering<'a> {
        let mut counts = self.answered.borrow_mut();
        let count = counts.entry(request.agent.to_owned()).or_default();
        let request = Request { answered: *count, ..request };
        *count += 1;
        Box::pin(async move {
            let mut reply = self.script.answer(request, tell).await?;
            let tokens = reply.usage.map_or(0, |usage| i64::try_from(usage.output).unwrap_or(0));
            self.clock.0.fetch_add(FIRST_WORD_MS + TOKEN_MS * tokens, Ordering::Relaxed);
            reply.model = Some(self.name.clone());
            Ok(reply)
        })
    }
}
