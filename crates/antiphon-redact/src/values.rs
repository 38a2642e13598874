//! The values of secret-looking environment variables, replaced wherever they occur.
//!
//! They are replaced before any rule is applied, so that no rule sees half of one.

use aho_corasick::{AhoCorasick, MatchKind};
use antiphon_model::json;

use crate::keywords::MARKER;
use crate::search::Span;
use crate::{name, rules};

/// The name in the marker for such a value.
pub const RULE: &str = "environment";

/// Shorter values occur by chance in too many places.
const BYTES_MIN: usize = 8;
/// Longer values are files, and have a form of their own.
const BYTES_MAX: usize = 8 << 10;

/// Common values that are not secret.
const COMMON: &[&str] = &[
    "password",
    "changeme",
    "disabled",
    "required",
    "undefined",
    "anonymous",
    "localhost",
    "redacted",
    "username",
    "keychain",
    "default",
];

/// Values that are secret wherever they occur.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    automaton: Option<AhoCorasick>,
    longest: usize,
    /// Whether a value is written differently in JSON, and in JSON within JSON.
    has_escapes: bool,
}

impl Secrets {
    /// The values of the variables whose names look secret.
    pub fn from_env(variables: impl Iterator<Item = (String, String)>) -> Self {
        let secret = variables.filter(|(name, _)| name::is_secret_variable(name));
        Self::from_values(secret.map(|(_, value)| value).filter(|value| is_worth_hiding(value)))
    }

    fn from_values(values: impl Iterator<Item = String>) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut has_escapes = false;
        for value in values {
            let mut escaped = String::new();
            json::push_string(&mut escaped, &value);
            let escaped = escaped.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            has_escapes |= escaped != Some(&value);
            words.extend(escaped.map(str::to_owned));
            words.push(value);
        }
        words.sort_unstable();
        words.dedup();
        let longest = words.iter().map(String::len).max().unwrap_or_default();
        let build =
            || AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&words).ok();
        Self { automaton: if words.is_empty() { None } else { build() }, longest, has_escapes }
    }

    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    /// Whether a JSON text may contain one, at any depth.
    pub(crate) fn may_be_in(&self, raw: &str) -> bool {
        self.has_escapes || self.automaton.as_ref().is_some_and(|values| values.is_match(raw))
    }

    /// The values in a text, and up to where that is certain.
    pub(crate) fn find(&self, text: &str, is_whole: bool) -> (Vec<Span>, usize) {
        let Some(automaton) = &self.automaton else { return (Vec::new(), text.len()) };
        let mut certain = text.len();
        if !is_whole {
            certain = text.floor_char_boundary(text.len().saturating_sub(self.longest));
        }
        let found = automaton.find_iter(text).take_while(|found| found.start() < certain);
        let spans: Vec<Span> =
            found.map(|found| Span { range: found.range(), rule: RULE }).collect();
        let end = spans.last().map_or(0, |span| span.range.end);
        (spans, certain.max(end))
    }
}

/// Whether a value is worth hiding, and no marker contains it.
fn is_worth_hiding(value: &str) -> bool {
    let is_length = (BYTES_MIN..=BYTES_MAX).contains(&value.len());
    let is_common = COMMON.iter().any(|word| value.eq_ignore_ascii_case(word));
    let is_place = value.starts_with('/') && !value.contains(['+', '=']) || value.contains(MARKER);
    let in_marker = rules::names().chain([RULE]).any(|rule| {
        let marker = format!("{MARKER}{rule}]");
        marker.contains(value)
    });
    let is_flat = value.bytes().all(|byte| Some(byte) == value.bytes().next());
    is_length && !is_common && !is_place && !in_marker && !is_flat
}

#[cfg(test)]
mod tests {
    use crate::{Counts, Redactor, Secrets};

    fn redactor(variables: &[(&str, &str)]) -> Redactor {
        let owned = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Redactor::new(Secrets::from_env(owned))
    }

    fn redacted(variables: &[(&str, &str)], text: &str) -> String {
        redactor(variables).redact(text, &mut Counts::default()).into_owned()
    }

    #[test]
    fn a_secret_value_goes_wherever_it_stands() {
        let variables =
            [("DB_PASSWORD", "correct horse \"battery\""), ("EDITOR", "vim and others")];
        let text = "it is xcorrect horse \"battery\"y, vim and others";
        assert_eq!(redacted(&variables, text), "it is x[redacted:environment]y, vim and others");
        let json = r#"{"say":"correct horse \"battery\""}"#;
        assert_eq!(redacted(&variables, json), r#"{"say":"[redacted:environment]"}"#);
    }

    #[test]
    fn common_words_places_and_short_values_stay() {
        let variables = [
            ("A_TOKEN", "short"),
            ("B_TOKEN", "Password"),
            ("C_SECRET", "/usr/share/keys"),
            ("D_KEY", "redacted:github"),
            ("E_KEY", "aaaaaaaaaaaa"),
        ];
        let text = "short Password /usr/share/keys [redacted:github-token] aaaaaaaaaaaa";
        assert_eq!(redacted(&variables, text), text);
    }
}
