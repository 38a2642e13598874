//! The members of an object in a document, taken one by one; the rest can be kept.

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::json::{self, Members};
use antiphon_model::{Place, Problem, Severity, Timestamp};

use crate::line::elements;

/// How a document deviates from the standard.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) problems: Vec<Problem>,
}

impl Notes {
    /// Reports a deviation from the standards that was read all the same.
    pub(super) fn lenient(&mut self, pointer: &str, what: &str) {
        let message = match pointer {
            "" => format!("the document {what}"),
            pointer => format!("{pointer} {what}"),
        };
        let code = "not-to-standard";
        let (line, place) = (0, Place::NONE);
        self.problems.push(Problem { severity: Severity::Warning, code, line, message, place });
    }
}

#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    pub(super) pointer: String,
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Fields<'a> {
    /// The members of an object; `None` for any other value.
    pub(super) fn of(raw: &'a str, pointer: String, notes: &mut Notes) -> Option<Self> {
        let mut members: Vec<(Cow<'a, str>, &'a str)> = Vec::new();
        let mut known: BTreeMap<Cow<'a, str>, usize> = BTreeMap::new();
        json::raw_members(raw, |key, name, value| {
            let name = if key == name { Cow::Borrowed(key) } else { Cow::Owned(name.to_owned()) };
            if let Some(member) = known.get(&name).and_then(|&at| members.get_mut(at)) {
                let at = below(&pointer, &name);
                notes.lenient(&at, "occurs twice in its object; the last one is used");
                member.1 = value;
            } else {
                known.insert(name.clone(), members.len());
                members.push((name, value));
            }
        })
        .ok()?;
        Some(Self { pointer, members })
    }

    /// Takes the raw value. A null counts as absent, and is left in the rest.
    pub(super) fn take(&mut self, name: &str) -> Option<&'a str> {
        let at = self.members.iter().position(|(it, value)| it == name && *value != "null")?;
        Some(self.members.remove(at).1)
    }

    /// Takes the text of a string; any other value is left in the rest.
    pub(super) fn take_text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        let text = json::text(self.get(name)?)?;
        self.take(name);
        Some(text)
    }

    /// Takes a non-negative integer; any other value is left in the rest.
    pub(super) fn take_number(&mut self, name: &str) -> Option<u64> {
        let number = self.get(name)?.parse().ok()?;
        self.take(name);
        Some(number)
    }

    /// Takes a time. If its spelling is not canonical, that is reported, and the spelling is kept.
    pub(super) fn take_time(&mut self, name: &str, notes: &mut Notes) -> Option<Timestamp> {
        let text = json::text(self.get(name)?);
        let Some(at) = text.as_deref().and_then(Timestamp::parse) else {
            notes.lenient(&below(&self.pointer, name), "is not an ISO 8601 time");
            return None;
        };
        if text.is_some_and(|text| text == at.to_short()) {
            self.take(name);
        }
        Some(at)
    }

    /// Takes an object.
    pub(super) fn take_object(&mut self, name: &str, notes: &mut Notes) -> Option<Self> {
        let raw = self.get(name).filter(|raw| raw.starts_with('{'))?;
        self.take(name);
        Self::of(raw, below(&self.pointer, name), notes)
    }

    /// Takes the elements of a list, each with its pointer; any other value is left in the rest.
    pub(super) fn take_list(
        &mut self,
        name: &str,
        notes: &mut Notes,
    ) -> Option<Vec<(String, &'a str)>> {
        let raw = self.get(name)?;
        let pointer = below(&self.pointer, name);
        if !raw.starts_with('[') {
            notes.lenient(&pointer, "is not a list; it is kept as it is");
            return None;
        }
        self.take(name);
        let numbered = elements(raw).into_iter().enumerate();
        Some(numbered.map(|(at, raw)| (below(&pointer, &at.to_string()), raw)).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.members.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| *value).filter(|&value| value != "null")
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The members that were not taken.
    pub(super) fn rest(&self) -> Members {
        let mut rest = Members::default();
        self.rest_into(&mut rest);
        rest
    }

    pub(super) fn rest_into(&self, members: &mut Members) {
        for (name, value) in &self.members {
            members.raw(name, value);
        }
    }
}

/// The pointer of a member.
pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}
