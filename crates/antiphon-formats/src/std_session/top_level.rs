//! The keys of a document's outermost object, as far as its beginning is available.
//!
//! The beginning is cut, and may be broken, for example by an unescaped quote. So this looks for
//! keys and nothing else.

/// The keys at the first level of the object that these lines begin with.
pub(crate) fn keys(head: &[&str]) -> Vec<String> {
    let mut keys = Vec::new();
    let mut depth = 0_usize;
    let mut text: Option<String> = None;
    let mut is_escaped = false;
    let mut last: Option<String> = None;
    let mut is_first = true;
    for line in head {
        for c in line.trim_start_matches('\u{feff}').chars() {
            if let Some(so_far) = &mut text {
                match c {
                    _ if is_escaped => is_escaped = false,
                    '\\' => is_escaped = true,
                    '"' => last = text.take(),
                    c if depth == 1 => so_far.push(c),
                    _ => {}
                }
                continue;
            }
            if is_first && !c.is_whitespace() {
                if c != '{' {
                    return keys;
                }
                is_first = false;
            }
            match c {
                '"' => text = Some(String::new()),
                ':' if depth == 1 => keys.extend(last.take()),
                '{' | '[' => depth += 1,
                '}' | ']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return keys;
                    }
                }
                c if c.is_whitespace() => {}
                _ => last = None,
            }
        }
        // A string never continues on the next line; one that seems to is broken.
        text = None;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_first_level_only() {
        let head = [r#"{ "a" : {"b": 1, "c": ["d:"]},"#, r#""e\"x": "f", "g": 3"#];
        assert_eq!(keys(&head), ["a", "ex", "g"]);
    }

    #[test]
    fn a_text_that_was_broken_costs_its_line() {
        let head = ["{", r#"  "a": "say "b" now","#, r#"  "c": 1"#];
        let found = keys(&head);
        assert!(found.contains(&"a".to_owned()) && found.contains(&"c".to_owned()), "{found:?}");
    }

    #[test]
    fn the_lines_of_a_log_are_each_an_object() {
        assert_eq!(keys(&[r#"{"a":1}"#, r#"{"b":2}"#]), ["a"]);
        assert!(keys(&["[1]", "{\"a\":1}"]).is_empty());
    }
}
