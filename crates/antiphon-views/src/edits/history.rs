//! A file through all edits that are known: what it was before them, what it is now, and which edit
//! wrote each line.
//!
//! A line that was there before, one that an edit removed, and one that an edit added stand
//! together in one list. So what others changed between two edits (a person, a shell) can be taken
//! into what was before: only what the edits did is left.

use std::collections::BTreeMap;

use super::{Before, Change, Hunk, Operation, Replacement, line_operations, split_lines};

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// With its line end.
    pub(crate) text: String,
    /// Whether it was there before the edits.
    was_there: bool,
    /// Whether it is there now.
    is_there: bool,
    pub(crate) author: Option<Author>,
}

/// Which edit wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Author {
    /// The number of the edit, as its caller counts them.
    pub(crate) edit: usize,
    /// Whether somebody else has put the line into another place since.
    pub(crate) is_moved: bool,
}

#[derive(Debug, Clone, Default)]
enum Lines {
    /// Nothing is known.
    #[default]
    Unknown,
    Whole(Vec<Line>),
    /// Only what is around the edits is known, in the order in which it became known.
    Parts(Vec<Vec<Line>>),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct FileHistory {
    lines: Lines,
    /// Whether the file was there before the edits, if that is known.
    was_there: Option<bool>,
    is_there: bool,
    /// Whether somebody else changed it between edits.
    pub(crate) has_other_changes: bool,
    /// Lines that edits wrote somewhere: what they expected was not there any more.
    unplaced: Written,
}

/// Lines, each with those who wrote it, the last one first. Only looked up.
type Written = BTreeMap<String, Vec<Author>>;

impl FileHistory {
    /// Whether the content before the edits is known.
    pub(crate) fn has_known_base(&self) -> bool {
        matches!(self.lines, Lines::Whole(_)) && self.was_there.is_some()
    }

    /// Whether the file was there before the edits. If that is not known, whether they needed it.
    pub(crate) fn was_there(&self) -> bool {
        self.was_there.unwrap_or(!matches!(self.lines, Lines::Whole(_)))
    }

    pub(crate) fn is_there(&self) -> bool {
        self.is_there
    }

    /// The content before and after the edits: of the whole file, or of each part that is known.
    pub(crate) fn texts(&self) -> Vec<(String, String)> {
        let texts = |lines: &Vec<Line>| {
            let text = |is_in: fn(&Line) -> bool| {
                lines.iter().filter(|line| is_in(line)).map(|line| &*line.text).collect()
            };
            (text(|line| line.was_there), text(|line| line.is_there))
        };
        match &self.lines {
            Lines::Unknown => Vec::new(),
            Lines::Whole(lines) => vec![texts(lines)],
            Lines::Parts(parts) => parts.iter().map(texts).collect(),
        }
    }

    /// The lines of `text`, which the file holds in the end, with their authors.
    pub(crate) fn authors(mut self, text: &str) -> Vec<Option<Author>> {
        self.meet(&Before::Text(text.to_owned()));
        match self.lines {
            Lines::Whole(lines) => {
                lines.into_iter().filter(|line| line.is_there).map(|line| line.author).collect()
            }
            Lines::Unknown | Lines::Parts(_) => Vec::new(),
        }
    }

    /// Applies one edit.
    pub(crate) fn apply(&mut self, edit: usize, before: &Before, change: &Change) {
        self.meet(before);
        match change {
            Change::Write(text) => {
                // Where nothing says what was there before, a new line may be somebody else's.
                let is_known = *before != Before::Unknown;
                self.write(is_known.then_some(edit), text);
            }
            Change::Replace(replacements) => self.replace(edit, replacements),
            Change::Patch(hunks) => self.patch(edit, hunks),
            Change::Delete => {
                self.was_there.get_or_insert(true);
                match &mut self.lines {
                    Lines::Unknown => {}
                    Lines::Whole(lines) => lines.iter_mut().for_each(|line| line.is_there = false),
                    Lines::Parts(parts) => {
                        parts.iter_mut().flatten().for_each(|line| line.is_there = false);
                    }
                }
                self.is_there = false;
                return;
            }
            Change::Rename(_) => {}
        }
        self.is_there = true;
    }

