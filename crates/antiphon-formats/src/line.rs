//! A line of a foreign stream, with its members located and nothing else decoded.

use std::borrow::Cow;

use antiphon_model::{Body, Line, Place, Problem, ProblemKind, Timestamp, Unknown, json};
use json::Passed;

use crate::{Sink, Stream};

/// The members of a JSON object, in a small list: foreign lines have many that are never used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object<'a> {
    members: Vec<(&'a str, &'a str)>,
    /// Where long strings end, which makes it cheap to look into values.
    passed: Option<Passed<'a>>,
}

impl<'a> Object<'a> {
    /// Reads an object; `None` for any other value.
    pub(crate) fn parse(raw: &'a str) -> Option<Self> {
        // Most values that are not objects are recognised by their first character.
        if !raw.trim_start().starts_with('{') {
            return None;
        }
        let mut members = Vec::with_capacity(24);
        let passed = Passed::over(raw, |key, value| members.push((key, value)))?;
        Some(Self { members, passed: Some(passed) })
    }

    /// Reads an object that is a value in this one.
    fn within(&self, raw: &'a str) -> Option<Self> {
        let Some(passed) = &self.passed else { return Self::parse(raw) };
        let mut members = Vec::with_capacity(16);
        passed.members(raw, |key, value| members.push((key, value))).ok()?;
        Some(Self { members, passed: Some(passed.clone()) })
    }

    /// Copies a member from another object, if it is there.
    pub(crate) fn add(&mut self, other: &Self, name: &str) {
        let found = other.members.iter().rev().find(|(key, _)| *key == name);
        self.members.extend(found.copied());
    }

    /// The raw value, unless it is absent or null.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a str> {
        let found = self.members.iter().rev().find(|(key, _)| *key == name);
        found.map(|(_, value)| *value).filter(|&value| value != "null")
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.members.iter().copied()
    }

    /// Whether the member is there, null or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(key, _)| *key == name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.raw(name).and_then(json::word)
    }

    /// A string without escapes, such as an id or a type.
    pub(crate) fn id(&self, name: &str) -> Option<&'a str> {
        let inner = self.raw(name)?.strip_prefix('"')?.strip_suffix('"')?;
        (!inner.contains('\\')).then_some(inner)
    }

    pub(crate) fn object(&self, name: &str) -> Option<Self> {
        self.raw(name).filter(|raw| raw.starts_with('{')).and_then(|raw| self.within(raw))
    }

    /// The elements of a list, raw and as objects if they are; empty for any other value.
    pub(crate) fn elements(&self, name: &str) -> Vec<(&'a str, Option<Self>)> {
        let Some(list) = self.raw(name).filter(|raw| raw.starts_with('[')) else {
            return Vec::new();
        };
        let elements = match &self.passed {
            Some(passed) => {
                let mut elements = Vec::new();
                let read = passed.elements(list, |element| elements.push(element));
                read.map(|()| elements).unwrap_or_default()
            }
            None => elements(list),
        };
        let object = |raw: &'a str| raw.starts_with('{').then(|| self.within(raw))?;
        elements.into_iter().map(|raw| (raw, object(raw))).collect()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.raw(name) == Some("true")
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.raw(name)?.parse().ok()
    }

    /// A number that may have a fraction, such as a cost or a share.
    pub(crate) fn amount(&self, name: &str) -> Option<f64> {
        self.raw(name)?.parse().ok().filter(|amount: &f64| amount.is_finite())
    }

    /// A cost, unless it is absent or not a number.
    pub(crate) fn cost(&self, name: &str) -> Option<f64> {
        self.amount(name).filter(|cost| *cost > 0.0)
    }

    /// A time, as text or as a number of seconds or milliseconds.
    pub(crate) fn time(&self, name: &str) -> Option<Timestamp> {
        let text = self.text(name)?;
        Timestamp::parse(&text).or_else(|| since_1970(text.parse().ok()?))
    }
}

/// Converts a Unix time. Small numbers are seconds: in milliseconds they would be before 1973.
fn since_1970(number: f64) -> Option<Timestamp> {
    const SECONDS_MOST: f64 = 1e11;
    const MILLIS_MOST: f64 = 1e15;
    let millis = if number < SECONDS_MOST { number * 1000.0 } else { number };
    #[expect(clippy::cast_possible_truncation, reason = "it is within bounds, and no fraction")]
    (1.0..MILLIS_MOST).contains(&millis).then(|| Timestamp::from_millis(millis.round() as i64))
}

/// The elements of a JSON array; empty for any other value.
pub(crate) fn elements(raw: &str) -> Vec<&str> {
    let mut elements = Vec::new();
    match json::elements(raw, |element| elements.push(element)) {
        Ok(()) => elements,
        Err(_) => Vec::new(),
    }
}

