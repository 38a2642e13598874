//! What a person types, parsed into a query.

use antiphon_model::Timestamp;

use crate::SessionQuery;

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
    /// Relative times are before `now`.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, String> {
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
                Some((name, value)) => query.filter(name, value, word, now)?,
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
        now: Timestamp,
    ) -> Result<(), String> {
        let time = || day_or_time(value, now).map_err(|error| format!("`{whole}`: {error}"));
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
        SessionQuery { agent, project, since, until, ..SessionQuery::default() }
    }

    /// The words that are not stop words; all words, if all are.
    pub(crate) fn telling(&self) -> Vec<String> {
        let telling: Vec<String> =
            self.words.iter().filter(|it| !STOP_WORDS.contains(&&***it)).cloned().collect();
        if telling.is_empty() { self.words.clone() } else { telling }
    }
}

/// Parses a time, a day (its beginning), or a number of days or hours before now: `2026-03-01`,
/// `today`, `7d`. Days begin at midnight UTC.
pub fn day_or_time(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    day_before(text, now)
        .ok_or_else(|| "expected a date such as 2026-03-01, today or 7d".to_owned())
}

fn day_before(text: &str, now: Timestamp) -> Option<Timestamp> {
    const HOUR: i64 = 3_600_000;
    let midnight = now.as_millis() - now.as_millis().rem_euclid(24 * HOUR);
    match text {
        "today" => return Some(Timestamp::from_millis(midnight)),
        "yesterday" => return Some(Timestamp::from_millis(midnight - 24 * HOUR)),
        _ => {}
    }
    let units = [('h', HOUR), ('d', 24 * HOUR), ('w', 7 * 24 * HOUR)];
    let ago = units.iter().find_map(|(unit, millis)| {
        let number: u32 = text.strip_suffix(*unit)?.parse().ok()?;
        i64::from(number).checked_mul(*millis)
    });
    match ago {
        Some(ago) => now.as_millis().checked_sub(ago).map(Timestamp::from_millis),
        None => Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{text}T00:00:00Z"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_date_or_a_time_before_now() {
        let now = Timestamp::parse("2026-03-10T12:30:00Z").unwrap();
        let check = |text: &str| day_before(text, now).map(|at| at.to_string());
        let days = ["2026-03-01", "2026-03-01T05:00:00Z", "today", "yesterday", "7d", "2w", "36h"];
        let times = [
            "2026-03-01T00:00:00.000Z",
            "2026-03-01T05:00:00.000Z",
            "2026-03-10T00:00:00.000Z",
            "2026-03-09T00:00:00.000Z",
            "2026-03-03T12:30:00.000Z",
            "2026-02-24T12:30:00.000Z",
            "2026-03-09T00:30:00.000Z",
        ];
        assert_eq!(days.map(check), times.map(|time| Some(time.to_owned())));
        for wrong in ["", "d", "-7d", "7", "tomorrow", "2026-13-01"] {
            assert_eq!(check(wrong), None, "{wrong}");
        }
    }
}