    /// Takes what the file is known to hold now: whatever differs, others have changed.
    fn meet(&mut self, before: &Before) {
        let text = match before {
            Before::Unknown => return,
            Before::Absent => "",
            Before::Text(text) => text,
        };
        let is_there = matches!(before, Before::Text(_));
        match std::mem::take(&mut self.lines) {
            Lines::Unknown => {
                self.lines = Lines::Whole(split_lines(text).into_iter().map(base_line).collect());
                self.was_there.get_or_insert(is_there);
            }
            Lines::Whole(lines) => {
                let (lines, has_changed) = with_other_changes(lines, text, &mut self.unplaced);
                self.has_other_changes |= has_changed || self.is_there != is_there;
                self.lines = Lines::Whole(lines);
            }
            Lines::Parts(parts) => {
                let (lines, is_all_found) = placed(parts, text);
                self.has_other_changes |= !is_all_found;
                self.lines = Lines::Whole(lines);
                self.was_there = Some(true);
            }
        }
        // What was not found now has been removed since.
        self.unplaced.clear();
        self.is_there = is_there;
    }

    fn write(&mut self, edit: Option<usize>, text: &str) {
        match &mut self.lines {
            Lines::Whole(lines) => rewrite(lines, text, edit),
            // Which of these lines were there before is not known, so no line has an author.
            Lines::Unknown | Lines::Parts(_) => {
                let line = |text: &str| Line { was_there: false, ..base_line(text) };
                self.lines = Lines::Whole(split_lines(text).into_iter().map(line).collect());
            }
        }
    }

    fn replace(&mut self, edit: usize, replacements: &[Replacement]) {
        for replacement in replacements {
            let Replacement { old, new, is_everywhere } = replacement;
            let replaced = |lines: &[Line]| {
                let text = text_of(lines);
                let found = !old.is_empty() && text.contains(&**old);
                found.then(|| match is_everywhere {
                    true => text.replace(&**old, new),
                    false => text.replacen(&**old, new, 1),
                })
            };
            self.change_somewhere(edit, &replaced, old, new);
        }
    }

    fn patch(&mut self, edit: usize, hunks: &[Hunk]) {
        match &mut self.lines {
            Lines::Whole(lines) => {
                if let Some(text) = patched(lines, hunks) {
                    return rewrite(lines, &text, Some(edit));
                }
                for hunk in hunks {
                    match patched(lines, std::slice::from_ref(hunk)) {
                        Some(text) => rewrite(lines, &text, Some(edit)),
                        None => {
                            self.has_other_changes = true;
                            note_written(&mut self.unplaced, edit, hunk.added());
                        }
                    }
                }
            }
            Lines::Unknown | Lines::Parts(_) => {
                for hunk in hunks {
                    let (old, new): (String, String) =
                        (hunk.before().collect(), hunk.after().collect());
                    let one = std::slice::from_ref(hunk);
                    self.change_somewhere(edit, &|lines| patched(lines, one), &old, &new);
                }
            }
        }
    }

