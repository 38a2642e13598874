//! A page of output: escaped, styled for a terminal, and given to a pager when it is long.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use anstyle::{AnsiColor, Effects};

use super::Screen;
use super::escape::{escape, escape_line};
use super::text::{expand_tabs, wrap};

/// What a piece of text is, and so how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    /// An agent's name.
    Name,
    /// The name of one of several agents that are told apart by their colours.
    Agent(usize),
    /// Ids, rules, times: there for those who need them.
    Faint,
    /// A tool call.
    Call,
    /// A heading.
    Head,
    Good,
    Bad,
    /// A line that is not there any more.
    Removed,
    /// What was searched for.
    Match,
}

/// The colours of agents. Red is for what went wrong.
const AGENTS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::Blue,
    AnsiColor::Yellow,
    AnsiColor::BrightCyan,
];

impl Style {
    fn ansi(self) -> anstyle::Style {
        let colour = |colour: AnsiColor| anstyle::Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => anstyle::Style::new(),
            Self::Name => colour(AnsiColor::Cyan).effects(Effects::BOLD),
            Self::Agent(number) => {
                let colours = AGENTS.iter().cycle();
                let chosen = colours.copied().nth(number % AGENTS.len());
                colour(chosen.unwrap_or(AnsiColor::Cyan)).effects(Effects::BOLD)
            }
            Self::Faint => anstyle::Style::new().effects(Effects::DIMMED),
            Self::Call => colour(AnsiColor::Yellow),
            Self::Head => anstyle::Style::new().effects(Effects::BOLD),
            Self::Good => colour(AnsiColor::Green),
            Self::Bad => colour(AnsiColor::Red).effects(Effects::BOLD),
            Self::Removed => colour(AnsiColor::Red),
            Self::Match => colour(AnsiColor::Red).effects(Effects::BOLD),
        }
    }
}

/// Output for a person. Dropping a page without [`Page::finish`] loses what it still holds.
#[derive(Debug)]
pub(crate) struct Page {
    buffer: String,
    out: Out,
    has_colour: bool,
    /// The terminal's columns; `None` where output is no terminal, and is never broken.
    pub(crate) width: Option<usize>,
}

#[derive(Debug)]
enum Out {
    Stdout,
    Pager(Child),
}

const FLUSH_BYTES: usize = 64 << 10;

impl Page {
    /// A page on stdout; on a terminal, through a pager if there is one.
    pub(crate) fn new() -> Self {
        let is_paged = io::stdout().is_terminal() && Screen::chosen().has_pager;
        let out = match is_paged.then(start_pager).flatten() {
            Some(pager) => Out::Pager(pager),
            None => Out::Stdout,
        };
        Self { out, ..Self::live() }
    }

    /// A page that is never paged: for what goes on for ever.
    pub(crate) fn live() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let size = terminal_size::terminal_size();
        let width = size.filter(|_| is_terminal).map(|(width, _)| usize::from(width.0).max(40));
        Self {
            buffer: String::new(),
            out: Out::Stdout,
            has_colour: Screen::chosen().colour.is_wanted(is_terminal),
            width,
        }
    }

    /// Adds text within a line; newlines in it are shown, not obeyed.
    pub(crate) fn add(&mut self, style: Style, text: &str) -> &mut Self {
        let text = escape_line(text);
        if self.has_colour && style != Style::Plain && !text.is_empty() {
            let ansi = style.ansi();
            self.buffer.push_str(&format!("{}{text}{}", ansi.render(), ansi.render_reset()));
        } else {
            self.buffer.push_str(&text);
        }
        self
    }

    pub(crate) fn plain(&mut self, text: &str) -> &mut Self {
        self.add(Style::Plain, text)
    }

    pub(crate) fn faint(&mut self, text: &str) -> &mut Self {
        self.add(Style::Faint, text)
    }

    pub(crate) fn end(&mut self) -> anyhow::Result<()> {
        self.buffer.push('\n');
        if self.buffer.len() >= FLUSH_BYTES { self.flush() } else { Ok(()) }
    }

    /// Adds a line of code: tabs are as wide as they are, and it is not broken.
    pub(crate) fn add_line(&mut self, style: Style, line: &str) -> anyhow::Result<()> {
        self.add(style, &expand_tabs(line));
        self.end()
    }

    /// Adds a text of several lines, wrapped, each behind `indent` spaces but for the first.
    pub(crate) fn block(&mut self, style: Style, text: &str, indent: usize) -> anyhow::Result<()> {
        let lines = self.lines(text, indent);
        let mut lines = lines.iter().enumerate();
        lines.try_for_each(|(at, line)| self.block_line(style, line, at, indent))
    }

    /// The lines that a text takes behind `indent` spaces: escaped, with spaces instead of tabs,
    /// and wrapped.
    pub(crate) fn lines(&self, text: &str, indent: usize) -> Vec<String> {
        let text = escape(text);
        let lines: Vec<_> = text.split('\n').map(expand_tabs).collect();
        wrap(&lines.join("\n"), self.width.map(|width| width.saturating_sub(indent)))
    }

    fn block_line(
        &mut self,
        style: Style,
        line: &str,
        at: usize,
        indent: usize,
    ) -> anyhow::Result<()> {
        if at > 0 && !line.is_empty() {
            self.buffer.extend(std::iter::repeat_n(' ', indent));
        }
        self.add(style, line);
        self.end()
    }

    /// Takes what is not printed yet, escaped and styled, for whoever prints it in another way.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.buffer)
    }

    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        let text = std::mem::take(&mut self.buffer);
        let written = match &mut self.out {
            Out::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Out::Pager(child) => match &mut child.stdin {
                Some(pager) => pager.write_all(text.as_bytes()),
                None => Ok(()),
            },
        };
        Ok(written?)
    }

    /// Prints what is left, and waits for the pager.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        let flushed = self.flush();
        if let Out::Pager(mut child) = self.out {
            drop(child.stdin.take());
            child.wait()?;
        }
        flushed
    }
}

/// Starts `$ANTIPHON_PAGER`, `$PAGER`, or `less` in a way that leaves a short page on the screen
/// and passes colours on.
fn start_pager() -> Option<Child> {
    let chosen = ["ANTIPHON_PAGER", "PAGER"].into_iter().find_map(std::env::var_os);
    let command = chosen.as_deref().and_then(|pager| pager.to_str()).unwrap_or("less");
    let words = shlex::split(command)?;
    let (program, arguments) = words.split_first().filter(|(program, _)| *program != "cat")?;
    let mut pager = Command::new(program);
    pager.args(arguments).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            pager.env(name, value);
        }
    }
    pager.spawn().ok()
}
