//! Words of names and sentences, and texts on one line.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The words of a name or a sentence, in lower case: `runTypeCheck` has three.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
}

/// A text on one line, with single spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As much of a text as fits into `width` columns, on one line.
pub fn clip(text: &str, width: usize) -> String {
    let line = one_line(text);
    if line.width() <= width {
        return line;
    }
    let mut out = String::new();
    let mut used = 1;
    for c in line.chars() {
        used += c.width().unwrap_or_default();
        if used > width {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_there_is_no_more_room() {
        assert_eq!(clip("a  long\ntext", 6), "a lon…");
        assert_eq!(clip("日本語", 6), "日本語");
        assert_eq!(clip("日本語", 5), "日本…");
    }
}
