//! Claude Code transcripts: `projects/<slug>/<session>.jsonl`, with files of sub-agents.
//!
//! One line per content block: the lines of one message share `message.id`, and repeat its usage.
//! Sub-agents are in `<session>/subagents/agent-<id>.jsonl`, in older versions beside the main
//! file, and in the oldest within it (`isSidechain`). Some versions also report a sub-agent's
//! messages on lines of its parent (`agent_progress`), whether or not its own file was kept. Which
//! call created a sub-agent is recorded in that call's result (`toolUseResult.agentId`), on such a
//! line, or in the sidecar `agent-<id>.meta.json`.

pub(crate) mod block;
mod progress;
mod session;
mod source;
mod transcript;
mod usage;

use std::collections::BTreeSet;

use crate::line::Object;
use crate::merge::merge;
use crate::{
    Format, HookInput, HookValue, Hooks, Kept, Layout, Servers, SettingsFolder, Sink, Stream,
};

pub(crate) use usage::usage;

pub(crate) const FORMAT: Format = Format {
    name: "claude-code",
    product: "Claude Code",
    what: "Claude Code transcripts, with sub-agents",
    versions: "2.0 to 2.1",
    detect,
    stands_alone: true,
    read,
    layout: Layout {
        beside: &["agent-"],
        belongs,
        owners: Some(owners),
        servers: Some(Servers {
            folder: SettingsFolder::Home,
            files: &[".claude.json"],
            ..Servers::USUAL
        }),
        kept: Some(Kept {
            variable: "CLAUDE_CONFIG_DIR",
            folders: &[".claude"],
            below: &["projects"],
            session: |path| {
                crate::layout::named(path, "", ".jsonl").filter(|id| !id.starts_with("agent-"))
            },
            fallback: None,
            deletes_after_days: Some(30),
        }),
        days_setting: Some((SETTINGS, "cleanupPeriodDays")),
        hooks: Some(HOOKS),
        resume: &["claude", "--resume", "{}"],
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

const SETTINGS: &str = "settings.json";

const HOOKS: Hooks = Hooks {
    settings: SETTINGS,
    required: &[],
    member: "hooks",
    group: Some("hooks"),
    hook: &[
        ("type", HookValue::Text("command")),
        ("command", HookValue::Command),
        // In seconds. It is never reached; without one the agent waits a minute.
        ("timeout", HookValue::Number(5)),
    ],
    events: &[
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "SessionEnd",
    ],
    end: "SessionEnd",
    input: HookInput { session: "session_id", file: "transcript_path", event: "hook_event_name" },
    is_named: false,
};

/// The program's name in a session's facts.
const PROGRAM: &str = "claude-code";

fn detect(head: &[&str]) -> bool {
    let is_ours = |line: &&str| Object::parse(line).is_some_and(|object| is_ours(&object));
    // Other programs use the same envelope, around another vendor's message or their own.
    let is_foreign = |line: &&str| crate::qwen::is_ours(line) || crate::iflow::is_ours(line);
    head.iter().any(is_ours) && !head.iter().any(is_foreign)
}

fn is_ours(object: &Object<'_>) -> bool {
    let Some(kind) = object.id("type") else { return false };
    if object.object("message").is_some_and(|message| message.raw("parts").is_some()) {
        return false;
    }
    // A truncated line may lack the members that follow its message.
    let is_enveloped = object.has("parentUuid") && object.has("isSidechain");
    let has_session = object.id("sessionId").is_some() || is_enveloped;
    match kind {
        "user" | "assistant" => has_session && object.raw("message").is_some(),
        "system" | "attachment" | "progress" => has_session && object.raw("uuid").is_some(),
        "summary" => object.raw("summary").is_some() && object.raw("leafUuid").is_some(),
        "file-history-snapshot" => object.raw("snapshot").is_some(),
        "queue-operation" | "ai-title" | "custom-title" | "last-prompt" | "permission-mode"
        | "mode" => has_session,
        _ => false,
    }
}

fn belongs(stem: &str, name: &str, head: &str) -> bool {
    let is_agent = |file: &str| file.starts_with("agent-");
    if let Some(below) = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix("/subagents/")) {
        let file = below.rsplit('/').next().unwrap_or(below);
        let is_known = file.ends_with(".jsonl") || file.ends_with(".meta.json");
        return is_agent(file) && is_known;
    }
    // Files beside the main file belong to it if their lines name this session.
    let names_session = || owners(head).iter().any(|owner| owner == stem);
    is_agent(name) && !name.contains('/') && name.ends_with(".jsonl") && names_session()
}

/// The sessions that lines say they belong to. Text within messages cannot match, because its
/// quotation marks are escaped.
fn owners(head: &str) -> Vec<String> {
    let values = head.split("\"sessionId\":").skip(1);
    let named = values.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split_once('"'));
    let named: BTreeSet<&str> = named.map(|(id, _)| id).collect();
    named.into_iter().map(str::to_owned).collect()
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut session = session::Session::new(streams);
    for (number, stream) in (0..).zip(streams) {
        session.read(stream, number, sink);
    }
    session.read_progress_lines(sink);
    if let Some(started) = session.started() {
        sink.event(started);
    }
    let event_streams = session.finish(sink);
    merge(event_streams, sink);
}

#[cfg(test)]
mod tests;
