//! What other programs write, read as events.
//!
//! One module per format. A format sees named streams of text and nothing else: it opens no file
//! and reads no clock. It never fails as a whole: every line becomes an event, is kept as unknown,
//! is named as a duplicate of another, or is a problem with its place.
//!
//! To add one: write its module, and its row in [`FORMATS`]. `docs/adding-a-format.md` tells more.

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
pub use write::{Piece, Take, WriteError, Writer, whole};

/// One of a session's sources: its main file, a sub-agent's, a sidecar.
#[derive(Debug, Clone, Copy)]
pub struct Stream<'a> {
    /// The name relative to the session, with `/` between folders.
    pub name: &'a str,
    pub text: &'a str,
}

/// Takes what a reader finds.
pub trait Sink<'a> {
    fn event(&mut self, event: Event<'a>);
    fn problem(&mut self, problem: Problem);
    fn duplicate(&mut self, duplicate: Duplicate);

    /// Whether only what was used is wanted. A reader may then pass over everything else: the
    /// requests, their models, times and tokens are the same.
    fn wants_only_usage(&self) -> bool {
        false
    }
}

/// A record that tells what another has told, and was not counted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The event that stands for both.
    pub message_id: String,
    pub line: u64,
    pub place: Place,
    pub reason: &'static str,
}

/// What a document became.
#[derive(Debug)]
pub struct Lines {
    pub text: String,
    pub problems: Vec<Problem>,
}

/// A format that can be read, and perhaps written.
pub struct Format {
    /// One name per format.
    pub name: &'static str,
    /// What its makers call the program that writes it; empty, where it is no one program's.
    pub product: &'static str,
    pub what: &'static str,
    /// The versions of the program whose files were seen.
    pub versions: &'static str,
    /// Whether these lines, the first of a file, are of this format. The last of them may have been
    /// closed where what is at hand stops.
    pub detect: fn(&[&str]) -> bool,
    /// Whether a line alone tells what its event says; others may tell whose it is, or what it
    /// answers. A search then reads a line without its session.
    pub stands_alone: bool,
    /// How a file that is one document becomes a stream of lines; nothing, where it is a stream.
    pub lines: Option<fn(text: &str) -> Lines>,
    /// Reads a session; the first stream is its main file.
    pub read: for<'a> fn(&[Stream<'a>], &mut dyn Sink<'a>),
    /// Writes a session in this format; nothing, where it is only read.
    pub write: Option<Writer>,
    /// Where its files lie.
    pub layout: Layout,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Raised whenever a reader reads something otherwise: what was derived before is derived again.
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

/// The formats of the agents whose hooks are known, with those.
pub fn hooked() -> impl Iterator<Item = (&'static Format, &'static Hooks)> {
    FORMATS.iter().filter_map(|format| Some((format, format.layout.hooks.as_ref()?)))
}

/// What holds for most: a session is one file, a stream of lines, and lies wherever it was put.
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
