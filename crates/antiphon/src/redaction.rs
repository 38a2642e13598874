//! Redaction as commands use it: with the values of this program's environment, and counted.

use antiphon_redact::{Counts, Redactor, Secrets};

use crate::terminal::complain;

/// What is replaced, and how often it was; nothing, where the user wants all.
#[derive(Debug, Default)]
pub(crate) struct Redaction {
    redactor: Option<Redactor>,
    pub(crate) counts: Counts,
}

impl Redaction {
    /// Redaction, unless the user has said `--no-redact`.
    pub(crate) fn unless(is_off: bool) -> Self {
        Self { redactor: (!is_off).then(redactor), counts: Counts::default() }
    }

    pub(crate) fn parts(&mut self) -> Option<(&Redactor, &mut Counts)> {
        self.redactor.as_ref().map(|redactor| (redactor, &mut self.counts))
    }

    /// A JSON text without its secrets.
    pub(crate) fn json(&mut self, text: String) -> String {
        match self.parts() {
            Some((redactor, counts)) => redactor.redact_json(&text, counts).into_owned(),
            None => text,
        }
    }

    /// A text without its secrets.
    pub(crate) fn text(&mut self, text: String) -> String {
        match self.parts() {
            Some((redactor, counts)) => redactor.redact(&text, counts).into_owned(),
            None => text,
        }
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
