//! Statuses: the words of the standards, of deviating documents, and of the log.

use std::borrow::Cow;

use antiphon_model::json::{self, Members};

use super::fields::{Fields, Notes, below};

/// The standards' word for what has not ended.
const IN_PROGRESS: &str = "in_progress";

/// A status in a document.
#[derive(Debug, Default)]
pub(super) struct Status {
    word: Option<String>,
    /// The log's word for how it ended; `None` if it has not.
    pub(super) outcome: Option<String>,
}

impl Status {
    pub(super) fn take(fields: &mut Fields<'_>, notes: &mut Notes) -> Self {
        let word = fields.take_text("status").map(Cow::into_owned);
        let outcome = word.as_deref().and_then(outcome);
        let status = Self { word, outcome };
        if let Some(word) = status.other_word() {
            let at = below(&fields.pointer, "status");
            notes.lenient(&at, &format!("is `{word}`, which is not one of the standard's values"));
        }
        status
    }

    /// The status of a first draft, where only steps have one: failed if one failed, and ended if
    /// the last one did and none is in progress.
    pub(super) fn of_steps(steps: &[(String, &str)]) -> Self {
        let said = steps.iter().map(|(_, raw)| json::member(raw, "status").and_then(json::text));
        let said: Vec<Option<Cow<'_, str>>> = said.collect();
        let words = || said.iter().flatten();
        let has_failed = words().any(|word| outcome(word).as_deref() == Some("failed"));
        let goes_on = words().any(|word| is_open(word));
        let has_ended = said.last().is_some_and(Option::is_some);
        let (word, outcome) = match (has_failed, goes_on, has_ended) {
            (true, ..) => (None, Some("failed".to_owned())),
            (false, true, _) => (Some(IN_PROGRESS.to_owned()), None),
            (false, false, true) => (None, Some("completed".to_owned())),
            (false, false, false) => (None, None),
        };
        Self { word, outcome }
    }

    /// Whether there is no status.
    pub(super) fn is_unknown(&self) -> bool {
        self.word.is_none()
    }

    /// Whether it says that the session has not ended.
    pub(super) fn goes_on(&self) -> bool {
        self.word.is_some() && self.outcome.is_none()
    }

    /// The word, if it is not one of the standards.
    fn other_word(&self) -> Option<&str> {
        let standard = match self.outcome.as_deref() {
            Some("completed") => "success",
            Some("failed") => "failed",
            Some(_) => "",
            None => IN_PROGRESS,
        };
        self.word.as_deref().filter(|word| *word != standard)
    }

    /// Keeps a word that cannot be restored from the log's.
    pub(super) fn leave(&self, extra: &mut Members) {
        extra.text("status", self.other_word());
    }
}

fn outcome(status: &str) -> Option<String> {
    Some(match status {
        "success" | "completed" => "completed".to_owned(),
        "failed" | "error" => "failed".to_owned(),
        word if is_open(word) => return None,
        other => other.to_owned(),
    })
}

/// Whether this is a status of something that has not ended.
pub(super) fn is_open(status: &str) -> bool {
    matches!(status, IN_PROGRESS | "running" | "pending")
}
