//! A name and its value as two members: `- name: DB_PASSWORD`, `value: …`.

use crate::bytes::Set;
use crate::context::is_secret;
use crate::name;
use crate::rule::{Verdict, Window};
use crate::value::{Written, literal};

/// The end of `value`, `Value` and `ParameterValue`, with what follows it.
pub(crate) const KEYWORDS: &[&str] = &["alue:", "alue=", "alue\":", "alue\\\":", "alue\" :"];

/// Names of the member that contains a name.
const NAMES: &[&str] = &["name", "Name", "key", "Key", "NAME", "KEY"];

/// `value: …` after `name: DB_PASSWORD`, in YAML, in JSON, and in the attributes of XML.
pub(crate) fn named_value(window: &Window<'_>) -> Verdict {
    let Some(name) = name_before(window.before) else { return Verdict::No };
    let Some(secret) = name::secret(name) else { return Verdict::No };
    let Some(value) = literal(window.rest().trim_start()) else { return Verdict::No };
    // The value has the line to itself, whatever characters are in it.
    let line = window.rest().trim();
    let is_line = !value.is_quoted() && !line.contains([' ', '"', '\'', '\\', '<', '{', '}']);
    let text = if is_line && window.keyword.ends_with(':') { line } else { value.text };
    match is_secret(text, secret, Written::AsValue) {
        true => window.secret(text),
        false => Verdict::No,
    }
}

/// The name in the member before, which ends where this one begins.
fn name_before(before: &str) -> Option<&str> {
    // The beginning of the word: `v`, `V`, `ParameterV`, with its quote.
    let before = before.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let signs = [' ', '\t', '\n', '\r', '"', '\'', '\\', ','];
    let before = before.trim_end_matches(signs).trim_end_matches("\\n").trim_end_matches(signs);
    let name = Set::Dotted.run_back(before);
    let before = before.strip_suffix(name)?.trim_end_matches([' ', '\t', '"', '\'', '\\']);
    let before = before.strip_suffix([':', '='])?.trim_end_matches([' ', '"', '\'', '\\']);
    NAMES.iter().any(|own| before.ends_with(own)).then_some(name)
}

/// Whether a member's value may be the name of the next.
pub(crate) fn is_name(member: &str) -> bool {
    NAMES.iter().any(|own| member.ends_with(own))
}

/// Whether a member is the value for the one before.
pub(crate) fn is_value(member: &str) -> bool {
    member.ends_with("alue")
}
