//! Which text of a session is searched: what was said and thought, passed to tools and returned by
//! them.
//!
//! That is less than half of what an agent writes. The rest is ids and times, and structured copies
//! of results, most of which repeat the text of the results. Filters are built from the searched
//! text only, so that they are small and rule out much.

use std::ops::Range;

use antiphon_model::{Detail, Entry, Place, Session};

/// A structured copy of a result that is shorter than this is always searched.
pub(crate) const SHORT_BYTES: usize = 256;
/// The most bytes that JSON may use for one byte of text.
const ESCAPED_BYTES: usize = "\\u0000".len();

/// All places that the text of an entry may come from.
pub(crate) fn places(entry: Entry<'_>) -> impl Iterator<Item = Place> {
    said(entry).chain(entry.detail(Detail::Result))
}

/// The same without the structured copy of a result.
fn said(entry: Entry<'_>) -> impl Iterator<Item = Place> {
    let arguments = entry.calls().map(|(_, call)| call.arguments);
    let details = [Detail::Reasoning, Detail::Payload];
    let details = details.into_iter().filter_map(move |detail| entry.detail(detail));
    entry.contents().chain(arguments).chain(details).filter(|place| !place.is_none())
}

/// Text of an entry that is at none of its places, or not literally, and the place near which it is
/// filtered.
pub(crate) fn names<'s>(
    session: &'s Session,
    entry: Entry<'s>,
) -> impl Iterator<Item = (&'s str, Place)> {
    let tools = entry.calls().map(move |(ix, call)| (session.tool_name(ix), call.arguments));
    let kind = entry.message_type().map(|kind| (kind, Place::NONE));
    // A message may have begun on another line than its call.
    let beside = move |place: Place| if place.is_none() { entry.line() } else { place };
    tools.chain(kind).map(move |(name, place)| (name, beside(place)))
}

/// Whether the structured copy of a result says something that the result does not: one that is
/// hardly longer repeats it in another form.
pub(crate) fn says_more(entry: Entry<'_>, twin: Place) -> bool {
    let said: u64 = entry.contents().map(|place| u64::from(place.len)).sum();
    u64::from(twin.len) > said + said / 2
}

/// The searched text of one file.
#[derive(Debug, Default)]
pub(super) struct Searched<'s> {
    /// In order, without overlap.
    ranges: Vec<Range<usize>>,
    /// Further text, with an offset near which it is filtered.
    names: Vec<(usize, &'s str)>,
}

/// The searched text of each file of a session, by the numbers of their streams. Needs all bytes of
/// every file.
pub(super) fn searched<'s>(session: &'s Session, streams: &[&[u8]]) -> Vec<Searched<'s>> {
    let mut files: Vec<Searched<'s>> = streams.iter().map(|_| Searched::default()).collect();
    let file = |place: Place| usize::try_from(place.stream).ok();
    for entry in session.entries() {
        let twin = entry.detail(Detail::Result);
        let twin = twin.filter(|twin| says_more(entry, *twin) || !is_long(entry, streams));
        for place in said(entry).chain(twin) {
            let Some(file) = file(place).and_then(|at| files.get_mut(at)) else { continue };
            file.ranges.push(range(place));
        }
        for (name, place) in names(session, entry) {
            let Some(file) = file(place).and_then(|at| files.get_mut(at)) else { continue };
            file.names.push((range(place).start, name));
        }
    }
    for file in &mut files {
        file.names.sort_unstable();
        file.names.dedup();
        file.ranges.sort_unstable_by_key(|range| range.start);
        file.ranges.dedup_by(|next, before| {
            let is_one = next.start <= before.end;
            if is_one {
                before.end = before.end.max(next.end);
            }
            is_one
        });
    }
    files
}

fn range(place: Place) -> Range<usize> {
    let start = usize::try_from(place.offset).unwrap_or(usize::MAX);
    start..start.saturating_add(place.len as usize)
}

/// Whether the text of an entry is certainly long. For a list this is unknown: it may contain an
/// image.
fn is_long(entry: Entry<'_>, streams: &[&[u8]]) -> bool {
    let is_text = |place: &Place| {
        let stream = streams.get(place.stream as usize);
        stream.and_then(|bytes| bytes.get(range(*place).start)) == Some(&b'"')
    };
    let texts = entry.contents().filter(is_text);
    let least = |place: Place| (place.len as usize).saturating_sub(2) / ESCAPED_BYTES;
    texts.map(least).sum::<usize>() >= SHORT_BYTES
}

impl Searched<'_> {
    /// The searched text of each part of the file; parts must be passed in order.
    pub(super) fn of_parts<'a>(&'a self) -> impl FnMut(&'a [u8]) -> Vec<&'a [u8]> {
        let (mut ranges, mut names) = (&*self.ranges, &*self.names);
        let mut start = 0;
        move |part| {
            let end = start + part.len();
            let mut texts = Vec::new();
            while let Some((range, rest)) = ranges.split_first().filter(|it| it.0.start < end) {
                let within =
                    range.start.saturating_sub(start)..range.end.min(end).saturating_sub(start);
                texts.extend(part.get(within));
                if range.end > end {
                    break;
                }
                ranges = rest;
            }
            while let Some(((_, name), rest)) = names.split_first().filter(|it| it.0.0 < end) {
                texts.push(name.as_bytes());
                names = rest;
            }
            start = end;
            texts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_what_is_searched_of_them_and_no_more() {
        let bytes = b"0123456789abcdefghij";
        let searched = Searched {
            ranges: vec![1..3, 4..6, 8..17, 19..30],
            names: vec![(0, "one"), (6, "two"), (19, "three")],
        };
        let mut of_part = searched.of_parts();
        let mut texts = |range: Range<usize>| -> Vec<String> {
            let texts = of_part(&bytes[range]).into_iter();
            texts.map(|text| String::from_utf8(text.to_vec()).unwrap()).collect()
        };
        assert_eq!(texts(0..5), ["12", "4", "one"]);
        assert_eq!(texts(5..10), ["5", "89", "two"]);
        assert_eq!(texts(10..13), ["abc"]);
        assert_eq!(texts(13..20), ["defg", "j", "three"], "what is beyond the end is not there");
    }
}
