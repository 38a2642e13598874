//! Where prompts come from: lines of stdin, or a person who edits them at a terminal. Both are read
//! in a thread, so that nobody waits for them.

use antiphon_journal::Lines;
use rustyline::error::ReadlineError;
use rustyline::{DefaultEditor, ExternalPrinter};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::terminal::complain;

/// So many lines may wait.
const WAITING_MAX: usize = 64;
const PROMPT: &str = "> ";

/// What came from the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    Line(String),
    /// Ctrl-C at the prompt.
    Interrupted,
    /// Nothing more will come.
    Ended,
}

/// Prints whole lines above a prompt that is being edited.
pub(super) type Printer = Box<dyn ExternalPrinter + Send>;

/// Where prompts come from.
#[derive(Debug)]
pub(super) enum Input {
    Lines(Receiver<Heard>),
    Editor(Editor),
}

/// A line editor in a thread of its own. It edits only while it is asked to, so that the terminal
/// belongs to the answers in between.
#[derive(Debug)]
pub(super) struct Editor {
    ask: Sender<()>,
    heard: Receiver<Heard>,
    is_asked: bool,
}

impl Input {
    /// The lines of stdin that say something.
    pub(super) fn of_stdin() -> Self {
        let (sender, receiver) = channel(WAITING_MAX);
        std::thread::spawn(move || {
            let mut lines = Lines::new(std::io::stdin().lock());
            // What cannot be read ends it as the end does.
            while let Ok(Some(line)) = lines.next_line() {
                if line.bytes.is_empty() && line.len > 0 {
                    complain(&format!(
                        "A line of {} bytes is too long and was left out.",
                        line.len
                    ));
                }
                let text = String::from_utf8_lossy(line.bytes).trim().to_owned();
                if !text.is_empty() && sender.blocking_send(Heard::Line(text)).is_err() {
                    return;
                }
            }
        });
        Self::Lines(receiver)
    }

    /// A person at a terminal, and what prints while they edit.
    pub(super) fn of_person() -> anyhow::Result<(Self, Printer)> {
        let mut editor = DefaultEditor::new()?;
        let printer = editor.create_external_printer()?;
        let (ask, mut asked) = channel(1);
        let (sender, heard) = channel(WAITING_MAX);
        std::thread::spawn(move || {
            while asked.blocking_recv().is_some() {
                if sender.blocking_send(edit(&mut editor)).is_err() {
                    return;
                }
            }
        });
        let is_asked = false;
        Ok((Self::Editor(Editor { ask, heard, is_asked }), Box::new(printer)))
    }

    pub(super) fn is_person(&self) -> bool {
        matches!(self, Self::Editor(_))
    }

    /// Whether a prompt is being edited now.
    pub(super) fn is_editing(&self) -> bool {
        matches!(self, Self::Editor(Editor { is_asked: true, .. }))
    }

    /// What comes next. Whoever stops waiting for it loses nothing.
    pub(super) async fn next(&mut self) -> Heard {
        match self {
            Self::Lines(lines) => lines.recv().await.unwrap_or(Heard::Ended),
            Self::Editor(editor) => {
                if !editor.is_asked {
                    // If its thread has gone, nothing will be heard either.
                    let _ = editor.ask.send(()).await;
                    editor.is_asked = true;
                }
                let heard = editor.heard.recv().await.unwrap_or(Heard::Ended);
                editor.is_asked = false;
                heard
            }
        }
    }

    /// What comes while something else happens: only from a prompt that is being edited already.
    pub(super) async fn next_aside(&mut self) -> Heard {
        match self.is_editing() {
            true => self.next().await,
            false => std::future::pending().await,
        }
    }
}

fn edit(editor: &mut DefaultEditor) -> Heard {
    match editor.readline(PROMPT) {
        Ok(line) => {
            // A history that is full forgets; that is no reason to end.
            let _ = editor.add_history_entry(line.trim());
            Heard::Line(line.trim().to_owned())
        }
        Err(ReadlineError::Interrupted) => Heard::Interrupted,
        Err(_) => Heard::Ended,
    }
}
