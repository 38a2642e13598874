//! How a file begins, and which format that is.
//!
//! A beginning may stop anywhere: within the first line, if that holds a picture. Such a line is
//! closed where it stops, so that what it has told by then counts, however long the rest of it is.

mod close;

use antiphon_model::json;

use crate::line::Object;
use crate::{FORMATS, Format, transcript};

/// How many lines of a stream are looked at first. Most formats are told by one of them.
const FIRST_LINES: usize = 50;
/// How many are looked at where those tell nothing.
const MOST_LINES: usize = 1000;

/// The beginning of a file.
#[derive(Debug)]
pub struct Head<'t> {
    text: &'t str,
    /// The text is a record on each line, and no document that goes over many.
    is_stream: bool,
    /// The last line, closed, where the text stops within it.
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

    /// The lines that decide what the file is: the first of a stream. A document is spread over
    /// lines that say nothing alone, and all of them are looked at.
    pub fn first_lines(&self) -> Vec<&str> {
        self.lines(if self.is_stream { FIRST_LINES } else { usize::MAX })
    }

    /// The same, and many more.
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
            // Records may share a line; the first tells enough.
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
    // The first line of a transcript can be nothing else, and below it stand messages of any agent.
    let first = || FORMATS.iter().filter(|format| format.name == transcript::FORMAT.name);
    let find = |lines: &[&str]| first().chain(FORMATS).find(|format| (format.detect)(lines));
    let lines = head.first_lines();
    find(&lines).or_else(|| {
        let more = head.more_lines();
        if more.len() > lines.len() { find(&more) } else { None }
    })
}

/// The record that a line is, or the first of those that share it.
fn record(line: &str) -> Option<&str> {
    if Object::parse(line).is_some() {
        return Some(line);
    }
    let (first, rest) = json::split_object(line)?;
    rest.trim_start().starts_with('{').then_some(first)
}

#[cfg(test)]
mod tests;
