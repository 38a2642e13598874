//! What a person types, parsed into a query.

use antiphon_model::{NotAMoment, Timestamp, Zone, parse_moment};

use super::Pattern;
use crate::{ProjectQuery, SessionQuery, Summary};

/// A query of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases, in lower case; all of them must be there.
    pub words: Vec<String>,
    /// Regular expressions; all of them must match.
    pub patterns: Vec<Pattern>,
    /// The id or key of a session, or how one of these begins, or `latest`.
    pub session: Option<String>,
    pub tool: Option<String>,
    pub file: Option<String>,
    pub agent: Option<String>,
    pub project: Option<String>,
    pub role: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub is_error: bool,
}

/// What may stand before a colon, as a person types it.
const FILTERS: &[&str] = &[
    "tool:", "file:", "agent:", "project:", "session:", "role:", "since:", "until:", "is:error",
    "re:",
];

/// Words of a question that carry no meaning.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "had",
    "has", "have", "how", "i", "in", "is", "it", "its", "me", "my", "of", "on", "or", "that",
    "the", "this", "to", "was", "we", "were", "what", "when", "where", "which", "who", "why",
    "with", "you",
];

impl Query {
    /// Parses what a person types: words, `"a phrase"`, `/a pattern/`, and filters (`tool:Bash`,
    /// `is:error` …). Relative times are before `now`, and days begin in `zone`.
    pub fn parse(text: &str, now: Timestamp, zone: &Zone) -> Result<Self, String> {
        let mut query = Self::default();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (token, tail) = Token::first(rest);
            rest = tail.trim_start();
            match token {
                Token::Phrase(phrase) => query.words.push(phrase.to_lowercase()),
                Token::Pattern(pattern) => query.patterns.push(Pattern::new(pattern)?),
                Token::Word(word) => match filter_of(word) {
                    Some((name, value)) => query.filter(name, value, word, (now, zone))?,
                    None => query.words.push(word.to_lowercase()),
                },
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
            "session" => self.session = Some(value.to_owned()),
            "role" => self.role = Some(value.to_lowercase()),
            "since" => self.since = Some(time()?),
            "until" => self.until = Some(time()?),
            "is" if value == "error" => self.is_error = true,
            _ => {
                let filters = FILTERS.join(", ");
                return Err(format!(
                    "unknown filter `{whole}`; the filters are {filters}; to search for this \
                     text, put it in double quotes: \"{whole}\""
                ));
            }
        }
        Ok(())
    }

    /// The part of the query that selects sessions.
    pub(crate) fn about(&self) -> SessionQuery {
        let Self { agent, project, since, until, .. } = self.clone();
        let project = project.map(ProjectQuery::Part);
        SessionQuery { agent, project, since, until, ..SessionQuery::default() }
    }

    /// Those of some sessions, the newest first, that [`session`](Self::session) means.
    pub fn within<'a>(&self, sessions: &[&'a Summary]) -> Vec<&'a Summary> {
        let Some(wanted) = self.session.as_deref() else { return sessions.to_vec() };
        if wanted == "latest" {
            return sessions.iter().copied().take(1).collect();
        }
        let those = |is: &dyn Fn(&str) -> bool| -> Vec<&'a Summary> {
            let is = |it: &&Summary| is(&it.session_id) || is(it.key.as_str());
            sessions.iter().copied().filter(|it| is(it)).collect()
        };
        let exact = those(&|name| name == wanted);
        if exact.is_empty() { those(&|name| name.starts_with(wanted)) } else { exact }
    }

    /// The words that are not stop words; all words, if all are.
    pub(crate) fn telling(&self) -> Vec<String> {
        let telling: Vec<String> =
            self.words.iter().filter(|it| !STOP_WORDS.contains(&&***it)).cloned().collect();
        if telling.is_empty() { self.words.clone() } else { telling }
    }
}

/// A part of what a person typed.
#[derive(Debug, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    Phrase(&'t str),
    Pattern(&'t str),
}

impl<'t> Token<'t> {
    /// The first part of a text that does not begin with whitespace, and what follows it.
    fn first(text: &'t str) -> (Self, &'t str) {
        let quoted = |text: &'t str| text.split_once('"').unwrap_or((text, ""));
        if let Some(phrase) = text.strip_prefix('"') {
            let (phrase, rest) = quoted(phrase);
            return (Self::Phrase(phrase), rest);
        }
        if let Some(pattern) = text.strip_prefix("re:\"") {
            let (pattern, rest) = quoted(pattern);
            return (Self::Pattern(pattern), rest);
        }
        if let Some((pattern, rest)) = between_slashes(text) {
            return (Self::Pattern(pattern), rest);
        }
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word.strip_prefix("re:").filter(|pattern| !pattern.is_empty()) {
            Some(pattern) => (Self::Pattern(pattern), rest),
            None => (Self::Word(word), rest),
        }
    }
}

/// A pattern that stands between slashes at the beginning of a text, and what follows it. What has
/// a slash within its first word, and none at the end of it, is a path.
fn between_slashes(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('/').filter(|inner| !inner.starts_with(char::is_whitespace))?;
    let word = inner.split(char::is_whitespace).next().unwrap_or_default();
    if let Some(pattern) = word.strip_suffix('/').filter(|it| !it.is_empty() && !ends_escaped(it)) {
        return Some((pattern, inner.get(word.len()..)?));
    }
    let slashes = |text: &str| -> Vec<usize> {
        let all = text.match_indices('/').map(|(at, _)| at);
        all.filter(|&at| !ends_escaped(text.get(..at).unwrap_or_default())).collect()
    };
    if !slashes(word).is_empty() {
        return None;
    }
    let ends = |at: &usize| inner.get(at + 1..).is_some_and(ends_word);
    let end = slashes(inner).into_iter().find(ends).filter(|&end| end > 0)?;
    Some((inner.get(..end)?, inner.get(end + 1..)?))
}

fn ends_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(char::is_whitespace)
}

/// Whether a backslash takes away the meaning of what follows.
fn ends_escaped(text: &str) -> bool {
    (text.len() - text.trim_end_matches('\\').len()) % 2 == 1
}

/// The name and the value of a filter, if a word is one. Other colons belong to the word:
/// `std::fs`, `http://`, `main.rs:7`, `localhost:80`.
fn filter_of(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_known =
        FILTERS.iter().any(|filter| filter.split_once(':').is_some_and(|it| it.0 == name));
    let is_value = match is_known {
        true => !value.is_empty() && !value.starts_with(':'),
        false => {
            value.starts_with(|it: char| !matches!(it, ':' | '/' | '\\'))
                && !value.bytes().all(|byte| byte.is_ascii_digit())
        }
    };
    (is_name && is_value).then_some((name, value))
}

#[cfg(test)]
mod tests;
