//! Writes ATIF, Harbor's trajectories (version 1.8): one document.
//!
//! The first root agent is the trajectory, every other agent an embedded one; the result of the
//! call that created an agent refers to it. The format allows neither unknown members nor null, so
//! whatever has no place in it goes to `extra`.

use std::collections::BTreeMap;

use antiphon_model::Reading;
use antiphon_model::{AgentIx, BodyError, CallIx, Entry, Session, Usage};
use serde_json::{Map, Value, json};

use crate::steps::{self, Speaker, Step, prompt};
use crate::write::{Output, Take, WriteError};

const VERSION: &str = "ATIF-v1.8";
/// Our reader's id for the outermost agent.
const MAIN: &str = "main";

/// Writes the session as a trajectory; nothing, if there is no agent.
pub(crate) fn write<'t>(
    reading: &Reading<'_>,
    _: &str,
    take: &'t mut Take<'t>,
) -> Result<(), WriteError> {
    let session = reading.session;
    let agents = steps::agents(session);
    let Some((&root, others)) = agents.split_first() else { return Ok(()) };
    let mut made: BTreeMap<CallIx, Vec<AgentIx>> = BTreeMap::new();
    for &agent in others {
        let created = session.agent(agent).created;
        if let Some(call) = created.and_then(|event| session.entry(event).call()) {
            made.entry(call).or_default().push(agent);
        }
    }
    let writer = Writer { reading, made };
    let mut out = Output::pretty(take);
    let info = session.info();
    let mut extra = Map::new();
    set(&mut extra, "title", info.title.as_deref());
    set(&mut extra, "cwd", info.cwd.as_deref());
    set(&mut extra, "branch", info.branch.as_deref());
    // The members of an object are in the order of their names.
    out.frame("{")?;
    let mut is_first = true;
    writer.agent(&mut out, root, &mut is_first, 1)?;
    if !extra.is_empty() {
        out.member("extra", &extra, &mut is_first, 1)?;
    }
    let total = writer.total(root);
    writer.metrics(&mut out, &total, &mut is_first, 1)?;
    out.member("schema_version", &VERSION, &mut is_first, 1)?;
    if let Some(id) = info.session_id.as_deref() {
        out.member("session_id", &id, &mut is_first, 1)?;
    }
    writer.steps(&mut out, root, &mut is_first, 1)?;
    let mut by_id: Vec<AgentIx> = others.to_vec();
    by_id.sort_by_key(|agent| session.agent_id(*agent));
    if !by_id.is_empty() {
        out.next(&mut is_first, 1)?;
        out.frame(&(out.key("subagent_trajectories") + "["))?;
        let mut is_first_agent = true;
        for agent in by_id {
            out.next(&mut is_first_agent, 2)?;
            writer.within(&mut out, agent)?;
        }
        out.close("]", 1)?;
    }
    out.close("}", 0)?;
    out.frame("\n")
}

struct Writer<'r, 'a> {
    reading: &'r Reading<'a>,
    /// For each call: the agents that it created.
    made: BTreeMap<CallIx, Vec<AgentIx>>,
}

/// Sums over the steps of an agent.
#[derive(Debug, Default)]
struct Total {
    usage: Usage,
    steps: usize,
}

