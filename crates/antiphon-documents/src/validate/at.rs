//! A value of the document, together with its path. A value that is missing or has another type is
//! `None`: the structure rule reports that, and no other rule repeats it.

use antiphon_model::Timestamp;
use serde_json::Value;

#[derive(Debug, Clone)]
pub(super) struct At<'d> {
    pub(super) value: &'d Value,
    /// A JSON Pointer.
    pub(super) path: String,
}

impl<'d> At<'d> {
    pub(super) fn root(value: &'d Value) -> Self {
        Self { value, path: String::new() }
    }

    /// The path of a member, whether it exists or not.
    pub(super) fn path_of(&self, name: &str) -> String {
        format!("{}/{}", self.path, name.replace('~', "~0").replace('/', "~1"))
    }

    /// A member that exists and is not `null`; some programs write `null` for a missing member.
    pub(super) fn member(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(Self { value, path: self.path_of(name) })
    }

    /// The items of a list; none if the value is not a list.
    pub(super) fn items(&self) -> impl Iterator<Item = Self> + use<'d> {
        let path = self.path.clone();
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items
            .iter()
            .enumerate()
            .map(move |(ix, value)| Self { value, path: format!("{path}/{ix}") })
    }

    /// The items of a member that is a list.
    pub(super) fn list(&self, name: &str) -> Vec<Self> {
        self.member(name).map(|list| list.items().collect()).unwrap_or_default()
    }

    pub(super) fn text(&self, name: &str) -> Option<&'d str> {
        self.value.get(name)?.as_str()
    }

    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.value.get(name)?.as_u64()
    }

    pub(super) fn time(&self, name: &str) -> Option<Timestamp> {
        Moment::of(self.text(name)?).time()
    }

    /// A duration, rounded to milliseconds.
    pub(super) fn millis(&self, name: &str) -> Option<i64> {
        let number = self.value.get(name)?;
        number.as_i64().or_else(|| {
            let number = number.as_f64()?;
            #[allow(
                clippy::cast_possible_truncation,
                reason = "`as` saturates, which is enough here"
            )]
            Some(number.round() as i64)
        })
    }
}

/// A time as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Exact(Timestamp),
    /// A time without a zone, or only a date; taken as UTC.
    Vague(Timestamp),
    Bad,
}

impl Moment {
    pub(super) fn of(text: &str) -> Self {
        let parse = |text: &str| Timestamp::parse(text);
        if let Some(time) = parse(text) {
            return Self::Exact(time);
        }
        let text = text.trim();
        // Long text is not a time, and need not be copied to find that out.
        if text.len() > 40 {
            return Self::Bad;
        }
        let vague = parse(&format!("{text}Z")).or_else(|| parse(&format!("{text}T00:00:00Z")));
        vague.map_or(Self::Bad, Self::Vague)
    }

    fn time(self) -> Option<Timestamp> {
        match self {
            Self::Exact(time) | Self::Vague(time) => Some(time),
            Self::Bad => None,
        }
    }
}

/// Recorded text to be quoted in a sentence: in backticks and shortened.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", text.get(..end).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}

/// `3 calls`, `1 call`.
pub(super) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// `a, b, c and 4 more`.
pub(super) fn enumerated<'t>(names: impl ExactSizeIterator<Item = &'t str>) -> String {
    const SHOWN: usize = 3;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).map(quoted).collect();
    let shown = shown.join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}
