//! Lines that are too long to be read: each is reported and skipped.
//!
//! A reader holds a line in several forms at once, so a line of hundreds of megabytes would take
//! gigabytes. It is overwritten with spaces, so that the offsets of all other lines stay the same.

use antiphon_journal::LINE_BYTES_MAX;
use antiphon_model::{Place, Problem, Severity};

use crate::utf8;

/// The text with spaces in place of the lines that are too long, and a problem for each.
pub(super) fn pass_over(text: String, stream: u32, name: &str) -> (String, Vec<Problem>) {
    pass_over_longer(text, LINE_BYTES_MAX, stream, name)
}

fn pass_over_longer(text: String, most: usize, stream: u32, name: &str) -> (String, Vec<Problem>) {
    if text.len() <= most {
        return (text, Vec::new());
    }
    let mut long = Vec::new();
    let mut problems = Vec::new();
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    for (end, number) in ends.zip(1..) {
        let len = end - start;
        if len > most {
            let file = if stream > 0 { format!("`{name}`: ") } else { String::new() };
            let message = format!("{file}skipped a line of {len} bytes (the limit is {most})");
            let place_len = u32::try_from(len).unwrap_or(u32::MAX);
            let place = Place { offset: start as u64, len: place_len, stream };
            let (severity, code) = (Severity::Error, "too-long");
            problems.push(Problem { severity, code, line: number, message, place });
            long.push(start..end);
        }
        start = end + 1;
    }
    if long.is_empty() {
        return (text, problems);
    }
    let mut bytes = text.into_bytes();
    for range in long {
        bytes.get_mut(range).unwrap_or_default().fill(b' ');
    }
    (utf8::text(bytes), problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_named_and_the_places_of_the_others_hold() {
        let text = format!("short\n{}\nmiddle\n{}", "\u{e9}".repeat(20), "y".repeat(12));
        let (passed, problems) = pass_over_longer(text.clone(), 10, 2, "agent-1.jsonl");
        assert_eq!(passed, format!("short\n{}\nmiddle\n{}", " ".repeat(40), " ".repeat(12)));
        let reported: Vec<(u64, u64)> =
            problems.iter().map(|it| (it.line, it.place.offset)).collect();
        assert_eq!(reported, [(2, 6), (4, 54)]);
        assert_eq!(
            problems[0].message,
            "`agent-1.jsonl`: skipped a line of 40 bytes (the limit is 10)"
        );
        let (passed, problems) = pass_over_longer(text.clone(), 40, 0, "");
        assert_eq!((passed, problems.len()), (text, 0));
    }
}
