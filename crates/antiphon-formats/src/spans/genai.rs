//! What a span's attributes mean: the GenAI conventions, OpenInference, and their predecessors.

use antiphon_model::Usage;
use antiphon_model::json::{self, Members};

use crate::line::{Object, elements};
use crate::spans::Kind;
use crate::spans::attributes::Attributes;
use crate::spans::dialect::{messages, unwrapped};
use crate::spans::line::{SpanLine, without_cache};

/// The input and output messages of a request.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    pub(crate) input: Vec<String>,
    pub(crate) output: Vec<String>,
}

/// The kind of a span according to its attributes, and their own word for it.
pub(crate) fn kind(attributes: &Attributes, name: &str) -> (Kind, String) {
    let word = attributes.text(&[
        "gen_ai.operation.name",
        "openinference.span.kind",
        "langfuse.observation.type",
        "traceloop.span.kind",
        "langsmith.span.kind",
        "llm.request.type",
        "ai.operationId",
    ]);
    let first = name.split(' ').next().unwrap_or_default();
    let word = word.map_or_else(|| first.to_owned(), |word| word.into_owned());
    let kind = match &*word.to_ascii_lowercase() {
        "invoke_agent" | "agent" => Kind::Agent,
        "chat"
        | "generate_content"
        | "text_completion"
        | "completion"
        | "llm"
        | "generation"
        | "ai.generatetext.dogenerate"
        | "ai.streamtext.dostream"
        | "ai.generateobject.dogenerate"
        | "ai.streamobject.dostream" => Kind::Chat,
        "execute_tool" | "tool" | "ai.toolcall" => Kind::Tool,
        _ if attributes.raw(&["gen_ai.tool.name", "gen_ai.tool.call.id"]).is_some() => Kind::Tool,
        _ if attributes.raw(&["agent_name"]).is_some() => Kind::Agent,
        _ => Kind::Other,
    };
    (kind, word)
}

/// Writes what the attributes say, and removes them.
pub(crate) fn describe(
    line: &mut SpanLine,
    (kind, name): (Kind, &str),
    attributes: &mut Attributes,
    trace: Option<&str>,
) {
    line.text("name", Some(name));
    let conversation = attributes.text(CONVERSATION);
    line.text("conversation", conversation.as_deref());
    line.text("model", attributes.text(MODEL).as_deref());
    if kind == Kind::Agent {
        let own = ["gen_ai.agent.name", "agent.name", "agent_name", "traceloop.entity.name"];
        let after = name.strip_prefix("invoke_agent ").unwrap_or(name);
        let agent = attributes.text(&own).unwrap_or(after.into());
        let id = attributes.text(&["gen_ai.agent.id"]).unwrap_or(agent.clone());
        let within = conversation.as_deref().or(trace).unwrap_or_default();
        line.text("key", Some(&format!("{within} {id}")));
        line.text("agent", Some(&agent));
    }
    if kind == Kind::Tool {
        let own = ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"];
        let after = name.strip_prefix("execute_tool ").unwrap_or(name);
        line.text("tool", Some(&attributes.text(&own).unwrap_or(after.into())));
        let call = ["gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"];
        line.text("call", attributes.text(&call).as_deref());
        let arguments = attributes.take(ARGUMENTS);
        line.raw("arguments", arguments.as_deref().map(unwrapped).as_deref());
        line.raw("result", attributes.take(RESULT).as_deref());
    }
    if kind == Kind::Chat {
        let own = ["gen_ai.response.id", "ai.response.id"];
        line.text("request", attributes.text(&own).as_deref());
        let cost = attributes.raw(&["operation.cost", "llm.cost.total", "gen_ai.usage.cost"]);
        line.raw("cost", cost);
    }
}

pub(crate) const CONVERSATION: &[&str] = &[
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
];

const MODEL: &[&str] = &[
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.response.model",
    "ai.model.id",
    "model_name",
];

const ARGUMENTS: &[&str] = &[
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "ai.toolCall.args",
    "traceloop.entity.input",
    "input.value",
];

const RESULT: &[&str] = &[
    "gen_ai.tool.call.result",
    "tool_response",
    "ai.toolCall.result",
    "traceloop.entity.output",
    "output.value",
];

