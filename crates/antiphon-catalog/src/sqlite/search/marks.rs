//! The offsets of words in the bytes of a session, so that entries without them need not be
//! decoded.

use aho_corasick::AhoCorasick;
use antiphon_model::{Bodies, Entry, Place, Session};

use crate::search::{Matching, Need};
use crate::searched::{names, places};

/// A word at more offsets is in most entries anyway.
const MOST: usize = 100_000;

/// For each need its offsets, by stream; `None` for one that cannot be searched for in bytes or is
/// too frequent.
pub(super) struct Marks(Vec<Option<Vec<Vec<u64>>>>);

impl Marks {
    /// The offsets in the streams of a session; `None` if these are not in memory.
    pub(super) fn of(bodies: &dyn Bodies, finders: &[Option<AhoCorasick>]) -> Option<Self> {
        let texts: Vec<&[u8]> = (0..).map_while(|number| bodies.stream(number)).collect();
        if texts.is_empty() {
            return None;
        }
        let find = |finder: &AhoCorasick| {
            let mut left = MOST;
            let mut streams = Vec::new();
            for text in &texts {
                let found = finder.find_iter(text).take(left).map(|it| it.start() as u64);
                let found: Vec<u64> = found.collect();
                left -= found.len();
                streams.push(found);
            }
            (left > 0).then_some(streams)
        };
        Some(Self(finders.iter().map(|finder| finder.as_ref().and_then(find)).collect()))
    }

    /// Whether an entry may meet all of the needs, or any.
    pub(super) fn may_be_in(
        &self,
        session: &Session,
        entry: Entry<'_>,
        needs: &[Need],
        matching: Matching,
    ) -> bool {
        let places: Vec<Place> = places(entry).chain([entry.line()]).collect();
        let names = || names(session, entry).map(|(name, _)| name.to_lowercase());
        let has = self.0.iter().zip(needs).map(|(streams, need)| {
            let Some(streams) = streams else { return true };
            places.iter().any(|place| is_within(streams, *place))
                || names().any(|name| need.iter().any(|text| name.contains(text)))
        });
        // Without needs, every entry may match.
        needs.is_empty() || matching.holds(has)
    }
}

fn is_within(streams: &[Vec<u64>], place: Place) -> bool {
    let Some(found) = streams.get(place.stream as usize) else { return false };
    let at = found.partition_point(|&offset| offset < place.offset);
    found.get(at).is_some_and(|&offset| offset < place.offset + u64::from(place.len))
}
