//! Differences as text, in the way of `git diff`.

use std::fmt::Write as _;

use similar::{DiffOp, DiffTag, group_diff_ops};

use crate::FileStatus;
use crate::edits::{line_operations, split_lines};

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

/// What became of one file.
#[derive(Debug)]
pub(crate) struct FileDiff<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) status: FileStatus,
    /// The whole content before and after, or that of each part that is known.
    pub(crate) texts: &'a [(String, String)],
}

/// How many lines differ.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineSums {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// Writes the difference of a file.
pub(crate) fn write_diff(out: &mut String, file: &FileDiff<'_>) -> LineSums {
    let FileDiff { old, new, status, texts } = file;
    let (a, b) = (quoted("a/", old), quoted("b/", new));
    let _ = writeln!(out, "diff --git {a} {b}");
    let (mut old_name, mut new_name) = (name_line(&a), name_line(&b));
    match status {
        FileStatus::Added => {
            out.push_str("new file mode 100644\n");
            "/dev/null".clone_into(&mut old_name);
        }
        FileStatus::Deleted => {
            out.push_str("deleted file mode 100644\n");
            "/dev/null".clone_into(&mut new_name);
        }
        FileStatus::Renamed => {
            let _ = writeln!(out, "rename from {}", quoted("", old));
            let _ = writeln!(out, "rename to {}", quoted("", new));
        }
        FileStatus::Modified => {}
    }
    let head = format!("--- {old_name}\n+++ {new_name}\n");
    let mut sums = LineSums::default();
    let mut is_begun = false;
    // Lines that are not known are not counted: the numbers are right within what is known.
    let mut first_line = [1, 1];
    for (before, after) in *texts {
        let (before, after) = (split_lines(before), split_lines(after));
        let operations = line_operations(&before, &after);
        let operations: Vec<DiffOp> = operations.iter().map(DiffOp::from).collect();
        for group in group_diff_ops(operations, CONTEXT) {
            if !std::mem::replace(&mut is_begun, true) {
                out.push_str(&head);
            }
            sums = write_hunk(out, &group, [&before, &after], first_line, sums);
        }
        first_line = [first_line[0] + before.len(), first_line[1] + after.len()];
    }
    sums
}

fn write_hunk(
    out: &mut String,
    group: &[DiffOp],
    [before, after]: [&[&str]; 2],
    [old_first, new_first]: [usize; 2],
    mut sums: LineSums,
) -> LineSums {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return sums };
    let range = |start: usize, end: usize, first: usize| match end - start {
        // No line: the number is that of the line before.
        0 => format!("{},0", start + first - 1),
        1 => format!("{}", start + first),
        len => format!("{},{len}", start + first),
    };
    let old = range(first.old_range().start, last.old_range().end, old_first);
    let new = range(first.new_range().start, last.new_range().end, new_first);
    let _ = writeln!(out, "@@ -{old} +{new} @@");
    for operation in group {
        let (tag, a, b) = operation.as_tag_tuple();
        let (a, b) = (before.get(a).unwrap_or_default(), after.get(b).unwrap_or_default());
        match tag {
            DiffTag::Equal => a.iter().for_each(|line| write_line(out, ' ', line)),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                a.iter().for_each(|line| write_line(out, '-', line));
                b.iter().for_each(|line| write_line(out, '+', line));
                sums.removed += a.len();
                sums.added += b.len();
            }
        }
    }
    sums
}

fn write_line(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

/// A name in a header; in quotes if it could be misread there.
fn quoted(side: &str, path: &str) -> String {
    let path = path.trim_start_matches('/');
    if !path.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
        return format!("{side}{path}");
    }
    let mut text = format!("\"{side}");
    for c in path.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(text, "\\{byte:03o}");
                }
            }
            c => text.push(c),
        }
    }
    text + "\""
}

/// A name with a space ends with a tab, so that it is read to its end.
fn name_line(name: &str) -> String {
    if name.contains(' ') && !name.starts_with('"') { format!("{name}\t") } else { name.to_owned() }
}
