//! Writes OpenTelemetry traces as OTLP JSON, by the GenAI conventions: a span for each agent
//! (`invoke_agent`), each answer of a model (`chat`) and each call (`execute_tool`).
//!
//! A request's input is what was new since the previous answer: repeating the conversation would
//! make the output quadratic. Ids are hashes, so the same session has the same spans.

use antiphon_model::Reading;
use antiphon_model::{AgentIx, BodyError, CallIx, Entry, Timestamp, Usage};
use serde_json::{Value, json};

use crate::steps::{self, Speaker, Step, prompt};
use crate::write::{Output, Take, WriteError};

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const FAILED: u8 = 2;

/// Writes the session as one request. `id` is the session's name, if it has none itself.
pub(crate) fn write<'t>(
    reading: &Reading<'_>,
    id: &str,
    take: &'t mut Take<'t>,
) -> Result<(), WriteError> {
    let info = reading.session.info();
    let session = info.session_id.as_deref().unwrap_or(id);
    let mut out = Output::plain(take);
    let mut about = vec![text("service.name", info.program.as_deref().unwrap_or("antiphon"))];
    about.extend(info.version.as_deref().map(|version| text("service.version", version)));
    let scope = json!({ "name": "antiphon", "version": env!("CARGO_PKG_VERSION") });
    out.frame("{\"resourceSpans\":[{\"resource\":")?;
    out.value(&json!({ "attributes": about }), 0)?;
    out.frame(",\"scopeSpans\":[{\"scope\":")?;
    out.value(&scope, 0)?;
    out.frame(",\"spans\":[")?;
    let trace = hash(&["trace", session], 16);
    let mut writer = Writer { reading, session, trace, out, is_first: true };
    for agent in steps::agents(reading.session) {
        writer.agent(agent)?;
    }
    writer.out.frame("]}]}]}\n")
}

struct Writer<'r, 'a, 't> {
    reading: &'r Reading<'a>,
    session: &'r str,
    trace: String,
    out: Output<'t>,
    is_first: bool,
}

/// A span that is being written.
struct Span<'s> {
    id: String,
    parent: Option<String>,
    name: String,
    kind: u8,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    operation: &'s str,
    attributes: Vec<Value>,
    failed: bool,
}

impl<'a> Writer<'_, 'a, '_> {
    fn agent(&mut self, agent: AgentIx) -> Result<(), WriteError> {
        let session = self.reading.session;
        let steps = steps::steps(self.reading, agent);
        let times = || {
            steps.iter().flat_map(|step| {
                let results = step.results.iter().filter_map(|(_, result)| result.at());
                step.entry.at().into_iter().chain(results)
            })
        };
        let own = self.agent_span(agent);
        let made = session.agent(agent).created.and_then(|event| session.entry(event).call());
        let above = session.agent(agent).parent.agent();
        let parent = made.map(|call| self.call_span(call)).or(above.map(|it| self.agent_span(it)));
        let model = steps::model(session, agent, &steps);
        let name = session.agent_name(agent);
        let mut attributes =
            vec![text("gen_ai.agent.id", session.agent_id(agent)), text("gen_ai.agent.name", name)];
        attributes.extend(model.map(|model| text("gen_ai.request.model", model)));
        self.push(Span {
            id: own.clone(),
            parent,
            name: format!("invoke_agent {name}"),
            kind: INTERNAL,
            from: times().min(),
            to: times().max(),
            operation: "invoke_agent",
            attributes,
            failed: false,
        })?;
        let mut heard: Vec<Value> = Vec::new();
        let mut before = None;
        for step in &steps {
            match step.speaker {
                Speaker::Agent => self.chat(&own, step, (model, before), &mut heard)?,
                Speaker::System => heard.push(self.said("system", step.entry)?),
                Speaker::User | Speaker::Shown => heard.push(self.said("user", step.entry)?),
            }
            for (call, result) in &step.results {
                heard.push(self.answered(*call, *result)?);
            }
            for &call in &step.calls {
                let results = step.results.iter().filter(|(of, _)| *of == call);
                self.tool(&own, call, &results.map(|(_, it)| *it).collect::<Vec<_>>())?;
            }
            let last = step.results.iter().filter_map(|(_, result)| result.at()).max();
            before = last.max(step.entry.at()).or(before);
        }
        Ok(())
    }

    fn chat(
        &mut self,
        parent: &str,
        step: &Step<'a>,
        (model, before): (Option<&str>, Option<Timestamp>),
        heard: &mut Vec<Value>,
    ) -> Result<(), WriteError> {
        let model = step.entry.model().or(model);
        let mut attributes = Vec::new();
        if let Some(model) = model {
            attributes.push(text("gen_ai.request.model", model));
            attributes.extend(provider(model).map(|it| text("gen_ai.provider.name", it)));
        }
        attributes.extend(step.entry.request_id().map(|id| text("gen_ai.response.id", id)));
        attributes.extend(step.entry.usage().map(tokens).unwrap_or_default());
        if !heard.is_empty() {
            let input = Value::Array(std::mem::take(heard)).to_string();
            attributes.push(text("gen_ai.input.messages", &input));
        }
        let mut parts = Vec::new();
        if let Some(thought) = steps::reasoning(self.reading, step.entry)? {
            parts.push(json!({ "type": "reasoning", "content": thought }));
        }
        parts.extend(self.parts(step.entry)?);
        for &call in &step.calls {
            let session = self.reading.session;
            let arguments = steps::arguments(self.reading, session.call(call).arguments)?;
            parts.push(json!({
                "type": "tool_call",
                "id": session.call_id(call),
                "name": session.tool_name(call),
                "arguments": serde_json::from_str(&arguments).unwrap_or(Value::String(arguments)),
            }));
        }
        let output = json!([{ "role": "assistant", "parts": parts }]).to_string();
        attributes.push(text("gen_ai.output.messages", &output));
        let to = step.entry.at();
        self.push(Span {
            id: self.span_id("chat", step.entry.id()),
            parent: Some(parent.to_owned()),
            name: model.map_or_else(|| "chat".to_owned(), |model| format!("chat {model}")),
            kind: CLIENT,
            from: step.entry.started_at().or(before).filter(|from| Some(*from) <= to).or(to),
            to,
            operation: "chat",
            attributes,
            failed: step.entry.is_error(),
        })
    }

