//! Counting the records of a text. Reading takes memory for each record, however short, so with a
//! limit on bytes alone a file of tiny records could take ten times the memory allowed.

use antiphon_model::json;

/// A shorter line contains one record or a few; a longer one is examined.
const LONG_LINE_BYTES: usize = 1 << 20;

/// No record of a stream is shorter, so a short text need not be counted.
const RECORD_BYTES_MIN: u64 = 16;

/// The records of a document: its objects, or its lines, if it is not JSON. Objects within objects
/// count as well, although few of them become events.
pub(super) fn of_document(text: &str) -> u64 {
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    if begins.starts_with(['{', '[']) {
        return objects(text);
    }
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64 + 1
}

/// The number of bytes of a stream of lines that contain the first `most` records; `None` if that
/// is all of it.
pub(super) fn end_of(text: &str, most: u64) -> Option<usize> {
    if (text.len() as u64) / RECORD_BYTES_MIN <= most {
        return None;
    }
    let (mut count, mut start) = (0, 0);
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
        let line = text.get(start..end).unwrap_or_default();
        count += if line.len() < LONG_LINE_BYTES { 1 } else { objects(line).max(1) };
        if count > most && !line.is_empty() {
            return Some(start);
        }
        start = end + 1;
    }
    None
}

/// The number of objects that begin in a text, outside of strings.
fn objects(text: &str) -> u64 {
    let (mut count, mut rest) = (0, text);
    while let Some(at) = memchr::memchr2(b'"', b'{', rest.as_bytes()) {
        let (_, found) = rest.split_at(at);
        let next = match found.starts_with('"') {
            true => json::end_of_string(found),
            false => {
                count += 1;
                1
            }
        };
        rest = found.get(next..).unwrap_or_default();
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_counted_by_its_objects_and_not_by_what_its_strings_say() {
        assert_eq!(of_document(r#" [{"a":"{{\"{"},{"b":{"c":[{}]}}]"#), 4);
        assert_eq!(of_document("\u{feff}{\"a\":\"cut off {"), 1);
        assert_eq!(of_document("# aider chat\n> one {\n> two"), 3);
        assert_eq!(of_document(""), 1);
    }

    #[test]
    fn a_stream_ends_before_the_line_that_is_one_too_many() {
        let text = format!("{}\n", "x".repeat(40)).repeat(5);
        assert_eq!(end_of(&text, 5), None);
        assert_eq!(end_of(&text, 4), Some(4 * 41));
        assert_eq!(end_of(text.trim_end(), 4), Some(4 * 41));
        assert_eq!(end_of("a\nb\n", 1), None, "too short to hold many");
    }

    #[test]
    fn the_records_on_a_long_line_count_each() {
        let blocks = "{\"type\":\"tool_result\"},".repeat(LONG_LINE_BYTES / 20);
        let text = format!("{{\"a\":1}}\n[{blocks}{{}}]\n{{\"b\":2}}\n");
        assert_eq!(end_of(&text, 1000), Some(8));
    }
}
