//! The text around the first match, on one line, and where the matches are in it.

use std::ops::Range;

use super::Pattern;

/// How many characters stand before the first match.
const BEFORE: usize = 60;
/// How many characters a snippet has, before whitespace is collapsed.
const WIDTH: usize = 180;

/// A part of a text on one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) text: String,
    /// Where the words and patterns are in it, in characters, in order and without overlap.
    pub(crate) marks: Vec<(usize, usize)>,
}

impl Snippet {
    /// The text around the first of these words, which are in lower case, and patterns.
    pub(crate) fn of(text: &str, lower: &str, words: &[String], patterns: &[Pattern]) -> Self {
        let word = words.iter().filter_map(|word| lower.find(word.as_str())).min();
        let word = word.map(|at| from_lower(text, at));
        let pattern = patterns.iter().filter_map(|it| Some(it.find(text)?.start)).min();
        let at = word.into_iter().chain(pattern).min().unwrap_or_default();
        let before = text.get(..at).unwrap_or_default().char_indices().rev();
        let start = before.take(BEFORE).last().map_or(at, |(start, _)| start);
        let rest = text.get(start..).unwrap_or_default();
        let end = rest.char_indices().nth(WIDTH).map_or(text.len(), |(end, _)| start + end);
        let window = text.get(start..end).unwrap_or_default();
        let mut ranges = ranges_of_words(window, words);
        for pattern in patterns {
            // What stands before and behind decides about a match, but not more than a little.
            let around = text.get(start..).unwrap_or_default();
            let within = pattern.matches(around).take_while(|it| it.start < window.len());
            ranges.extend(within.map(|it| it.start..it.end.min(window.len())));
        }
        collapsed(window, merged(ranges), start > 0, end < text.len())
    }
}

/// The offset in a text of what is at this offset in its lower case, whose letters may have other
/// lengths.
fn from_lower(text: &str, wanted: usize) -> usize {
    if text.is_ascii() {
        return wanted;
    }
    let mut lower = 0;
    for (at, letter) in text.char_indices() {
        if lower >= wanted {
            return at;
        }
        lower += letter.to_lowercase().map(char::len_utf8).sum::<usize>();
    }
    text.len()
}

/// Where words are in a text, whatever their case.
fn ranges_of_words(text: &str, words: &[String]) -> Vec<Range<usize>> {
    let mut lower = String::new();
    // For each byte of the lower case, the letter that it comes from.
    let mut letters: Vec<Range<usize>> = Vec::new();
    for (at, letter) in text.char_indices() {
        for small in letter.to_lowercase() {
            lower.push(small);
            letters.resize(lower.len(), at..at + letter.len_utf8());
        }
    }
    let found = words.iter().filter(|word| !word.is_empty()).flat_map(|word| {
        let found = lower.match_indices(word.as_str());
        found.map(|(at, word)| at..at + word.len())
    });
    let letter = |at: usize| letters.get(at).cloned();
    found.filter_map(|it| Some(letter(it.start)?.start..letter(it.end - 1)?.end)).collect()
}

/// The same ranges in order, those that overlap or touch as one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, before| {
        let is_one = next.start <= before.end;
        if is_one {
            before.end = before.end.max(next.end);
        }
        is_one
    });
    ranges
}

/// Writes a part of a text on one line, a space for any whitespace, and moves the ranges with it.
fn collapsed(window: &str, ranges: Vec<Range<usize>>, is_cut: bool, is_more: bool) -> Snippet {
    let mut text = String::from(if is_cut { "…" } else { "" });
    let mut len = text.chars().count();
    // For each offset at which a letter begins, the number of characters before it.
    let mut places: Vec<(usize, usize)> = Vec::new();
    let (mut is_begun, mut has_space) = (false, false);
    for (at, letter) in window.char_indices() {
        if letter.is_whitespace() {
            has_space = is_begun;
            places.push((at, len));
            continue;
        }
        if has_space {
            text.push(' ');
            len += 1;
        }
        (is_begun, has_space) = (true, false);
        places.push((at, len));
        text.push(letter);
        len += 1;
    }
    places.push((window.len(), len));
    let place = |offset: usize| {
        let at = places.partition_point(|(at, _)| *at < offset);
        places.get(at).map_or(len, |(_, place)| *place)
    };
    let marks = ranges.into_iter().map(|range| {
        let whole = window.get(range.clone()).unwrap_or_default();
        // A match may begin or end with whitespace, which is not marked.
        let start = range.start + (whole.len() - whole.trim_start().len());
        let last = window.get(start..range.end).unwrap_or_default().trim_end();
        let end = match last.char_indices().next_back() {
            Some((at, _)) => place(start + at) + 1,
            None => place(start),
        };
        (place(start), end)
    });
    let marks = marks.filter(|(from, to)| from < to).collect();
    text.push_str(if is_more { "…" } else { "" });
    Snippet { text, marks }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, words: &[&str], patterns: &[&str], wanted: &[&str]) -> Snippet {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let patterns: Vec<Pattern> = patterns.iter().map(|it| Pattern::new(it).unwrap()).collect();
        let snippet = Snippet::of(text, &text.to_lowercase(), &words, &patterns);
        let letters: Vec<char> = snippet.text.chars().collect();
        let marked = |&(from, to): &(usize, usize)| letters[from..to].iter().collect::<String>();
        let marked: Vec<String> = snippet.marks.iter().map(marked).collect();
        assert_eq!(marked, wanted, "{text:?} {snippet:?}");
        snippet
    }

    #[test]
    fn words_and_patterns_are_marked_in_characters_of_the_snippet() {
        check(
            "A connection, another Connection",
            &["connection"],
            &[],
            &["connection", "Connection"],
        );
        check("  many\n\n spaces   here ", &["here"], &[], &["here"]);
        check("İstanbul İS a CAFÉ", &["café"], &[], &["CAFÉ"]);
        check("ÀÈÌ needle ÀÈÌ", &["needle"], &[], &["needle"]);
        check("timed out\n after 30 s", &[], &[r"out\s+after \d+"], &["out after 30"]);
        check("timed out", &["out"], &["time.*"], &["timed out"]);
        check("aXbXc", &["x"], &[], &["X", "X"]);
        check("nothing of it", &["absent"], &[], &[]);
        check("", &["a"], &["a*"], &[]);
    }

    #[test]
    fn a_long_text_is_cut_around_the_first_match() {
        let text = format!("{}needle{}", "before ".repeat(1000), " after".repeat(1000));
        let snippet = check(&text, &["needle"], &[], &["needle"]);
        assert!(snippet.text.starts_with('…') && snippet.text.ends_with('…'));
        assert!(snippet.text.chars().count() < 200);
        let text = format!("{} needle {}", "é\u{3000}".repeat(1000), "ß".repeat(1000));
        check(&text, &[], &["need.."], &["needle"]);
    }
}
