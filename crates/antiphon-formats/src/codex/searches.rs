//! Calls that the service itself carries out (searches, images): which event message goes with
//! which item.
//!
//! An item may lack its id, or have another than the event message at its end, and the two may
//! describe the action differently. They are matched by the action, else by what was searched for,
//! else by being next to each other.

use std::collections::{BTreeMap, VecDeque};

use super::entry::Entry;

/// A search, from an item or from the event message at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) line: u64,
    pub(super) call: Option<&'a str>,
    action: Option<&'a str>,
    query: Option<&'a str>,
    is_image: bool,
}

/// How many lines apart an item and the event message at its end may be, if nothing else matches.
const NEAR: u64 = 2;
/// How many event messages are tried for that, because any number of them may be near.
const NEAR_MOST: usize = 16;

impl<'a> Search<'a> {
    pub(super) fn new(entry: &Entry<'a>, call: Option<&'a str>) -> Self {
        let action = entry.payload.object("action").unwrap_or_default();
        let names = ["query", "url", "pattern"];
        let asked = names.iter().find_map(|name| action.raw(name));
        let query = asked.or_else(|| entry.payload.raw("query")).filter(|query| *query != "\"\"");
        let is_image = entry.what == "image_generation_call";
        Self { line: entry.line(), call, action: entry.payload.raw("action"), query, is_image }
    }
}

/// Whether an item is a call that the service carries out, which has no item for its output.
pub(super) fn is_served(what: &str) -> bool {
    matches!(what, "web_search_call" | "image_generation_call")
}

/// The service's id for a call of its own.
pub(super) fn served_id<'a>(entry: &Entry<'a>) -> Option<&'a str> {
    entry.call_id().or_else(|| entry.payload.id("id"))
}

/// The lines of items, each with the call whose end belongs to it.
pub(super) fn join<'a>(items: Vec<Search<'a>>, ends: Vec<Search<'a>>) -> Vec<(u64, &'a str)> {
    let mut joined = Vec::new();
    let (mut items, mut ends) = (items, ends);
    items.retain(|item| !item.is_image);
    for key in [|it: &Search<'a>| it.action, |it: &Search<'a>| it.query] {
        let mut by_key: BTreeMap<&str, VecDeque<Search<'a>>> = BTreeMap::new();
        let mut rest: Vec<Search<'a>> = Vec::new();
        for end in ends {
            match key(&end) {
                Some(key) => by_key.entry(key).or_default().push_back(end),
                None => rest.push(end),
            }
        }
        items.retain(|item| {
            let end = key(item).and_then(|key| by_key.get_mut(key)?.pop_front());
            joined.extend(end.and_then(|end| Some((item.line, end.call?))));
            end.is_none()
        });
        rest.extend(by_key.into_values().flatten());
        ends = rest;
    }
    ends.sort_by_key(|end| end.line);
    let mut taken = vec![false; ends.len()];
    for item in items {
        let first = ends.partition_point(|end| end.line.saturating_add(NEAR) < item.line);
        let near = ends.iter().enumerate().skip(first).take(NEAR_MOST);
        let near = near.take_while(|(_, end)| end.line <= item.line.saturating_add(NEAR));
        // Both say what they searched for, and it differs.
        let is_other = |end: &Search<'a>| end.query.is_some() && item.query.is_some();
        let mut near = near.filter(|(at, end)| !is_other(end) && taken.get(*at) == Some(&false));
        if let Some((at, end)) = near.next() {
            joined.extend(end.call.map(|call| (item.line, call)));
            taken.iter_mut().skip(at).take(1).for_each(|taken| *taken = true);
        }
    }
    joined
}
