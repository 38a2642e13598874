//! Removing the secrets of a session before anything reads it.
//!
//! Titles, summaries and transcripts show the beginning of a text. Cutting first and redacting
//! afterwards would leave half a secret that no rule recognises. So whatever leaves this machine is
//! redacted where it is read: no writer sees a secret, and none can forget to look for one.

use antiphon_model::{Bodies, BodyError, Place};
use antiphon_redact::{Counts, Redactor};

use crate::Opened;

/// Bodies whose secrets are redacted.
struct RedactedBodies {
    bodies: Box<dyn Bodies>,
    redactor: Redactor,
}

impl Bodies for RedactedBodies {
    fn read(&self, place: Place) -> Result<String, BodyError> {
        let raw = self.bodies.read(place)?;
        Ok(self.redactor.redact_value(&raw, &mut Counts::default()).into_owned())
    }

    // `stream` returns nothing, because the bytes of a whole stream are not redacted.
}

impl Opened {
    /// Redacts the session: its texts, and what it says about itself.
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        self.session.change_texts(&|text| {
            let mut counts = Counts::default();
            let clean = redactor.redact_value(text, &mut counts);
            (!counts.is_empty()).then(|| clean.into_owned())
        });
        self.bodies = Box::new(RedactedBodies { bodies: self.bodies, redactor: redactor.clone() });
        self
    }
}
