//! The parts of a transcript: its header, its records, its footer.

use antiphon_model::Timestamp;

use super::{END, HEADER, MESSAGES};

/// A line `Name: value` of the header or the footer.
pub(super) type Field<'a> = (&'a str, &'a str);

#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    pub(super) header: Vec<Field<'a>>,
    pub(super) records: Vec<Record<'a>>,
    /// `None` if the session was interrupted.
    pub(super) footer: Option<Vec<Field<'a>>>,
    /// Lines outside of any record.
    pub(super) strays: Vec<(u64, &'a str)>,
}

#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) line: u64,
    pub(super) clock: &'a str,
    /// Such as `SYSTEM init`, `ASSISTANT`, `RESULT success`, `UNKNOWN user`.
    pub(super) head: &'a str,
    pub(super) body: Vec<&'a str>,
}

impl Record<'_> {
    /// The body's text, without the empty lines that the writer adds at its end.
    pub(super) fn text(&self) -> String {
        self.body.join("\n").trim_end_matches('\n').to_owned()
    }

    /// The value of a line `Name: value` of the body.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.body.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
    }
}

#[derive(PartialEq)]
enum At {
    Header,
    Messages,
    Footer,
}

pub(super) fn parts(text: &str) -> Parts<'_> {
    let mut parts = Parts::default();
    let mut at = At::Header;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end_matches('\r');
        match line {
            HEADER => at = At::Header,
            MESSAGES => at = At::Messages,
            END => {
                at = At::Footer;
                parts.footer.get_or_insert_default();
            }
            _ if at == At::Messages => parts.message(number, line),
            _ if line.trim().is_empty() => {}
            _ => match line.split_once(':') {
                Some((name, value)) => {
                    let fields = match at {
                        At::Footer => parts.footer.get_or_insert_default(),
                        At::Header | At::Messages => &mut parts.header,
                    };
                    fields.push((name.trim(), value.trim()));
                }
                None => parts.strays.push((number, line)),
            },
        }
    }
    parts
}

impl<'a> Parts<'a> {
    fn message(&mut self, number: u64, line: &'a str) {
        if let Some((clock, head)) = record_line(line) {
            return self.records.push(Record { line: number, clock, head, body: Vec::new() });
        }
        let inner = line.strip_prefix("  ");
        match (self.records.last_mut(), inner) {
            (Some(record), Some(inner)) => record.body.push(inner),
            (Some(record), None) if line.is_empty() => record.body.push(""),
            (None, _) if line.is_empty() => {}
            (Some(_) | None, _) => self.strays.push((number, line)),
        }
    }

    pub(super) fn field(&self, name: &str) -> Option<&'a str> {
        let found = self.header.iter().find(|(it, _)| *it == name);
        found.map(|(_, value)| *value).filter(|value| !value.is_empty())
    }
}

/// Parses a line `[19:21:40] ASSISTANT` at the left edge.
fn record_line(line: &str) -> Option<(&str, &str)> {
    let (clock, head) = line.strip_prefix('[')?.split_once("] ")?;
    let is_clock = clock.len() == 8
        && clock.bytes().enumerate().all(|(at, byte)| match at {
            2 | 5 => byte == b':',
            _ => byte.is_ascii_digit(),
        });
    let word = head.split(' ').next().unwrap_or_default();
    let is_known = ["SYSTEM", "ASSISTANT", "USER", "RESULT", "UNKNOWN"].contains(&word);
    (is_clock && is_known).then_some((clock, head))
}

/// Adds dates to times of day.
#[derive(Debug)]
pub(super) struct Days {
    now: Option<Timestamp>,
}

const DAY_MS: i64 = 24 * 3600 * 1000;

impl Days {
    pub(super) fn from(started: Option<Timestamp>) -> Self {
        Self { now: started }
    }

    /// The time for a time of day: on the date of the one before, or on the next day, if it went
    /// back by more than half a day.
    pub(super) fn time(&mut self, clock: &str) -> Option<Timestamp> {
        let now = self.now?;
        let mut numbers = clock.split(':').map(|it| it.parse::<i64>().ok());
        let (hours, minutes, seconds) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let midnight = now.as_millis().div_euclid(DAY_MS) * DAY_MS;
        let mut at = midnight + (hours * 3600 + minutes * 60 + seconds) * 1000;
        if at < now.as_millis() - DAY_MS / 2 {
            at += DAY_MS;
        }
        let at = Timestamp::from_millis(at);
        self.now = Some(at);
        Some(at)
    }
}
