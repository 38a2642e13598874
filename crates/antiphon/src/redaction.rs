//! Redaction as commands use it: with the values of this program's environment, and counted.

mod stream;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io;
use std::path::Path;

use antiphon_recorder::{Printed, Redact};
use antiphon_redact::{Counts, Redactor, Secrets};

use self::stream::TextWriter;
use crate::opened::Opened;
use crate::terminal::complain;

/// What is replaced, and how often it was; nothing, where the user wants everything.
///
/// Whatever leaves this machine is opened here, so that it is redacted before a writer cuts it, and
/// goes through [`Redaction::json`], [`Redaction::text`] or [`Redaction::writer`] once more when it
/// is written: a secret may also come together from parts.
#[derive(Debug, Default)]
pub(crate) struct Redaction {
    redactor: Option<Redactor>,
    pub(crate) counts: Counts,
}

impl Redaction {
    /// Nothing is replaced.
    pub(crate) fn off() -> Self {
        Self::unless(true)
    }

    /// Redaction, unless the user has said `--no-redact`.
    pub(crate) fn unless(is_off: bool) -> Self {
        Self { redactor: (!is_off).then(redactor), counts: Counts::default() }
    }

    pub(crate) fn parts(&mut self) -> Option<(&Redactor, &mut Counts)> {
        self.redactor.as_ref().map(|redactor| (redactor, &mut self.counts))
    }

    /// Reads the session that a person names, in order to export it.
    pub(crate) fn open(&self, named: &Path) -> anyhow::Result<Opened> {
        let opened = Opened::read(named)?;
        Ok(match &self.redactor {
            Some(redactor) => opened.redacted(redactor),
            None => opened,
        })
    }

    /// A text, or a JSON value, without its secrets; they are not counted.
    pub(crate) fn value(&self, text: &str) -> String {
        match &self.redactor {
            Some(redactor) => redactor.redact_value(text, &mut Counts::default()).into_owned(),
            None => text.to_owned(),
        }
    }

    /// A JSON text without its secrets.
    pub(crate) fn json(&mut self, text: String) -> String {
        self.clean(text, |redactor, text| {
            redactor.redact_json(text, &mut Counts::default()).into_owned()
        })
    }

    /// A text without its secrets.
    pub(crate) fn text(&mut self, text: String) -> String {
        self.clean(text, |redactor, text| {
            redactor.redact(text, &mut Counts::default()).into_owned()
        })
    }

    /// Writes a text that comes in pieces without its secrets.
    pub(crate) fn writer<W: io::Write>(&self, out: W) -> TextWriter<'_, W> {
        TextWriter::new(self.redactor.as_ref(), out)
    }

    /// Counts what is left out of the text as it is written, wherever that was found.
    fn clean(&mut self, text: String, redact: impl Fn(&Redactor, &str) -> String) -> String {
        let Some(redactor) = &self.redactor else { return text };
        let clean = redact(redactor, &text);
        self.counts.merge(&Counts::of_markers(&clean));
        clean
    }

    /// Says what was replaced, if anything was.
    pub(crate) fn report(&self) {
        if !self.counts.is_empty() {
            complain(&format!("redacted: {}", self.counts));
        }
    }
}

/// The redactor, with the values of secret-looking variables.
pub(crate) fn redactor() -> Redactor {
    // A variable that is not UTF-8 cannot stand in a text.
    let variables = std::env::vars_os();
    let variables = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Redactor::new(Secrets::from_env(variables))
}

/// Redacts what a recorded command prints, in order, before anything is made of it: nothing reaches
/// the disk with a secret in it that a rule knows. It is given whole lines.
pub(crate) fn line_redactor() -> Redact {
    let redactor = redactor();
    let mut counts = Counts::default();
    let mut key = Key::default();
    Box::new(move |text, printed| match printed {
        Printed::Json => redactor.redact_json(text, &mut counts),
        Printed::Text => key.redact(text, &redactor, &mut counts),
    })
}

/// A key that is printed as text goes over many lines, none of which looks like one, and perhaps
/// over several pieces of what was printed.
#[derive(Default)]
struct Key {
    /// How many bytes may still belong to it.
    open: usize,
}

impl Key {
    fn redact<'t>(
        &mut self,
        lines: &'t str,
        redactor: &Redactor,
        counts: &mut Counts,
    ) -> Cow<'t, str> {
        if self.open == 0 && !lines.contains(KEY) {
            return redactor.redact(lines, counts);
        }
        let mut out = String::with_capacity(lines.len());
        for (number, line) in lines.split('\n').enumerate() {
            if number > 0 {
                out.push('\n');
            }
            if is_edge(line, "-----BEGIN ") {
                self.open = KEY_BYTES_MAX;
            }
            if self.open > 0 {
                out.push_str("[redacted:private-key]");
                let ends = is_edge(line, "-----END ");
                self.open = if ends { 0 } else { self.open.saturating_sub(line.len() + 1) };
            } else {
                out.push_str(&redactor.redact(line, counts));
            }
        }
        Cow::Owned(out)
    }
}

/// `-----BEGIN RSA PRIVATE KEY-----`, `-----BEGIN PGP PRIVATE KEY BLOCK-----`.
const KEY: &str = "PRIVATE KEY";
/// Longer than any key is: a beginning without an end must not swallow all that follows.
const KEY_BYTES_MAX: usize = 64 << 10;

fn is_edge(line: &str, word: &str) -> bool {
    line.split_once(word).is_some_and(|(_, rest)| rest.contains(KEY))
}