    /// Changes the lines where `change` finds something to change; where it finds nothing, and not
    /// everything is known, `old` was replaced by `new` in a part that was not known yet.
    fn change_somewhere(
        &mut self,
        edit: usize,
        change: &dyn Fn(&[Line]) -> Option<String>,
        old: &str,
        new: &str,
    ) {
        match &mut self.lines {
            Lines::Whole(lines) => match change(lines) {
                Some(text) => rewrite(lines, &text, Some(edit)),
                None => {
                    self.has_other_changes = true;
                    let old = split_lines(old);
                    let new = split_lines(new).into_iter();
                    let is_whole = |line: &&str| line.ends_with('\n') && !old.contains(line);
                    note_written(&mut self.unplaced, edit, new.filter(is_whole));
                }
            },
            Lines::Parts(parts) => {
                for lines in parts.iter_mut() {
                    if let Some(text) = change(lines) {
                        return rewrite(lines, &text, Some(edit));
                    }
                }
                parts.push(part(edit, old, new));
            }
            Lines::Unknown => self.lines = Lines::Parts(vec![part(edit, old, new)]),
        }
    }
}

fn base_line(text: &str) -> Line {
    Line { text: text.to_owned(), was_there: true, is_there: true, author: None }
}

fn part(edit: usize, old: &str, new: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = split_lines(old).into_iter().map(base_line).collect();
    rewrite(&mut lines, new, Some(edit));
    lines
}

fn text_of(lines: &[Line]) -> String {
    lines.iter().filter(|line| line.is_there).map(|line| &*line.text).collect()
}

/// Which line of the list each line that is there is.
fn present(lines: &[Line]) -> Vec<usize> {
    lines.iter().enumerate().filter(|(_, line)| line.is_there).map(|(at, _)| at).collect()
}

/// Makes the lines hold `text`: what is new was written by `edit`, if that is known.
fn rewrite(lines: &mut Vec<Line>, text: &str, edit: Option<usize>) {
    let author = edit.map(|edit| Author { edit, is_moved: false });
    change(lines, text, |removed, added| {
        let mut kept: Vec<Line> = Vec::with_capacity(removed.len() + added.len());
        // A line that an earlier edit had added is gone without a trace.
        kept.extend(
            removed
                .into_iter()
                .filter(|line| line.was_there)
                .map(|line| Line { is_there: false, ..line }),
        );
        kept.extend(added.iter().map(|&text| Line { was_there: false, author, ..base_line(text) }));
        kept
    });
}

/// Marks a line of others until it is clear whether it was moved.
const FRESH: Option<Author> = Some(Author { edit: usize::MAX, is_moved: false });

/// Takes over what others have changed, as if it had been so from the beginning. A line that an
/// edit wrote, and that they took away and put somewhere else, keeps its author.
fn with_other_changes(
    mut lines: Vec<Line>,
    text: &str,
    unplaced: &mut Written,
) -> (Vec<Line>, bool) {
    let mut moved = Written::new();
    let mut has_changed = false;
    change(&mut lines, text, |removed, added| {
        has_changed = true;
        let mut kept = Vec::new();
        for line in removed {
            if !line.is_there {
                // What an edit removed before stays where it was.
                kept.push(line);
            } else if let Some(author) = line.author.filter(|_| is_telling(&line.text)) {
                moved.entry(line.text).or_default().push(author);
            }
        }
        kept.extend(added.iter().map(|&text| Line { author: FRESH, ..base_line(text) }));
        kept
    });
    // What was removed may stand behind what was inserted, so this takes a second pass.
    moved.values_mut().for_each(|authors| authors.reverse());
    for line in lines.iter_mut().filter(|line| line.author == FRESH) {
        let moved = moved.get_mut(&line.text).and_then(Vec::pop);
        let moved = moved.map(|author| Author { is_moved: true, ..author });
        let author = moved.or_else(|| unplaced.get_mut(&line.text).and_then(Vec::pop));
        line.author = author;
        line.was_there = author.is_none();
    }
    (lines, has_changed)
}

/// Notes that an edit wrote these lines, wherever they are.
fn note_written<'t>(written: &mut Written, edit: usize, lines: impl Iterator<Item = &'t str>) {
    for line in lines.filter(|line| is_telling(line)) {
        let author = Author { edit, is_moved: false };
        written.entry(line.to_owned()).or_default().push(author);
    }
}

/// Whether a line can be recognised elsewhere: a bracket, or an empty line, is everywhere.
fn is_telling(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).count() >= 4
}

/// Replaces lines so that `text` results. `replace` is given the lines that are removed, with those
/// between them that were removed before, and the text that is added. It returns what takes their
/// place.
fn change(
    lines: &mut Vec<Line>,
    text: &str,
    mut replace: impl FnMut(Vec<Line>, &[&str]) -> Vec<Line>,
) {
    let at = present(lines);
    let old: Vec<&str> =
        lines.iter().filter(|line| line.is_there).map(|line| &*line.text).collect();
    let new = split_lines(text);
    let operations = line_operations(&old, &new);
    let is_equal = |operation: &Operation| matches!(operation, Operation::Equal { .. });
    if operations.iter().all(is_equal) {
        return;
    }
    drop(old);
    let mut source = std::mem::take(lines).into_iter().enumerate().peekable();
    for operation in operations {
        match operation {
            Operation::Equal { old, .. } => {
                let end = old.end.checked_sub(1).and_then(|last| at.get(last)).copied();
                while let Some((_, line)) = source.next_if(|(n, _)| Some(*n) <= end) {
                    lines.push(line);
                }
            }
            Operation::Replace { old, new: range } => {
                let end = old.end.checked_sub(1).and_then(|last| at.get(last)).copied();
                let mut removed = Vec::new();
                if !old.is_empty() {
                    while let Some((_, line)) = source.next_if(|(n, _)| Some(*n) <= end) {
                        removed.push(line);
                    }
                }
                lines.extend(replace(removed, new.get(range).unwrap_or_default()));
            }
        }
    }
    lines.extend(source.map(|(_, line)| line));
}

