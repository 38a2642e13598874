//! Plain lines on their way into the log: several become one event, because an event costs more
//! than a line.

use std::time::Duration;

use antiphon_model::Timestamp;

use crate::frame::{Loss, Source};

/// The approximate maximum of bytes in an event.
const MOST_BYTES: usize = 64 << 10;
/// Lines that were printed within this time may share an event.
pub(crate) const WINDOW: Duration = Duration::from_millis(50);
/// A line that is printed this often in a row is written once, with the count.
const MANY: u64 = 1000;

/// Lines that share an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lines<'b> {
    pub(crate) source: Source,
    pub(crate) at: Timestamp,
    /// Without the newline of the last one.
    pub(crate) text: &'b [u8],
    /// How often in a row the line was printed, if more than once.
    pub(crate) times: Option<u64>,
}

impl Lines<'_> {
    /// The loss to report if they cannot be written.
    pub(crate) fn loss(&self) -> Loss {
        let Loss { lines, bytes } = Loss::of(self.text);
        let times = self.times.unwrap_or(1);
        Loss { lines: (lines + 1).saturating_mul(times), bytes: (bytes + 1).saturating_mul(times) }
    }
}

/// Collects lines that may share an event.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Lines, each with its newline.
    text: Vec<u8>,
    of: Option<(Source, Timestamp)>,
    /// Where the last line begins, and how often in a row it came. From [`MANY`] on, the text
    /// contains it once and nothing else.
    last: usize,
    times: u64,
}

impl Batch {
    /// Adds a line; `write` receives what has to be written before or because of it.
    pub(crate) fn add(
        &mut self,
        source: Source,
        at: Timestamp,
        line: &[u8],
        mut write: impl FnMut(Lines<'_>),
    ) {
        if self.of.is_some_and(|(of, since)| of != source || is_later(since, at)) {
            self.flush(&mut write);
        }
        let repeats = self.of.is_some() && self.last() == Some(line);
        if repeats && self.times >= MANY {
            self.times += 1;
            return;
        }
        if self.times >= MANY || self.text.len() + line.len() > MOST_BYTES {
            self.flush(&mut write);
        }
        let of = *self.of.get_or_insert((source, at));
        self.times = if repeats && !self.text.is_empty() { self.times + 1 } else { 1 };
        self.last = self.text.len();
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        if self.times == MANY {
            // The repeated line becomes an event of its own, and the lines before it another.
            let many = usize::try_from(MANY).unwrap_or(usize::MAX);
            let before = self.text.len() - (line.len() + 1) * many;
            self.text.truncate(before);
            self.times = 0;
            self.flush(&mut write);
            self.of = Some(of);
            self.text.extend_from_slice(line);
            self.text.push(b'\n');
            (self.last, self.times) = (0, MANY);
        }
    }

    fn last(&self) -> Option<&[u8]> {
        self.text.get(self.last..)?.strip_suffix(b"\n")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether the batch has waited long enough to be written.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.of.is_some_and(|(_, since)| is_later(since, now))
    }

    pub(crate) fn flush(&mut self, mut write: impl FnMut(Lines<'_>)) {
        if let Some((source, at)) = self.of.take()
            && let Some(text) = self.text.strip_suffix(b"\n")
        {
            let times = (self.times >= MANY).then_some(self.times);
            write(Lines { source, at, text, times });
        }
        self.text.clear();
        (self.last, self.times) = (0, 0);
    }
}

fn is_later(since: Timestamp, at: Timestamp) -> bool {
    u128::from(at.since(since).unsigned_abs()) > WINDOW.as_millis()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1000);

    /// The pieces that are written for these lines, and how often each was printed.
    fn written<'l>(lines: impl IntoIterator<Item = &'l [u8]>) -> Vec<(Vec<u8>, u64)> {
        let (mut batch, mut found) = (Batch::default(), Vec::new());
        let mut write = |lines: Lines<'_>| {
            found.push((lines.text.to_vec(), lines.times.unwrap_or(1)));
        };
        for line in lines {
            batch.add(Source::Stdout, AT, line, &mut write);
        }
        batch.flush(&mut write);
        found
    }

    /// The printed text, reconstructed from the written pieces.
    fn printed(written: &[(Vec<u8>, u64)]) -> Vec<u8> {
        let whole = |(text, times): &(Vec<u8>, u64)| {
            [text, &b"\n"[..]].concat().repeat(usize::try_from(*times).unwrap())
        };
        written.iter().flat_map(whole).collect()
    }

    #[test]
    fn lines_share_an_event_up_to_its_size() {
        let lines: Vec<String> = (0..100_000).map(|n| format!("line {n}")).collect();
        let found = written(lines.iter().map(String::as_bytes));
        assert!(found.len() < 20, "{}", found.len());
        assert!(found.iter().all(|(text, times)| text.len() <= MOST_BYTES && *times == 1));
        assert_eq!(printed(&found), (lines.join("\n") + "\n").as_bytes());
    }

    #[test]
    fn a_line_that_is_printed_over_and_over_is_written_once() {
        let many = usize::try_from(MANY).unwrap();
        for count in [many - 1, many, many + 1, many * 50] {
            for line in [&b"y"[..], b""] {
                let run = std::iter::repeat_n(line, count);
                let lines: Vec<&[u8]> = [b"before"]
                    .into_iter()
                    .map(|it| &it[..])
                    .chain(run)
                    .chain([&b"after"[..]])
                    .collect();
                let found = written(lines.iter().copied());
                let wanted = [lines.join(&b'\n'), b"\n".to_vec()].concat();
                assert!(printed(&found) == wanted, "{count}");
                assert!(found.len() <= 3, "{count}");
                let is_short = found.iter().all(|(text, _)| text.len() < 20);
                assert_eq!(is_short, count >= many);
            }
        }
    }

    #[test]
    fn what_was_printed_elsewhere_or_later_is_another_event() {
        let later = Timestamp::from_millis(1051);
        for (source, at, events) in [
            (Source::Stdout, AT, 1),
            (Source::Stdout, Timestamp::from_millis(1050), 1),
            (Source::Stdout, later, 2),
            (Source::Stderr, AT, 2),
        ] {
            let (mut batch, mut count) = (Batch::default(), 0);
            batch.add(Source::Stdout, AT, b"one", |_| count += 1);
            assert!(!batch.is_due(AT) && batch.is_due(later));
            batch.add(source, at, b"two", |_| count += 1);
            batch.flush(|_| count += 1);
            batch.flush(|_| count += 1);
            assert_eq!(count, events, "{source:?} {at}");
        }
    }
}