/// Removes the messages from the attributes and the events of a span.
pub(crate) fn talk(attributes: &mut Attributes, events: &[(String, Attributes)]) -> Talk {
    let mut talk = Talk::default();
    let mut attributes_of = vec![&mut *attributes];
    let mut details: Vec<Attributes> = Vec::new();
    let detailed = events.iter().filter(|(name, _)| DETAILS.contains(&name.as_str()));
    details.extend(detailed.map(|(_, event)| event.clone()));
    attributes_of.extend(details.iter_mut());
    for attributes in attributes_of {
        if let Some(system) = attributes.take(&["gen_ai.system_instructions"]) {
            talk.input.splice(0..0, messages(&system, "system"));
        }
        for (list, other) in [("llm.input_messages", INPUT), ("gen_ai.prompt", &[])] {
            let flat = attributes.take_list(list);
            let own = attributes.take(other);
            if let Some(raw) = own.or(flat) {
                talk.input.append(&mut messages(&raw, "user"));
            }
        }
        for (list, other) in [("llm.output_messages", OUTPUT), ("gen_ai.completion", &[])] {
            let flat = attributes.take_list(list);
            let own = attributes.take(other);
            if let Some(raw) = own.or(flat) {
                talk.output.append(&mut messages(&raw, "assistant"));
            }
        }
        vercel(attributes, &mut talk);
        if let Some(raw) = attributes.take(&["events"]).as_deref().map(unwrapped) {
            for event in elements(&raw) {
                let name = Object::parse(event).and_then(|event| event.text("event.name"));
                said(&mut talk, &name.unwrap_or_default(), event);
            }
        }
    }
    for (name, event) in events {
        said(&mut talk, name, &event_object(event));
    }
    talk
}

/// Input and output of any kind of span, used if there is nothing more specific.
pub(crate) fn values(attributes: &mut Attributes, talk: &mut Talk) {
    let input = attributes.take(&["input.value", "traceloop.entity.input"]);
    if let Some(input) = input.filter(|_| talk.input.is_empty()) {
        talk.input = messages(&input, "user");
    }
    let output = attributes.take(&["output.value", "traceloop.entity.output"]);
    if let Some(output) = output.filter(|_| talk.output.is_empty()) {
        talk.output = messages(&output, "assistant");
    }
}

const INPUT: &[&str] =
    &["gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages", "ai.prompt"];
const OUTPUT: &[&str] = &["gen_ai.output.messages", "gen_ai.completion"];

/// Joins an answer's text and its calls, which are separate attributes in the Vercel SDK.
fn vercel(attributes: &mut Attributes, talk: &mut Talk) {
    let text = attributes.take(&["ai.response.text"]);
    let calls = attributes.take(&["ai.response.toolCalls"]);
    if text.is_none() && calls.is_none() {
        return;
    }
    let mut answer = Members::default();
    answer.word("role", "assistant");
    if let Some(text) = text {
        answer.raw("content", &text);
    }
    if let Some(calls) = calls {
        answer.raw("toolCalls", &unwrapped(&calls));
    }
    talk.output.append(&mut messages(&answer.object(), "assistant"));
}

/// Events with the same content as attributes.
const DETAILS: &[&str] = &[
    "gen_ai.client.inference.operation.details",
    "gen_ai.content.prompt",
    "gen_ai.content.completion",
];

/// Whether an event contains messages and nothing else.
pub(crate) fn is_talk(name: &str) -> bool {
    DETAILS.contains(&name) || role(name).is_some()
}

fn role(event: &str) -> Option<&'static str> {
    Some(match event {
        "gen_ai.system.message" => "system",
        "gen_ai.user.message" => "user",
        "gen_ai.assistant.message" | "gen_ai.choice" => "assistant",
        "gen_ai.tool.message" => "tool",
        _ => return None,
    })
}

/// Reads an event that is a message: `gen_ai.user.message`, `gen_ai.choice`.
fn said(talk: &mut Talk, name: &str, raw: &str) {
    let Some(role) = role(name) else { return };
    let list = if name == "gen_ai.choice" { &mut talk.output } else { &mut talk.input };
    list.append(&mut messages(&format!("[{raw}]"), role));
}

/// The attributes of an event, with JSON instead of strings that contain it.
fn event_object(event: &Attributes) -> String {
    let raw = event.object().unwrap_or_else(|| "{}".to_owned());
    let mut members = Members::default();
    let _ = json::members(&raw, |key, value| {
        let key = key.strip_prefix("gen_ai.event.").unwrap_or(key);
        match key {
            "content" | "role" | "name" | "id" => members.raw(key, value),
            _ => members.raw(key, &unwrapped(value)),
        }
    });
    members.object()
}

/// The token counts, under any of their names.
pub(crate) fn usage(attributes: &Attributes) -> Option<Usage> {
    let input = attributes.number(&[
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "llm.usage.prompt_tokens",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
    ]);
    let output = attributes.number(&[
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "llm.usage.completion_tokens",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
    ]);
    let cache_read = attributes.number(&[
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.cachedInputTokens",
    ]);
    let cache_write = attributes.number(&[
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.details.cache_write_tokens",
        "llm.token_count.prompt_details.cache_write",
    ]);
    let reasoning = attributes.number(&[
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens",
        "gen_ai.usage.details.thoughts_tokens",
        "llm.token_count.completion_details.reasoning",
        "ai.usage.reasoningTokens",
    ]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let [cache_read, cache_write, reasoning] =
        [cache_read, cache_write, reasoning].map(Option::unwrap_or_default);
    let output = output.unwrap_or_default();
    Some(Usage {
        input: without_cache(input.unwrap_or_default(), cache_read, cache_write),
        // By the conventions the output includes reasoning, but not if reasoning is greater.
        output: if reasoning > output { output.saturating_add(reasoning) } else { output },
        reasoning,
        cache_read,
        cache_write,
        ..Usage::default()
    })
}