impl<'a> Writer<'_, 'a> {
    /// Writes the embedded trajectory of an agent.
    fn within(&self, out: &mut Output<'_>, agent: AgentIx) -> Result<(), WriteError> {
        out.frame("{")?;
        let mut is_first = true;
        self.agent(out, agent, &mut is_first, 3)?;
        self.metrics(out, &self.total(agent), &mut is_first, 3)?;
        out.member("schema_version", &VERSION, &mut is_first, 3)?;
        self.steps(out, agent, &mut is_first, 3)?;
        let id = id(self.reading.session, agent);
        out.member("trajectory_id", &id, &mut is_first, 3)?;
        out.close("}", 2)
    }

    fn agent(
        &self,
        out: &mut Output<'_>,
        agent: AgentIx,
        is_first: &mut bool,
        depth: usize,
    ) -> Result<(), WriteError> {
        let session = self.reading.session;
        let steps = steps::steps(self.reading, agent);
        let info = session.info();
        let is_root = session.agent(agent).parent.agent().is_none();
        let name = info.program.as_deref().filter(|_| is_root);
        let mut about = Map::new();
        set(&mut about, "name", name.or_else(|| Some(session.agent_name(agent))));
        set(&mut about, "version", info.version.as_deref().or(Some("unknown")));
        set(&mut about, "model_name", steps::model(session, agent, &steps));
        out.member("agent", &about, is_first, depth)
    }

    /// Adds up the steps without writing them, because the sums precede them.
    fn total(&self, agent: AgentIx) -> Total {
        let mut total = Total::default();
        // What follows a step without calls is an observation of that step.
        let mut takes_more = false;
        for step in steps::steps(self.reading, agent) {
            if step.speaker == Speaker::Agent {
                total.usage += step.entry.usage().unwrap_or_default();
            }
            if step.speaker == Speaker::Shown && takes_more {
                continue;
            }
            takes_more = step.speaker == Speaker::Agent && step.calls.is_empty();
            total.steps += 1;
        }
        // A trajectory must have a step.
        total.steps = total.steps.max(1);
        total
    }

    fn metrics(
        &self,
        out: &mut Output<'_>,
        total: &Total,
        is_first: &mut bool,
        depth: usize,
    ) -> Result<(), WriteError> {
        let mut metrics = Map::new();
        if !total.usage.is_zero() {
            metrics.insert("total_prompt_tokens".to_owned(), prompt(total.usage).into());
            metrics.insert("total_completion_tokens".to_owned(), total.usage.output.into());
            metrics.insert("total_cached_tokens".to_owned(), total.usage.cache_read.into());
        }
        metrics.insert("total_steps".to_owned(), total.steps.into());
        out.member("final_metrics", &metrics, is_first, depth)
    }

    /// Writes the steps. One is written when the next one comes, because what follows may belong to
    /// it.
    fn steps(
        &self,
        out: &mut Output<'_>,
        agent: AgentIx,
        is_first: &mut bool,
        depth: usize,
    ) -> Result<(), WriteError> {
        let steps = steps::steps(self.reading, agent);
        let model = steps::model(self.reading.session, agent, &steps);
        out.next(is_first, depth)?;
        out.frame(&(out.key("steps") + "["))?;
        let (mut number, mut is_first_step, mut written) = (0, true, Vec::new());
        for step in &steps {
            self.step(step, model, &mut written)?;
            let whole = written.len().saturating_sub(1);
            for step in written.drain(..whole) {
                number_and_write(out, step, &mut number, &mut is_first_step, depth + 1)?;
            }
        }
        let last = written.pop().unwrap_or_else(|| begin("system", "".into()));
        number_and_write(out, last, &mut number, &mut is_first_step, depth + 1)?;
        out.close("]", depth)
    }

    fn step(
        &self,
        step: &Step<'a>,
        model: Option<&str>,
        written: &mut Vec<Map<String, Value>>,
    ) -> Result<(), BodyError> {
        let content = steps::content(self.reading, step.entry)?;
        let time = step.entry.at().map(|at| at.to_string());
        let source = match step.speaker {
            Speaker::Agent => "agent",
            Speaker::User => "user",
            Speaker::System => "system",
            Speaker::Shown => {
                // After a step without calls this is an observation of that step.
                let last = written.last_mut();
                let last = last.filter(|it| {
                    it.get("source") == Some(&"agent".into()) && !it.contains_key("tool_calls")
                });
                if let Some(last) = last {
                    let mut result = Map::new();
                    result.insert("content".to_owned(), content);
                    self.remember(&mut result, step.entry, last);
                    observe(last, result);
                    return Ok(());
                }
                "system"
            }
        };
        let mut out = begin(source, content);
        set(&mut out, "timestamp", time.as_deref());
        if step.speaker == Speaker::Agent {
            let own = step.entry.model().filter(|own| Some(*own) != model);
            set(&mut out, "model_name", own);
            let thought = steps::reasoning(self.reading, step.entry)?;
            set(&mut out, "reasoning_content", thought.as_deref());
            self.calls(step, &mut out)?;
            if let Some(usage) = step.entry.usage() {
                out.insert("metrics".to_owned(), metrics(usage).into());
            }
        }
        written.push(out);
        Ok(())
    }

    fn calls(&self, step: &Step<'a>, out: &mut Map<String, Value>) -> Result<(), BodyError> {
        let session = self.reading.session;
        let mut calls = Vec::new();
        for &call in &step.calls {
            let text = steps::arguments(self.reading, session.call(call).arguments)?;
            let arguments = match serde_json::from_str::<Value>(&text) {
                Ok(Value::Object(arguments)) => Value::Object(arguments),
                Ok(other) => json!({ "input": other }),
                Err(_) => json!({ "input": text }),
            };
            calls.push(json!({
                "tool_call_id": session.call_id(call),
                "function_name": session.tool_name(call),
                "arguments": arguments,
            }));
        }
        if !calls.is_empty() {
            out.insert("tool_calls".to_owned(), calls.into());
        }
        let mut referred: Vec<CallIx> = Vec::new();
        for (call, entry) in &step.results {
            let mut result = Map::new();
            result.insert("source_call_id".to_owned(), session.call_id(*call).into());
            if entry.content().is_some() {
                let content = steps::content(self.reading, *entry)?;
                result.insert("content".to_owned(), content);
            }
            if !referred.contains(call) {
                referred.push(*call);
                self.refer(*call, &mut result);
            }
            self.remember(&mut result, *entry, out);
            observe(out, result);
        }
        // An agent is referred to even if its call has no result.
        for call in step.calls.iter().filter(|call| self.made.contains_key(call)) {
            if !referred.contains(call) {
                let mut result = Map::new();
                result.insert("source_call_id".to_owned(), session.call_id(*call).into());
                self.refer(*call, &mut result);
                observe(out, result);
            }
        }
        Ok(())
    }

    fn refer(&self, call: CallIx, result: &mut Map<String, Value>) {
        let session = self.reading.session;
        let made = self.made.get(&call).into_iter().flatten();
        let references: Vec<Value> =
            made.map(|agent| json!({ "trajectory_id": id(session, *agent) })).collect();
        if !references.is_empty() {
            result.insert("subagent_trajectory_ref".to_owned(), references.into());
        }
    }

    /// Collects what has no place in a result: when it came, and whether it is an error.
    fn remember(
        &self,
        result: &mut Map<String, Value>,
        entry: Entry<'_>,
        step: &Map<String, Value>,
    ) {
        let mut extra = Map::new();
        let time = entry.at().map(|at| at.to_string());
        let own = step.get("timestamp").and_then(Value::as_str);
        set(&mut extra, "timestamp", time.as_deref().filter(|time| Some(*time) != own));
        if entry.is_error() {
            extra.insert("is_error".to_owned(), true.into());
        }
        set_map(result, "extra", extra);
    }
}

