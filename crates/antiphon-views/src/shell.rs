//! What a shell command does, as far as its words show it: does it only read, does it check?
//!
//! This is no shell. A line is split into simple commands at operators outside of quotes. Anything
//! that could hide another command (a substitution, a group, a redirection into a file) means that
//! the line does more than read.

mod changing;
mod programs;

use antiphon_model::{BodyError, CallIx, json};

use crate::Reading;
use antiphon_model::Arguments;

/// Whether a tool runs commands.
pub(crate) fn is_shell(tool: &str) -> bool {
    matches!(
        tool,
        "Bash"
            | "PowerShell"
            | "bash"
            | "shell"
            | "exec"
            | "exec_command"
            | "command_execution"
            | "local_shell"
            | "local_shell_call"
            | "shell_command"
            | "container.exec"
            | "run_shell_command"
            | "run_terminal_cmd"
            | "run_command"
            | "execute_command"
            | "terminal"
    )
}

/// The simple commands of a line, each as a list of words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    commands: Vec<Vec<String>>,
    /// Whether it contains syntax that may do more than the words show.
    is_opaque: bool,
    writes_a_file: bool,
}

impl Script {
    /// The command that a call runs, if it names one.
    pub(crate) fn of(reading: &Reading<'_>, ix: CallIx) -> Result<Option<Self>, BodyError> {
        let arguments = Arguments::of(reading, ix)?;
        if let Some(list) = arguments.raw("command").or(arguments.raw("cmd")) {
            let mut words = Vec::new();
            if json::elements(list, |word| words.extend(json::text(word))).is_ok() {
                return Ok(Some(Self::of_words(words.into_iter().map(Into::into).collect())));
            }
        }
        let line = arguments.any_text(&["command", "cmd", "script"]);
        let line = line.or_else(|| reading.session.raw_command(ix).map(Into::into));
        Ok(line.map(|line| Self::parse(&line)))
    }

    /// A command that was given as a list of words; for `bash -lc LINE` that is the line.
    fn of_words(words: Vec<String>) -> Self {
        if let [shell, flags, line] = words.as_slice()
            && matches!(programs::base_name(shell), "bash" | "sh" | "zsh")
            && flags.starts_with('-')
            && flags.ends_with('c')
        {
            return Self::parse(line);
        }
        Self { commands: vec![words], ..Self::default() }
    }

    pub(crate) fn parse(line: &str) -> Self {
        let mut parser = Parser::default();
        parser.run(line);
        parser.script
    }

    /// Whether it changes nothing: only queries, and no file is written.
    pub(crate) fn only_looks(&self) -> bool {
        !self.is_opaque
            && !self.writes_a_file
            && !self.commands.is_empty()
            && self.commands.iter().all(|words| programs::is_query(words))
    }

    /// The program that the line is about, with its subcommand if it has one: `cargo test`. That is
    /// the first one that does more than change the folder.
    pub(crate) fn command_name(&self) -> Option<String> {
        let names = || self.commands.iter().filter_map(|words| programs::name(words));
        names().find(|name| !programs::prepares(name)).or_else(|| names().next())
    }

    /// Whether it runs a command of git that makes commits.
    pub(crate) fn makes_commits(&self) -> bool {
        let names = self.commands.iter().filter_map(|words| programs::name(words));
        let verbs = ["commit", "cherry-pick", "revert", "merge", "rebase", "am", "pull"];
        let mut verb = names.filter_map(|name| Some(name.strip_prefix("git ")?.to_owned()));
        verb.any(|verb| verbs.contains(&verb.as_str()))
    }

    /// Whether it runs tests, checks types, or lints.
    pub(crate) fn checks(&self) -> bool {
        self.commands.iter().any(|words| programs::is_check(words))
    }
}

#[derive(Debug, Default)]
struct Parser {
    script: Script,
    words: Vec<String>,
    word: String,
    /// Whether a word has begun, which may be empty: `''`.
    in_word: bool,
    /// Whether the next word is the target of a redirection.
    redirects: bool,
}

impl Parser {
    fn run(&mut self, line: &str) {
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\'' => {
                    self.in_word = true;
                    self.word.extend(chars.by_ref().take_while(|&c| c != '\''));
                }
                '"' => self.quoted(&mut chars),
                '\\' => match chars.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c),
                },
                '$' if chars.peek() == Some(&'(') => self.script.is_opaque = true,
                '`' | '(' | ')' => self.script.is_opaque = true,
                '<' => {
                    // The lines of a here-document would be taken for commands.
                    self.script.is_opaque |= matches!(chars.peek(), Some('<' | '('));
                    self.end_word();
                }
                '>' => {
                    // `2>`: the number belongs to the redirection.
                    if self.word.chars().all(|c| c.is_ascii_digit()) {
                        self.word.clear();
                        self.in_word = false;
                    }
                    self.end_word();
                    while chars.next_if(|&c| matches!(c, '>' | '|')).is_some() {}
                    // `2>&1` joins two streams; no file is written.
                    if chars.next_if_eq(&'&').is_some() {
                        while chars.next_if(|&c| c.is_ascii_digit() || c == '-').is_some() {}
                    } else {
                        self.redirects = true;
                    }
                }
                '&' if chars.peek() == Some(&'>') => self.end_word(),
                '#' if !self.in_word => while chars.next_if(|&c| c != '\n').is_some() {},
                '|' | '&' | ';' | '\n' => self.end_command(),
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command();
    }

    fn quoted(&mut self, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        self.in_word = true;
        while let Some(c) = chars.next() {
            match c {
                '"' => return,
                '\\' => self.word.extend(chars.next()),
                '`' => self.script.is_opaque = true,
                '$' if chars.peek() == Some(&'(') => self.script.is_opaque = true,
                c => self.word.push(c),
            }
        }
    }

    fn push(&mut self, c: char) {
        self.in_word = true;
        self.word.push(c);
    }

    fn end_word(&mut self) {
        if !std::mem::take(&mut self.in_word) {
            return;
        }
        let word = std::mem::take(&mut self.word);
        if std::mem::take(&mut self.redirects) {
            self.script.writes_a_file |= word != "/dev/null";
        } else {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.script.commands.push(words);
        }
    }
}

#[cfg(test)]
mod tests;