    fn tool(
        &mut self,
        parent: &str,
        call: CallIx,
        results: &[Entry<'a>],
    ) -> Result<(), WriteError> {
        let session = self.reading.session;
        let name = session.tool_name(call);
        let arguments = steps::arguments(self.reading, session.call(call).arguments)?;
        let mut attributes = vec![
            text("gen_ai.tool.name", name),
            text("gen_ai.tool.call.id", session.call_id(call)),
            text("gen_ai.tool.call.arguments", &arguments),
        ];
        let mut words = Vec::new();
        for result in results {
            words.append(&mut steps::parts(self.reading, *result)?);
        }
        if !results.is_empty() {
            attributes.push(text("gen_ai.tool.call.result", &words.join("\n")));
        }
        let from = session.call_started_at(call);
        let to = results.iter().filter_map(|result| result.at()).max();
        self.push(Span {
            id: self.call_span(call),
            parent: Some(parent.to_owned()),
            name: format!("execute_tool {name}"),
            kind: INTERNAL,
            from,
            to: to.max(from),
            operation: "execute_tool",
            attributes,
            failed: results.iter().any(|result| result.is_error()),
        })
    }

    fn said(&self, role: &str, entry: Entry<'_>) -> Result<Value, BodyError> {
        Ok(json!({ "role": role, "parts": self.parts(entry)? }))
    }

    fn parts(&self, entry: Entry<'_>) -> Result<Vec<Value>, BodyError> {
        let parts = steps::parts(self.reading, entry)?;
        Ok(parts.into_iter().map(|text| json!({ "type": "text", "content": text })).collect())
    }

    fn answered(&self, call: CallIx, result: Entry<'_>) -> Result<Value, BodyError> {
        let words = steps::parts(self.reading, result)?.join("\n");
        let id = self.reading.session.call_id(call);
        let part = json!({ "type": "tool_call_response", "id": id, "response": words });
        Ok(json!({ "role": "tool", "parts": [part] }))
    }

    fn push(&mut self, span: Span<'_>) -> Result<(), WriteError> {
        let kind = match span.operation {
            "invoke_agent" => "AGENT",
            "chat" => "LLM",
            _ => "TOOL",
        };
        let mut attributes = vec![
            text("gen_ai.operation.name", span.operation),
            text("gen_ai.conversation.id", self.session),
            // For viewers that do not know the conventions yet.
            text("openinference.span.kind", kind),
            text("session.id", self.session),
        ];
        attributes.extend(span.attributes);
        let mut value = json!({
            "traceId": self.trace,
            "spanId": span.id,
            "name": span.name,
            "kind": span.kind,
            "startTimeUnixNano": nanos(span.from),
            "endTimeUnixNano": nanos(span.to.or(span.from)),
            "attributes": attributes,
        });
        if let Some(members) = value.as_object_mut() {
            if let Some(parent) = span.parent {
                members.insert("parentSpanId".to_owned(), parent.into());
            }
            if span.failed {
                members.insert("status".to_owned(), json!({ "code": FAILED }));
            }
        }
        self.out.next(&mut self.is_first, 0)?;
        self.out.value(&value, 0)
    }

    fn agent_span(&self, agent: AgentIx) -> String {
        self.span_id("agent", self.reading.session.agent_id(agent))
    }

    fn call_span(&self, call: CallIx) -> String {
        let session = self.reading.session;
        let message = session.entry(session.call(call).event).id();
        self.span_id("call", &format!("{message} {}", session.call_id(call)))
    }

    fn span_id(&self, kind: &str, own: &str) -> String {
        hash(&[kind, self.session, own], 8)
    }
}

/// A hash of this many bytes, in hex.
fn hash(words: &[&str], bytes: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    for word in words {
        hasher.update(&(word.len() as u64).to_le_bytes());
        hasher.update(word.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(bytes * 2).collect()
}

/// The provider of a model, by its name in the conventions.
fn provider(model: &str) -> Option<&'static str> {
    let known = [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("gemini", "gcp.gemini"),
        ("grok", "x_ai"),
        ("deepseek", "deepseek"),
        ("mistral", "mistral_ai"),
    ];
    known.iter().find(|(begin, _)| model.starts_with(begin)).map(|(_, provider)| *provider)
}

fn tokens(usage: Usage) -> Vec<Value> {
    let input = prompt(usage);
    let counts = [
        ("gen_ai.usage.input_tokens", input),
        ("gen_ai.usage.output_tokens", usage.output),
        ("gen_ai.usage.cache_read.input_tokens", usage.cache_read),
        ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning),
    ];
    let counted = counts.iter().enumerate().filter(|(at, (_, count))| *at < 2 || *count > 0);
    // OTLP JSON has 64-bit numbers as strings.
    let number =
        |name: &str, count: u64| json!({ "key": name, "value": { "intValue": count.to_string() } });
    counted.map(|(_, (name, count))| number(name, *count)).collect()
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn nanos(at: Option<Timestamp>) -> String {
    let millis = at.map_or(0, Timestamp::as_millis).max(0);
    i128::from(millis).saturating_mul(1_000_000).to_string()
}
