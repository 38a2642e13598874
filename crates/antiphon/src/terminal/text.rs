//! Text for people: clipped, wrapped, counted, told in time.

use std::borrow::Cow;

use antiphon_model::{Timestamp, Zone};
use antiphon_views::duration;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Breaks a text into lines of at most `width` columns, at spaces where there are any. Lines of
/// the text stay lines. Without a width nothing is broken.
pub(crate) fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let lines = text.split('\n');
    match width {
        None => lines.map(Into::into).collect(),
        Some(width) => lines.flat_map(|line| wrap_line(line, width.max(20))).collect(),
    }
}

/// How far the second line of a broken line is indented: as its first one, and behind the mark of
/// a list.
fn hanging(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = match (text.len() - number.len(), number.get(..2)) {
        (0, Some("- " | "* ")) => 2,
        (digits @ 1..=3, Some(". " | ") ")) => digits + 2,
        _ => 0,
    };
    line.len() - text.len() + mark
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    // Deeply nested text would have no room left.
    let hanging = Some(hanging(line)).filter(|&it| it <= width / 3).unwrap_or_default();
    let mut out = Vec::new();
    let mut current = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let word_width = word.trim_end().width();
        if used > hanging && used + word_width > width {
            out.push(std::mem::replace(&mut current, " ".repeat(hanging)).trim_end().to_owned());
            used = hanging;
        }
        for c in word.chars() {
            let c_width = c.width().unwrap_or_default();
            if used + c_width > width && c != ' ' {
                out.push(std::mem::replace(&mut current, " ".repeat(hanging)));
                used = hanging;
            }
            current.push(c);
            used += c_width;
        }
    }
    out.push(current.trim_end().to_owned());
    out
}

/// A path of at most `width` columns, cut in the middle: its beginning and its end say most.
pub(crate) fn clip_path(path: &str, width: usize) -> String {
    if path.width() <= width {
        return path.to_owned();
    }
    let room = width.saturating_sub(1);
    let end: Vec<char> = take_columns(path.chars().rev(), room - room / 3);
    let begin: String = take_columns(path.chars(), room / 3).into_iter().collect();
    format!("{begin}…{}", end.into_iter().rev().collect::<String>())
}

/// A text of at most `width` columns, cut at its end. Its spaces stay, unlike with `clip`.
pub(crate) fn clip_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let begin = take_columns(text.chars(), width.saturating_sub(1));
    format!("{}…", begin.into_iter().collect::<String>())
}

fn take_columns(chars: impl Iterator<Item = char>, width: usize) -> Vec<char> {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or_default();
            used <= width
        })
        .collect()
}

/// A text with spaces behind it, so that it is `width` columns wide.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// A text with spaces instead of tabs.
pub(crate) fn expand_tabs(text: &str) -> Cow<'_, str> {
    const STOP: usize = 8;
    if !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let (mut out, mut column) = (String::with_capacity(text.len() + STOP), 0);
    for c in text.chars() {
        if c == '\t' {
            let spaces = STOP - column % STOP;
            out.extend(std::iter::repeat_n(' ', spaces));
            column += spaces;
        } else {
            out.push(c);
            column += c.width().unwrap_or_default();
        }
    }
    Cow::Owned(out)
}

/// How long after the beginning: `+12.5 s`.
pub(crate) fn ago(millis: i64) -> String {
    if millis < 0 { duration(millis) } else { format!("+{}", duration(millis)) }
}

/// How long before now: `just now`, `5 min ago`, `3 h ago`, `2 days ago`.
fn before_now(millis: i64) -> String {
    let minutes = millis / 60_000;
    match minutes {
        // What lies ahead is a clock that was set back.
        ..1 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..2_880 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1_440),
    }
}

/// When something happened: `5 min ago` within the last hour, then the local time.
pub(crate) fn when(at: Timestamp, now: Timestamp, zone: &Zone) -> String {
    const HOUR_MILLIS: i64 = 3_600_000;
    match now.since(at) {
        before @ 0..HOUR_MILLIS => before_now(before),
        _ => zone.short_name(at, now).unwrap_or_else(|| at.to_string()),
    }
}

/// What an agent's makers call it: `Claude Code` for `claude-code`.
pub(crate) fn product(agent: &str) -> &str {
    let product = antiphon_formats::find(agent).map(|format| format.product);
    product.filter(|product| !product.is_empty()).unwrap_or(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_by_the_names_of_their_makers() {
        let names = ["claude-code", "codex", "opencode", "otlp", "nobody"].map(product);
        assert_eq!(names, ["Claude Code", "Codex", "OpenCode", "otlp", "nobody"]);
    }

    #[test]
    fn wrapping_breaks_at_spaces_and_long_words_anywhere() {
        let text = "the quick brown fox jumps\nover xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
        let wanted = ["the quick brown fox", "jumps", "over", "xxxxxxxxxxxxxxxxxxxx", "xxxxxxxxxx"];
        assert_eq!(wrap(text, Some(20)), wanted);
        assert_eq!(wrap(text, None).len(), 2);
        assert_eq!(
            wrap("  - one two three four five", Some(20)),
            ["  - one two three", "    four five"]
        );
        assert_eq!(
            wrap("12. one two three four five", Some(20)),
            ["12. one two three", "    four five"]
        );
        assert_eq!(wrap("日本語日本語日本語日本語", Some(20)), ["日本語日本語日本語日", "本語"]);
    }

    #[test]
    fn times_read_as_words() {
        assert_eq!(ago(-1500), "-1.5 s");
        let times = [-5, 59_999, 60_000, 3_599_999, 7_200_000, 172_799_999, 172_800_000];
        assert_eq!(
            times.map(before_now),
            [
                "just now",
                "just now",
                "1 min ago",
                "59 min ago",
                "2 h ago",
                "47 h ago",
                "2 days ago"
            ]
        );
    }
}
