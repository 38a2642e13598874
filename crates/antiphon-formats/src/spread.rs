//! Converts a document whose records are in one list to lines: what is around the list, then each
//! record.
//!
//! Of a truncated document, everything before the cut is kept.

use antiphon_model::json::{self, Members};
use antiphon_model::{Place, Problem, Severity};

use crate::Lines;
use crate::line::Object;

/// The lines of a document whose records are in the list `name`. Text that consists of lines
/// already stays as it is.
pub(crate) fn spread(text: &str, name: &str) -> Lines {
    let document = text.trim_start_matches('\u{feff}').trim();
    if is_stream(document, name) {
        return Lines { text: text.to_owned(), problems: Vec::new() };
    }
    let error = json::check(document).err();
    let mut around = Members::default();
    let mut list = None;
    let mut end = 0;
    let _ = json::members(document, |key, value| {
        end = end_of(document, value);
        if key == name {
            list = Some(value);
        } else {
            around.raw(key, &json::compact(value));
        }
    });
    // A truncated list was not reported as a member.
    let list = list.or_else(|| error.as_ref().and_then(|_| begun(document, end, name)));
    let mut out = around.object();
    out.push('\n');
    add_records(&mut out, list.unwrap_or("[]"));
    let problems = error.iter().map(not_json).collect();
    Lines { text: out, problems }
}

/// The lines of a document that is a list of records.
pub(crate) fn list(text: &str) -> Lines {
    let list = text.trim_start_matches('\u{feff}').trim();
    let mut out = String::with_capacity(list.len());
    add_records(&mut out, list);
    Lines { text: out, problems: json::check(list).err().iter().map(not_json).collect() }
}

/// Writes a line for each complete record.
fn add_records(out: &mut String, list: &str) {
    let _ = json::elements(list, |record| {
        out.push_str(&json::compact(record));
        out.push('\n');
    });
}

/// The complete members of the outermost object, given the document's beginning.
pub(crate) fn members(head: &[&str]) -> Vec<(String, String)> {
    let text = head.join("\n");
    let mut members = Vec::new();
    let _ = json::members(text.trim_start_matches('\u{feff}'), |key, value| {
        members.push((key.to_owned(), value.to_owned()));
    });
    members
}

/// What is wrong with a document, if anything is.
pub(crate) fn not_json_at(document: &str) -> Option<Problem> {
    json::check(document).err().as_ref().map(not_json)
}

/// A list that may have been cut: its complete elements, and the rest of the last one.
#[derive(Debug, Default)]
pub(crate) struct Cut<'t> {
    pub(crate) whole: Vec<&'t str>,
    pub(crate) begun: Option<&'t str>,
}

impl<'t> Cut<'t> {
    /// The list of that name in an object that may have been cut itself.
    pub(crate) fn list(object: &'t str, name: &str) -> Self {
        let mut list = None;
        let mut end = 0;
        let is_cut = json::members(object, |key, value| {
            end = end_of(object, value);
            if key == name {
                list = Some(value);
            }
        })
        .is_err();
        let list = list.or_else(|| if is_cut { begun(object, end, name) } else { None });
        list.map(Self::elements).unwrap_or_default()
    }

    /// The elements of a list that may have been cut.
    pub(crate) fn elements(list: &'t str) -> Self {
        let mut cut = Self::default();
        let mut end = 1;
        let is_whole = json::elements(list, |element| {
            end = end_of(list, element);
            cut.whole.push(element);
        })
        .is_ok();
        let rest = list.get(end..).unwrap_or_default().trim_start_matches([',', ' ', '\n', '\t']);
        cut.begun = Some(rest).filter(|rest| !is_whole && rest.starts_with('{'));
        cut
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.begun.is_none()
    }

    pub(crate) fn all(self) -> impl Iterator<Item = &'t str> {
        self.whole.into_iter().chain(self.begun)
    }
}

/// Whether the first line is an object, and either the list is not in it or more lines follow.
fn is_stream(document: &str, name: &str) -> bool {
    let (first, rest) = document.split_once('\n').unwrap_or((document, ""));
    let Some(object) = Object::parse(first.trim()) else { return false };
    !rest.trim().is_empty() || !object.has(name)
}

/// The truncated list of that name, which begins after the members that were read.
fn begun<'t>(document: &'t str, end: usize, name: &str) -> Option<&'t str> {
    let (_, rest) = document.get(end..)?.split_once(&format!("\"{name}\""))?;
    let list = rest.trim_start().strip_prefix(':')?.trim_start();
    list.starts_with('[').then_some(list)
}

fn end_of(document: &str, value: &str) -> usize {
    (value.as_ptr() as usize).wrapping_sub(document.as_ptr() as usize) + value.len()
}

fn not_json(error: &json::SyntaxError) -> Problem {
    let (severity, code, place) = (Severity::Error, "not-json", Place::NONE);
    Problem { severity, code, line: error.line as u64, message: error.to_string(), place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_becomes_lines() {
        let lines =
            spread("{\n \"a\": 1,\n \"m\": [ {\"b\": 2}, {\"c\": [3, 4]} ],\n \"d\": {}\n}", "m");
        assert_eq!(lines.text, "{\"a\":1,\"d\":{}}\n{\"b\":2}\n{\"c\":[3,4]}\n");
        assert!(lines.problems.is_empty());
    }

    #[test]
    fn a_document_that_was_cut_has_what_came_before() {
        let lines = spread("{\"a\": 1, \"m\": [{\"b\": 2}, {\"c\": [3", "m");
        assert_eq!(lines.text, "{\"a\":1}\n{\"b\":2}\n");
        assert_eq!(lines.problems.len(), 1);
    }

    #[test]
    fn a_list_becomes_lines_as_far_as_it_goes() {
        let lines = list("[ {\"a\": 1},\n {\"b\": 2} ]\n");
        assert_eq!((&*lines.text, lines.problems.len()), ("{\"a\":1}\n{\"b\":2}\n", 0));
        let lines = list("[{\"a\": 1}, {\"b\": 2");
        assert_eq!((&*lines.text, lines.problems.len()), ("{\"a\":1}\n", 1));
    }

    #[test]
    fn lines_stay_as_they_are() {
        for text in ["{\"a\":1}\n{\"b\":2}\n", "{\"m\":[]}\n{\"b\":2}\n", "{\"a\":1}\n"] {
            assert_eq!(spread(text, "m").text, text);
        }
    }
}
