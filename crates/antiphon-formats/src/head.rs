//! How a file begins, and which format that is.
//!
//! A beginning may stop anywhere, even within the first line if that contains an image. Such a line
//! is closed where it stops, so that the members before that point count, however long the rest is.

mod close;

use antiphon_model::json;

use crate::line::Object;
use crate::{FORMATS, Format, transcript};

/// How many lines of a stream are looked at first. Mostly one of them identifies the format.
const FIRST_LINES: usize = 50;
/// How many are looked at if the first lines do not identify the format.
const MOST_LINES: usize = 1000;

/// The beginning of a file.
#[derive(Debug)]
pub struct Head<'t> {
    text: &'t str,
    /// Whether the text has a record on each line, and is not one document over many lines.
    is_stream: bool,
    /// The last line, closed, if the text stops within it.
    closed: Option<String>,
}

impl<'t> Head<'t> {
    pub fn new(text: &'t str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let last = text.rsplit('\n').next().unwrap_or_default().trim();
        let is_only = text.trim().len() == first.len();
        let is_stream = first.is_empty() || record(first).is_some();
        let may_stop = (is_stream || is_only) && last.starts_with(['{', '[']);
        let closed = if may_stop && json::check(last).is_err() { close::close(last) } else { None };
        Self { text, is_stream: is_stream || (is_only && closed.is_some()), closed }
    }

    /// The lines by which the format is recognised: the first lines of a stream, and all lines of a
    /// document, because a single line of a document says nothing.
    pub fn first_lines(&self) -> Vec<&str> {
        self.lines(if self.is_stream { FIRST_LINES } else { usize::MAX })
    }

    /// Like [`first_lines`](Self::first_lines), with many more lines.
    fn more_lines(&self) -> Vec<&str> {
        self.lines(if self.is_stream { MOST_LINES } else { usize::MAX })
    }

    fn lines(&self, most: usize) -> Vec<&str> {
        let mut lines: Vec<&str> = self.text.lines().take(most.saturating_add(1)).collect();
        if lines.len() > most {
            lines.truncate(most);
        } else if let Some(closed) = &self.closed
            && let Some(last) = lines.last_mut()
        {
            *last = closed;
        }
        if self.is_stream {
            // Several records may share a line; the first one is enough.
            for line in lines.iter_mut().filter(|line| line.contains("}{")) {
                *line = record(line.trim()).unwrap_or(line);
            }
        }
        lines
    }
}

/// The format of a file that begins like this.
pub fn detect(head: &str) -> Option<&'static Format> {
    let head = Head::new(head);
    // The first line of a transcript is unambiguous, but the messages below it can be any agent's.
    let first = || FORMATS.iter().filter(|format| format.name == transcript::FORMAT.name);
    let find = |lines: &[&str]| first().chain(FORMATS).find(|format| (format.detect)(lines));
    let lines = head.first_lines();
    find(&lines).or_else(|| {
        let more = head.more_lines();
        if more.len() > lines.len() { find(&more) } else { None }
    })
}

/// The record on a line, or the first of several that share it.
fn record(line: &str) -> Option<&str> {
    if Object::parse(line).is_some() {
        return Some(line);
    }
    let (first, rest) = json::split_object(line)?;
    rest.trim_start().starts_with('{').then_some(first)
}

#[cfg(test)]
mod tests;