/// A line of a stream that is a JSON object.
#[derive(Debug, Clone)]
pub(crate) struct Record<'a> {
    pub(crate) line: Line<'a>,
    pub(crate) object: Object<'a>,
}

impl<'a> Record<'a> {
    /// An event for a record that no rule recognises: it is kept whole.
    pub(crate) fn unknown(
        &self,
        event_type: Cow<'a, str>,
        agent: Option<Cow<'a, str>>,
    ) -> Unknown<'a> {
        Unknown { event_type, agent, raw: Some(self.line.whole()) }
    }

    pub(crate) fn body(&self, raw: &'a str) -> Body<'a> {
        self.line.body(raw)
    }
}

/// The records of a stream, and a problem for every line that is not one. Skips blank lines.
pub(crate) fn records<'a>(
    stream: &Stream<'a>,
    number: u32,
) -> impl Iterator<Item = Result<Record<'a>, Problem>> + use<'a> {
    records_where(stream, number, |_| true)
}

/// Passes the records of a stream to a function, with the sink, and the problems to the sink.
pub(crate) fn each_record<'a>(
    stream: &Stream<'a>,
    number: u32,
    sink: &mut dyn Sink<'a>,
    mut each: impl FnMut(Record<'a>, &mut dyn Sink<'a>),
) {
    for record in records(stream, number) {
        match record {
            Ok(record) => each(record, sink),
            Err(problem) => sink.problem(problem),
        }
    }
}

/// The records of the lines that are wanted; the others are not parsed.
///
/// A line may contain several records: a program that was killed, or two that write at once, leave
/// no end of line between them. Each is read, and the line is a problem.
pub(crate) fn records_where<'a, F: Fn(&str) -> bool>(
    stream: &Stream<'a>,
    number: u32,
    is_wanted: F,
) -> impl Iterator<Item = Result<Record<'a>, Problem>> + use<'a, F> {
    let text = stream.text;
    let mut offset = 0;
    let mut line_number = 0;
    let mut shared: Option<SharedLine<'a>> = None;
    std::iter::from_fn(move || {
        loop {
            if let Some(next) = shared.as_mut().and_then(SharedLine::next) {
                return Some(next);
            }
            shared = None;
            let rest = text.get(offset..).filter(|rest| !rest.is_empty())?;
            let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            let line = rest.get(..end).unwrap_or_default();
            let start = offset;
            offset += end + 1;
            line_number += 1;
            let line = if start == 0 { line.trim_start_matches('\u{feff}') } else { line };
            if !is_wanted(line) || line.trim().is_empty() {
                continue;
            }
            let skipped = (line.as_ptr() as usize).wrapping_sub(rest.as_ptr() as usize);
            let place = Place {
                offset: (start + skipped) as u64,
                len: u32::try_from(line.len()).unwrap_or(u32::MAX),
                stream: number,
            };
            let line = Line::new(line, line_number, place);
            match Object::parse(line.text) {
                Some(object) => return Some(Ok(Record { line, object })),
                None => {
                    let has_no_end = end == rest.len();
                    shared = Some(SharedLine { line, read: 0, has_several: false, has_no_end });
                }
            }
        }
    })
}

/// A line with several records, while they are read.
struct SharedLine<'a> {
    line: Line<'a>,
    /// How many of its bytes were read.
    read: usize,
    has_several: bool,
    /// Whether the text ends with the line, so that it lacks its end of line.
    has_no_end: bool,
}

impl<'a> SharedLine<'a> {
    fn next(&mut self) -> Option<Result<Record<'a>, Problem>> {
        let rest = self.line.text.get(self.read..)?;
        if rest.trim().is_empty() {
            return None;
        }
        let first = json::split_object(rest).map(|(first, _)| first);
        let Some((first, object)) = first.and_then(|it| Some((it, Object::parse(it)?))) else {
            let problem = not_an_object(&self.part(rest), self.has_no_end);
            self.read = self.line.text.len();
            return Some(Err(problem));
        };
        if self.read > 0 && !self.has_several {
            self.has_several = true;
            return Some(Err(ProblemKind::SharedLine.at(self.line.number, self.line.place)));
        }
        let line = self.part(first);
        let end = self.line.body(first).place.offset + first.len() as u64;
        self.read = usize::try_from(end - self.line.place.offset).ok()?;
        Some(Ok(Record { line, object }))
    }

    fn part(&self, part: &'a str) -> Line<'a> {
        Line::new(part, self.line.number, self.line.body(part).place)
    }
}

/// Says why a line is not a record.
pub(crate) fn not_an_object(line: &Line<'_>, has_no_end: bool) -> Problem {
    let reason = match json::members(line.text, |_, _| {}) {
        Err(json::NotJson::Incomplete(_)) if has_no_end => ProblemKind::Torn,
        Err(error) => ProblemKind::NotJson(error.to_string()),
        Ok(()) => ProblemKind::NotAnObject,
    };
    reason.at(line.number, line.place)
}
