//! What a person types, parsed into a query.

use antiphon_model::{NotAMoment, Timestamp, Zone, parse_moment};

use crate::{ProjectQuery, SessionQuery};

/// A query of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases, in lower case; all of them must be there.
    pub words: Vec<String>,
    pub tool: Option<String>,
    pub file: Option<String>,
    pub agent: Option<String>,
    pub project: Option<String>,
    pub role: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub is_error: bool,
}

/// Words of a question that carry no meaning.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "had",
    "has", "have", "how", "i", "in", "is", "it", "its", "me", "my", "of", "on", "or", "that",
    "the", "this", "to", "was", "we", "were", "what", "when", "where", "which", "who", "why",
    "with", "you",
];

impl Query {
    /// Parses what a person types: words, `"a phrase"`, and filters (`tool:Bash`, `is:error` …).
    /// Relative times are before `now`, and days begin in `zone`.
    pub fn parse(text: &str, now: Timestamp, zone: &Zone) -> Result<Self, String> {
        let mut query = Self::default();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (word, tail) = match rest.strip_prefix('"') {
                Some(phrase) => phrase.split_once('"').unwrap_or((phrase, "")),
                None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
            };
            let is_phrase = rest.starts_with('"');
            rest = tail.trim_start();
            match word.split_once(':').filter(|(_, value)| !is_phrase && !value.is_empty()) {
                Some((name, value)) => query.filter(name, value, word, (now, zone))?,
                None => query.words.push(word.to_lowercase()),
            }
        }
        query.words.retain(|word| !word.is_empty());
        Ok(query)
    }

    fn filter(
        &mut self,
        name: &str,
        value: &str,
        whole: &str,
        (now, zone): (Timestamp, &Zone),
    ) -> Result<(), String> {
        let time = || {
            let examples = NotAMoment::EXAMPLES;
            parse_moment(value, now, zone)
                .map_err(|error| format!("`{whole}`: {error}; for example {examples}"))
        };
        match name {
            "tool" => self.tool = Some(value.to_lowercase()),
            "file" => self.file = Some(value.to_lowercase()),
            "agent" => self.agent = Some(value.to_lowercase()),
            "project" => self.project = Some(value.to_lowercase()),
            "role" => self.role = Some(value.to_lowercase()),
            "since" => self.since = Some(time()?),
            "until" => self.until = Some(time()?),
            "is" if value == "error" => self.is_error = true,
            // Any other colon belongs to the word: `std::fs`, `http://`.
            _ => self.words.push(whole.to_lowercase()),
        }
        Ok(())
    }

    /// The part of the query that selects sessions.
    pub(crate) fn about(&self) -> SessionQuery {
        let Self { agent, project, since, until, .. } = self.clone();
        let project = project.map(ProjectQuery::Part);
        SessionQuery { agent, project, since, until, ..SessionQuery::default() }
    }

    /// The words that are not stop words; all words, if all are.
    pub(crate) fn telling(&self) -> Vec<String> {
        let telling: Vec<String> =
            self.words.iter().filter(|it| !STOP_WORDS.contains(&&***it)).cloned().collect();
        if telling.is_empty() { self.words.clone() } else { telling }
    }
}
