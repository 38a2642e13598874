//! Splits lines with several records, so that each is on its own.

use crate::Lines;
use crate::line::Object;

pub(super) fn apart(text: &str) -> Lines {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if Object::parse(line.trim()).is_some() {
            out.push_str(line);
            continue;
        }
        let mut rest = line;
        while let Some(end) = end_of_first(rest) {
            let (first, more) = rest.split_at(end);
            out.push_str(first);
            out.push('\n');
            rest = more;
        }
        out.push_str(rest);
    }
    Lines { text: out, problems: Vec::new() }
}

/// Where the first object ends, if another one directly follows it.
fn end_of_first(line: &str) -> Option<usize> {
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                let rest = line.get(at + 1..).unwrap_or_default();
                if depth == 0 {
                    return rest.trim_start().starts_with('{').then_some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
