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
mod droid;
mod droid_stream;
mod gemini;
mod gemini_stream;
mod goose;
mod head;
mod iflow;
mod inspect;
mod kimi;
mod langfuse;
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
mod swe_agent;
mod transcript;

use antiphon_model::{Event, Place, Problem};

pub use head::{Head, detect};

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

/// A folder that may be there: by the folder that it is in, below the session's root, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    pub within: String,
    /// This may come from within a file; it is compared with what is there, and never made a path.
    pub named: String,
}

/// Where an agent keeps its sessions.
#[derive(Debug)]
pub struct Kept {
    /// Names the agent's folder, if it is set; empty, if there is none.
    pub variable: &'static str,
    /// The agent's folder in the user's home, if it is not; each that is there counts.
    pub folders: &'static [&'static str],
    /// Where sessions lie below it.
    pub below: &'static [&'static str],
    /// What the agent calls the session whose main file this is; nothing, for a file that is a
    /// part of another or no session. The path is relative, with `/` between folders.
    pub session: fn(path: &str) -> Option<&str>,
    /// The name of a file that is a session's main file only where the usual one is missing.
    pub fallback: Option<&'static str>,
    /// After how many days without a change the agent deletes a session.
    pub deletes_after_days: Option<u32>,
}

/// A format that can be read.
pub struct Format {
    /// One name per format.
    pub name: &'static str,
    pub what: &'static str,
    /// The versions of the program whose files were seen.
    pub versions: &'static str,
    /// Whether these lines, the first of a file, are of this format. The last of them may have been
    /// closed where what is at hand stops.
    pub detect: fn(&[&str]) -> bool,
    /// How the names of files begin that may belong to a session and lie beside its main file;
    /// `{}` stands for the name of the main file, without its ending.
    pub beside: &'static [&'static str],
    /// Whether a file belongs to the session whose main file is `stem`: by its name, relative to
    /// the folder of the main file, and by how it begins.
    pub belongs: fn(stem: &str, name: &str, head: &str) -> bool,
    /// The sessions that a file which lies [`beside`](Self::beside) belongs to, by how it begins;
    /// nothing, where that is not how they are told. Their names do not depend on the session's.
    pub owners: Option<fn(head: &str) -> Vec<String>>,
    /// The ends of the names of files that a text names as made from it, whatever folder they lie
    /// in; [`belongs`](Self::belongs) still has to agree.
    pub names: fn(text: &str) -> Vec<String>,
    /// How many folders above its main file's folder the root of a session lies, by the path of
    /// the main file; names are relative to the root. More than none where the files of all
    /// sessions share some folders.
    pub above: fn(path: &str) -> usize,
    /// Where the root lies above: in which folders more of a file's own lies. The beginning of the
    /// file is read when it is asked for.
    pub leads: fn(name: &str, head: &mut dyn FnMut() -> String) -> Vec<Lead>,
    /// What the session is called that made the one whose main file begins like this; nothing, if
    /// sessions of their own are not found that way. Its main file has that name, or one that ends
    /// in it, after a `-`.
    pub made_by: Option<fn(head: &str) -> Option<String>>,
    /// Where the agent keeps its sessions; nothing, if it keeps none.
    pub kept: Option<Kept>,
    /// A file in the agent's folder, and the member of it that says after how many days without a
    /// change a session is deleted.
    pub days_setting: Option<(&'static str, &'static str)>,
    /// The databases in which it keeps them, below the agent's folder.
    pub databases: &'static [&'static str],
    /// The names of files that it keeps in the folders it works in, each a session.
    pub in_projects: &'static [&'static str],
    /// Whether a line alone tells what its event says; others may tell whose it is, or what it
    /// answers. A search then reads a line without its session.
    pub stands_alone: bool,
    /// How a file that is one document becomes a stream of lines; nothing, where it is a stream.
    pub lines: Option<fn(text: &str) -> Lines>,
    /// Reads a session; the first stream is its main file.
    pub read: for<'a> fn(&[Stream<'a>], &mut dyn Sink<'a>),
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Raised whenever a reader reads something otherwise: what was derived before is derived again.
pub const READERS: u32 = 5;

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

/// What holds for most: a session is one file, a stream of lines, and lies wherever it was put.
const ONE_FILE: Format = Format {
    name: "",
    what: "",
    versions: "",
    detect: |_| false,
    beside: &[],
    belongs: |_, _, _| false,
    owners: None,
    names: |_| Vec::new(),
    above: |_| 0,
    leads: |_, _| Vec::new(),
    made_by: None,
    kept: None,
    days_setting: None,
    databases: &[],
    in_projects: &[],
    stands_alone: false,
    lines: None,
    read: |_, _| {},
};

/// For [`Kept::session`], where a file is named after its session: the name, if it begins and ends
/// like this, without the ending.
fn named<'a>(path: &'a str, begins: &str, ending: &str) -> Option<&'a str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(ending).filter(|stem| stem.starts_with(begins))
}

#[cfg(test)]
mod tests;
