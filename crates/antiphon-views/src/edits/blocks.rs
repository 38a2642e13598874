//! `SEARCH` and `REPLACE` blocks, as Cline writes them.

use super::Replacement;

/// Reads `------- SEARCH`, `=======`, `+++++++ REPLACE`, and the same with `<` and `>`. Nothing, if
/// there is no complete block.
pub(super) fn replacements(diff: &str) -> Option<Vec<Replacement>> {
    let mut found = Vec::new();
    let (mut old, mut new): (Option<String>, Option<String>) = (None, None);
    for line in diff.split_inclusive('\n') {
        let word = line.trim();
        let is_mark = |marks: [&str; 2], name: &str| {
            let rest = word.strip_suffix(name).map(str::trim_end);
            rest.is_some_and(|it| {
                it.len() >= 3 && marks.iter().any(|mark| it.replace(mark, "").is_empty())
            })
        };
        if is_mark(["-", "<"], "SEARCH") {
            (old, new) = (Some(String::new()), None);
        } else if word == "=======" && old.is_some() && new.is_none() {
            new = Some(String::new());
        } else if is_mark(["+", ">"], "REPLACE") {
            if let (Some(old), Some(new)) = (old.take(), new.take()) {
                found.push(Replacement { old, new, is_everywhere: false });
            }
        } else if let Some(new) = &mut new {
            new.push_str(line);
        } else if let Some(old) = &mut old {
            old.push_str(line);
        }
    }
    (!found.is_empty()).then_some(found)
}
