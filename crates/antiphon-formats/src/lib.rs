//! Reads what other programs write as events.
//!
//! One module per format. A format sees named streams of text and nothing else: it opens no file
//! and reads no clock. It never fails as a whole: every line becomes an event, is kept as unknown,
//! is reported as a duplicate of another, or is a problem with its place.
//!
//! To add one: write its module, and its row in [`FORMATS`]; see `docs/adding-a-format.md`.

mod aider;
mod amp;
mod anthropic;
mod atif;
mod chain;
mod chat;
mod claude_code;
mod claude_stream;
mod cline;
mod codex;
mod codex_exec;
mod codex_tui;
mod copilot;
mod cursor;
mod database;
mod droid;
mod droid_stream;
mod gemini;
mod gemini_stream;
mod goose;
mod head;
mod hooks;
mod iflow;
mod inspect;
mod kimi;
mod langfuse;
mod layout;
mod line;
mod merge;
mod openai_chat;
mod opencode;
mod opencode_run;
mod order;
mod otlp;
mod pi;
mod qwen;
mod script;
mod servers;
mod spans;
mod spread;
mod std_session;
mod steps;
mod swe_agent;
mod transcript;
mod write;

use antiphon_model::{Event, Place, Problem};

pub use database::{Cell, DatabaseLayout, QueryError, ReadDocument, Record, SessionRow, Tables};
pub use head::{Head, detect};
pub use hooks::{HookInput, HookValue, Hooks};
pub use layout::{Kept, Layout, Lead};
pub use servers::{ServerValue, Servers, SettingsFolder, Syntax};
pub use write::{Piece, Take, WriteError, Writer, whole};

/// One of a session's sources: its main file, a sub-agent's file, a sidecar.
#[derive(Debug, Clone, Copy)]
pub struct Stream<'a> {
    /// The name relative to the session, with `/` between folders.
    pub name: &'a str,
    pub text: &'a str,
}

/// Receives what a reader finds.
pub trait Sink<'a> {
    fn event(&mut self, event: Event<'a>);
    fn problem(&mut self, problem: Problem);
    fn duplicate(&mut self, duplicate: Duplicate);

    /// Whether only token usage is wanted. A reader may then skip everything else; the requests,
    /// their models, times and tokens are the same.
    fn wants_only_usage(&self) -> bool {
        false
    }
}

/// A record that repeats what another one says, and was not counted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The event that represents both records.
    pub message_id: String,
    pub line: u64,
    pub place: Place,
    pub reason: &'static str,
}

/// The lines that a document became.
#[derive(Debug)]
pub struct Lines {
    pub text: String,
    pub problems: Vec<Problem>,
}

/// A format that can be read, and perhaps written.
pub struct Format {
    /// A unique name.
    pub name: &'static str,
    /// The product name of the program that writes it; empty, if several programs do.
    pub product: &'static str,
    pub what: &'static str,
    /// The versions of the program whose files were seen.
    pub versions: &'static str,
    /// Whether these lines, the first of a file, are of this format. The last of them may be a
    /// truncated line that was closed.
    pub detect: fn(&[&str]) -> bool,
    /// Whether a line alone contains what its event says, even if other lines say which agent it
    /// belongs to or what it answers. A search can then read a line without its session.
    pub stands_alone: bool,
    /// How a file that is one document becomes a stream of lines; `None` if it is one already.
    pub lines: Option<fn(text: &str) -> Lines>,
    /// Reads a session; the first stream is its main file.
    pub read: for<'a> fn(&[Stream<'a>], &mut dyn Sink<'a>),
    /// Writes a session in this format; `None` if it can only be read.
    pub write: Option<Writer>,
    /// Where its files are.
    pub layout: Layout,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Increased whenever a reader's result changes, so that derived data is computed again.
pub const READERS: u32 = 6;

/// Every format, in the order in which they are tried; but see [`detect`].
pub const FORMATS: &[Format] = &[
    claude_code::FORMAT,
    claude_stream::FORMAT,
    codex::FORMAT,
    codex_exec::FORMAT,
    codex_tui::FORMAT,
    copilot::FORMAT,
    gemini::FORMAT,
    gemini_stream::FORMAT,
    opencode::FORMAT,
    opencode_run::FORMAT,
    pi::FORMAT,
    qwen::FORMAT,
    aider::FORMAT,
    amp::FORMAT,
    cline::FORMAT,
    cursor::FORMAT,
    droid::FORMAT,
    droid_stream::FORMAT,
    goose::FORMAT,
    iflow::FORMAT,
    kimi::FORMAT,
    atif::FORMAT,
    otlp::FORMAT,
    langfuse::FORMAT,
    inspect::FORMAT,
    swe_agent::FORMAT,
    openai_chat::FORMAT,
    std_session::FORMAT,
    transcript::FORMAT,
];

/// The format with this name.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The formats of the agents whose hooks are known, each with its hooks.
pub fn hooked() -> impl Iterator<Item = (&'static Format, &'static Hooks)> {
    FORMATS.iter().filter_map(|format| Some((format, format.layout.hooks.as_ref()?)))
}

/// The defaults: a session is one file, a stream of lines, in whatever folder.
const ONE_FILE: Format = Format {
    name: "",
    product: "",
    what: "",
    versions: "",
    detect: |_| false,
    stands_alone: false,
    lines: None,
    read: |_, _| {},
    write: None,
    layout: Layout::ONE_FILE,
};

#[cfg(test)]
mod tests;