fn begin(source: &str, message: Value) -> Map<String, Value> {
    let mut step = Map::new();
    step.insert("source".to_owned(), source.into());
    step.insert("message".to_owned(), message);
    step
}

fn number_and_write(
    out: &mut Output<'_>,
    mut step: Map<String, Value>,
    number: &mut u64,
    is_first: &mut bool,
    depth: usize,
) -> Result<(), WriteError> {
    *number += 1;
    step.insert("step_id".to_owned(), json!(number));
    out.next(is_first, depth)?;
    out.value(&step, depth)
}

/// Converts token counts. The prompt includes cache reads and writes.
fn metrics(usage: Usage) -> Map<String, Value> {
    let mut metrics = Map::new();
    metrics.insert("prompt_tokens".to_owned(), prompt(usage).into());
    metrics.insert("completion_tokens".to_owned(), usage.output.into());
    metrics.insert("cached_tokens".to_owned(), usage.cache_read.into());
    let mut extra = Map::new();
    for (name, count) in
        [("cache_creation_input_tokens", usage.cache_write), ("reasoning_tokens", usage.reasoning)]
    {
        if count > 0 {
            extra.insert(name.to_owned(), count.into());
        }
    }
    set_map(&mut metrics, "extra", extra);
    metrics
}

fn observe(step: &mut Map<String, Value>, result: Map<String, Value>) {
    let observation = step.entry("observation").or_insert_with(|| json!({ "results": [] }));
    if let Some(results) = observation.get_mut("results").and_then(Value::as_array_mut) {
        results.push(result.into());
    }
}

/// An agent's id, which must differ from that of the outermost agent.
fn id(session: &Session, agent: AgentIx) -> String {
    match session.agent_id(agent) {
        MAIN => format!("{MAIN} (within)"),
        id => id.to_owned(),
    }
}

fn set(object: &mut Map<String, Value>, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        object.insert(name.to_owned(), text.into());
    }
}

fn set_map(object: &mut Map<String, Value>, name: &str, map: Map<String, Value>) {
    if !map.is_empty() {
        object.insert(name.to_owned(), map.into());
    }
}
