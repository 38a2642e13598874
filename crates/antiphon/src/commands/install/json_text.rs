//! JSON that is changed as text, so that everything else in it stays byte for byte: order, spaces,
//! unknown keys, and comments where they are allowed.

use std::ops::Range;

use antiphon_model::json;
use serde::Serialize;

use super::settings::NotSettings;

/// The text with spaces instead of comments, and instead of commas that end a list. Every other
/// byte is where it was.
pub(super) fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = bytes.to_vec();
    let (mut at, mut comma) = (0, None);
    while let Some(&byte) = bytes.get(at) {
        let end = match (byte, bytes.get(at + 1)) {
            (b'"', _) => at + string_len(bytes.get(at..).unwrap_or_default()),
            (b'/', Some(b'/')) => at + find(bytes, at, b"\n").unwrap_or(bytes.len() - at),
            (b'/', Some(b'*')) => find(bytes, at, b"*/").map_or(bytes.len(), |len| at + len + 2),
            _ => at + 1,
        };
        let is_comment = byte == b'/' && end > at + 1;
        if is_comment {
            let space = |byte: &mut u8| *byte = if *byte == b'\n' { b'\n' } else { b' ' };
            plain.get_mut(at..end).into_iter().flatten().for_each(space);
        } else if byte == b',' {
            comma = Some(at);
        } else if matches!(byte, b'}' | b']') {
            if let Some(comma) = comma.take().and_then(|comma| plain.get_mut(comma)) {
                *comma = b' ';
            }
        } else if !byte.is_ascii_whitespace() {
            comma = None;
        }
        at = end.max(at + 1);
    }
    // Only whole comments have become spaces.
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}

fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    // Behind the two signs that begin a comment.
    let found = rest.get(2..)?.windows(wanted.len()).position(|part| part == wanted);
    found.map(|at| at + 2)
}