/// The text after some hunks; nothing, if one does not fit.
fn patched(lines: &[Line], hunks: &[Hunk]) -> Option<String> {
    let text = text_of(lines);
    let now = split_lines(&text);
    let mut result = String::new();
    let mut next = 0;
    for hunk in hunks {
        let old: Vec<&str> = hunk.before().collect();
        let after_heading = hunk.heading.as_deref().and_then(|heading| {
            let rest = now.get(next..)?;
            rest.iter().position(|line| line.trim() == heading.trim()).map(|at| next + at + 1)
        });
        let start = match old.is_empty() {
            // Only added lines: behind the heading, or at the end of the file.
            true => after_heading.unwrap_or(now.len()),
            false => find(&now, &old, after_heading.unwrap_or(next))
                .or_else(|| find(&now, &old, next))?,
        };
        now.get(next..start)?.iter().for_each(|line| result.push_str(line));
        // Context stays as the file has it.
        let mut at = start;
        for (kind, line) in &hunk.lines {
            match kind {
                super::HunkLine::Context => result.push_str(now.get(at)?),
                super::HunkLine::Added => result.push_str(line),
                super::HunkLine::Removed => {}
            }
            if *kind != super::HunkLine::Added {
                at += 1;
            }
        }
        next = start + old.len();
    }
    now.get(next..)?.iter().for_each(|line| result.push_str(line));
    Some(result)
}

/// Where these lines begin, at `from` or behind it: exactly, or else without regard to spaces
/// around them, as Codex looks for them.
fn find(lines: &[&str], wanted: &[&str], from: usize) -> Option<usize> {
    type Same = fn(&str, &str) -> bool;
    let same: [Same; 3] = [
        |a, b| a.trim_end_matches(['\n', '\r']) == b.trim_end_matches(['\n', '\r']),
        |a, b| a.trim_end() == b.trim_end(),
        |a, b| a.trim() == b.trim(),
    ];
    let rest = lines.get(from..)?;
    same.into_iter().find_map(|same| {
        let is_here = |window: &[&str]| window.iter().zip(wanted).all(|(a, b)| same(a, b));
        rest.windows(wanted.len()).position(is_here).map(|at| from + at)
    })
}

/// Puts parts into the whole text that became known. Also whether all were found.
fn placed(parts: Vec<Vec<Line>>, text: &str) -> (Vec<Line>, bool) {
    let whole = split_lines(text);
    let mut found: Vec<(usize, usize, Vec<Line>)> = Vec::new();
    let mut unplaced: Vec<Line> = Vec::new();
    for part in parts {
        let now: Vec<&str> =
            part.iter().filter(|line| line.is_there).map(|line| &*line.text).collect();
        match (!now.is_empty()).then(|| find(&whole, &now, 0)).flatten() {
            Some(at) => found.push((at, now.len(), part)),
            None => unplaced.extend(part),
        }
    }
    found.sort_by_key(|(at, _, _)| *at);
    let mut lines = Vec::new();
    let mut next = 0;
    for (at, len, part) in found {
        if at < next {
            unplaced.extend(part);
            continue;
        }
        lines.extend(whole.get(next..at).unwrap_or_default().iter().map(|line| base_line(line)));
        lines.extend(part);
        next = at + len;
    }
    lines.extend(whole.get(next..).unwrap_or_default().iter().map(|line| base_line(line)));
    let is_all_found = unplaced.is_empty();
    find_alone(&mut lines, unplaced);
    (lines, is_all_found)
}

/// Finds lines whose surroundings are gone: each is the one that is in the text once.
fn find_alone(lines: &mut [Line], unplaced: Vec<Line>) {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.is_there) {
        places.entry(line.text.clone()).or_default().push(at);
    }
    for line in unplaced {
        let is_own = line.is_there && line.author.is_some() && is_telling(&line.text);
        let place = places.get(&line.text).filter(|_| is_own);
        if let Some([at]) = place.map(Vec::as_slice)
            && let Some(found) = lines.get_mut(*at).filter(|found| found.author.is_none())
        {
            (found.author, found.was_there) = (line.author, false);
        }
    }
}

#[cfg(test)]
mod tests;
