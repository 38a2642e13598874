//! Answers that may leave the machine.
//!
//! A session is opened without its secrets for them, so that none is cut before it is recognised.
//! What is written goes through the redactor once more: names and paths of a session are texts too,
//! and a secret may come together from parts.

use std::io::Write;

use antiphon_redact::{Counts, Redactor};
use serde::Serialize;

use crate::answer::Stopped;
use crate::app::App;

/// Writes documents, without secrets if they may leave the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redacting<'a> {
    redactor: Option<&'a Redactor>,
}

impl<'a> Redacting<'a> {
    pub(crate) fn new(app: &'a App, is_far: bool) -> Self {
        Self { redactor: is_far.then_some(&app.redactor) }
    }

    pub(crate) fn write<T: Serialize>(
        &self,
        out: &mut dyn Write,
        document: &T,
    ) -> Result<(), Stopped> {
        match self.redactor {
            None => Ok(serde_json::to_writer(out, document)?),
            Some(redactor) => {
                let text = serde_json::to_string(document)?;
                let clean = redactor.redact_json(&text, &mut Counts::default());
                Ok(out.write_all(clean.as_bytes())?)
            }
        }
    }
}