/// The length of a string with its quotes.
fn string_len(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// An object in a text, and where its members are.
#[derive(Debug)]
pub(super) struct Object {
    /// From its bracket to its bracket.
    range: Range<usize>,
    members: Vec<Member>,
}

#[derive(Debug)]
pub(super) struct Member {
    name: String,
    /// From the quote of its name.
    start: usize,
    pub(super) value: Range<usize>,
}

impl Object {
    /// The object that is the whole text, but for what is around it.
    pub(super) fn whole(plain: &str) -> Result<Self, NotSettings> {
        let body = plain.trim_start_matches('\u{feff}').trim_ascii();
        json::check(body).map_err(|error| {
            NotSettings::new(format!("{}:{}: {}", error.line, error.column, error.reason))
        })?;
        let start = body.as_ptr().addr() - plain.as_ptr().addr();
        Self::at(plain, start..start + body.len())
            .ok_or_else(|| NotSettings::new("it is not a JSON object".to_owned()))
    }

    /// The object at a place.
    pub(super) fn at(plain: &str, range: Range<usize>) -> Option<Self> {
        let raw = plain.get(range.clone())?;
        let mut members = Vec::new();
        let mut before = range.start + 1;
        let read = json::members(raw, |name, value| {
            let at = value.as_ptr().addr() - plain.as_ptr().addr();
            let between = plain.get(before..at).unwrap_or_default();
            let start = before + between.find('"').unwrap_or_default();
            before = at + value.len();
            members.push(Member { name: name.to_owned(), start, value: at..before });
        });
        read.ok()?;
        Some(Self { range, members })
    }

    /// The member of that name; of several the last counts.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().rfind(|member| member.name == name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The text with another member at the end; the object is `depth` deep.
    pub(super) fn with(
        &self,
        text: &str,
        depth: usize,
        name: &str,
        value: &impl Serialize,
    ) -> String {
        let unit = indentation(text);
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
        let pretty = indented(&pretty, &unit, depth + 1, newline);
        let key = serde_json::to_string(name).unwrap_or_default();
        let indent = unit.repeat(depth + 1);
        let close = self.range.end - 1;
        let mut out = text.to_owned();
        let Some(last) = self.members.last() else {
            // What stands in an empty object stays in front.
            let inside = self.range.start + 1;
            let kept = text.get(inside..close).unwrap_or_default().trim_end().to_owned();
            let new =
                format!("{kept}{newline}{indent}{key}: {pretty}{newline}{}", unit.repeat(depth));
            out.replace_range(inside..close, &new);
            return out;
        };
        let end = last.value.end;
        let behind = text.get(end..close).unwrap_or_default();
        let rest = behind.trim_end();
        // A comma at the end is allowed where comments are.
        let comma = if starts_with_comma(behind) { "" } else { "," };
        let new = format!("{newline}{indent}{key}: {pretty}");
        let has_break = behind.contains('\n');
        let tail =
            if has_break { String::new() } else { format!("{newline}{}", unit.repeat(depth)) };
        let at = end + rest.len();
        out.replace_range(at..if has_break { at } else { close }, &format!("{new}{tail}"));
        out.insert_str(end, comma);
        out
    }

    /// The text without a member. Comments stay.
    pub(super) fn without(&self, text: &str, name: &str) -> String {
        let Some(at) = self.members.iter().rposition(|member| member.name == name) else {
            return text.to_owned();
        };
        let Some(member) = self.members.get(at) else { return text.to_owned() };
        let mut out = text.to_owned();
        let before = text.get(..member.start).unwrap_or_default().trim_end().len();
        let behind = text.get(member.value.end..self.range.end).unwrap_or_default();
        let comma = starts_with_comma(behind).then(|| behind.find(',')).flatten();
        let previous = at.checked_sub(1).and_then(|at| self.members.get(at));
        match (comma, previous) {
            (Some(comma), _) => out.replace_range(before..member.value.end + comma + 1, ""),
            (None, Some(previous)) => {
                out.replace_range(before..member.value.end, "");
                let between = text.get(previous.value.end..before).unwrap_or_default();
                if let Some(comma) = between.find(',') {
                    out.remove(previous.value.end + comma);
                }
            }
            (None, None) => {
                out.replace_range(before..member.value.end, "");
                let rest = text.get(member.value.end..self.range.end - 1).unwrap_or_default();
                if before == self.range.start + 1 && rest.trim().is_empty() {
                    out.replace_range(before..before + rest.len(), "");
                }
            }
        }
        out
    }
}

/// Whether a comma is the next sign.
fn starts_with_comma(text: &str) -> bool {
    text.trim_start().starts_with(',')
}

/// What lines are indented with.
fn indentation(text: &str) -> String {
    let indents = text.lines().filter_map(|line| {
        let unit = line.get(..line.len() - line.trim_start().len())?;
        (!unit.is_empty() && line.trim_start().starts_with('"')).then_some(unit)
    });
    indents.min_by_key(|unit| unit.len()).unwrap_or("  ").to_owned()
}

fn indented(pretty: &str, unit: &str, depth: usize, newline: &str) -> String {
    let lines: Vec<String> = pretty
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let own = line.len() - line.trim_start().len();
            let levels = if number == 0 { 0 } else { depth + own / 2 };
            format!("{}{}", unit.repeat(levels), line.trim_start())
        })
        .collect();
    lines.join(newline)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> String {
        let object = Object::whole(&without_comments(text)).unwrap();
        object.with(text, 0, "new", &serde_json::json!({"a": [1]}))
    }

    fn without(text: &str, name: &str) -> String {
        Object::whole(&without_comments(text)).unwrap().without(text, name)
    }

    #[test]
    fn a_member_comes_and_goes_and_everything_else_stays() {
        for text in [
            "{}",
            "{\n}\n",
            "{\"a\": 1}",
            "{\n  \"a\": 1\n}\n",
            "{\n\t\"a\": {\"b\": \"} // no comment\"}\n}",
            "{\r\n  \"a\": 1\r\n}\r\n",
        ] {
            let new = with(text);
            let value: serde_json::Value = serde_json::from_str(&new).unwrap();
            assert_eq!(value["new"]["a"][0], 1, "{new}");
            let again: serde_json::Value = serde_json::from_str(&without(&new, "new")).unwrap();
            assert_eq!(again, serde_json::from_str::<serde_json::Value>(text).unwrap());
        }
        assert_eq!(
            with("{\n  \"a\": 1\n}\n"),
            "{\n  \"a\": 1,\n  \"new\": {\n    \"a\": [\n      1\n    ]\n  }\n}\n"
        );
        assert_eq!(without("{\"a\": 1, \"b\": 2, \"c\": 3}", "b"), "{\"a\": 1, \"c\": 3}");
        assert_eq!(without("{\"a\": 1, \"b\": 2}", "a"), "{ \"b\": 2}");
    }

    #[test]
    fn comments_and_last_commas_stay() {
        let text = "// mine\n{\n  \"a\": 1, // one, \"two\"\n  /* { */ \"b\": 2, // last\n}\n";
        let new = with(text);
        assert!(
            new.starts_with(
                "// mine\n{\n  \"a\": 1, // one, \"two\"\n  /* { */ \"b\": 2, // last\n"
            ),
            "{new}"
        );
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(&without_comments(text));
        assert_eq!(read(&new).unwrap()["new"]["a"][0], 1, "{new}");
        let gone = without(&new, "new");
        assert_eq!(read(&gone).unwrap(), read(text).unwrap());
        assert!(gone.contains("// last") && gone.contains("// one, \"two\""), "{gone}");
        let middle = without(text, "a");
        assert!(middle.contains("// one") && read(&middle).unwrap()["b"] == 2, "{middle}");
    }
}
