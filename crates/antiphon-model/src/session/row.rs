//! What is kept of an event: as it is folded, and packed into the 56 bytes that stay.

use super::column::Sparse;
use super::strings::StrIx;
use super::{EntryKind, NOBODY, RawRef, Source};
use crate::{AgentIx, CallIx, Place, Timestamp};

const NO_TIME: i64 = i64::MIN;

/// An event while it is folded.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) line: Place,
    pub(super) content: Place,
    pub(super) at: Option<Timestamp>,
    pub(super) line_number: u64,
    pub(super) id: StrIx,
    pub(super) agent: u32,
    pub(super) source: Source,
    pub(super) utterance_ref: Option<RawRef>,
    pub(super) call: u32,
    pub(super) call_count: u16,
    pub(super) kind: EntryKind,
    pub(super) is_error: bool,
}

impl Draft {
    pub(super) fn new(id: StrIx, line: Place, line_number: u64, at: Option<Timestamp>) -> Self {
        Self {
            line,
            content: Place::NONE,
            at,
            line_number,
            id,
            agent: NOBODY,
            source: Source::Own,
            utterance_ref: None,
            call: NOBODY,
            call_count: 0,
            kind: EntryKind::Unknown,
            is_error: false,
        }
    }

    /// The row; the content, if that does not stand in the event's own line, is the second.
    pub(super) fn pack(&self) -> (Row, Option<Place>) {
        let Self { line, content, .. } = *self;
        let near = Near::of(content, line);
        let row = Row {
            offset: line.offset,
            at: self.at.map_or(NO_TIME, Timestamp::as_millis),
            len: line.len,
            stream: line.stream,
            content: near.unwrap_or(Near::FAR),
            line_number: u32::try_from(self.line_number).unwrap_or(u32::MAX),
            id: self.id,
            agent: self.agent,
            source: RawSource::of(self.source),
            call: self.call,
            call_count: self.call_count,
            kind: self.kind,
            is_error: self.is_error,
        };
        (row, near.is_none().then_some(content))
    }
}

/// What stays of an event.
#[derive(Debug, Clone)]
pub(super) struct Row {
    offset: u64,
    at: i64,
    len: u32,
    stream: u32,
    content: Near,
    line_number: u32,
    pub(super) id: StrIx,
    agent: u32,
    source: RawSource,
    call: u32,
    pub(super) call_count: u16,
    pub(super) kind: EntryKind,
    pub(super) is_error: bool,
}

impl Row {
    pub(super) fn line(&self) -> Place {
        Place { offset: self.offset, len: self.len, stream: self.stream }
    }

    pub(super) fn line_number(&self) -> u64 {
        u64::from(self.line_number)
    }

    pub(super) fn has_content(&self) -> bool {
        self.content != Near::NONE
    }

    /// `far` are the contents that do not stand in the lines of their events.
    pub(super) fn content(&self, event: u32, far: &Sparse<Place>) -> Option<Place> {
        match self.content {
            Near::NONE => None,
            Near::FAR => far.get(event).copied(),
            Near { from, len } => {
                Some(Place { offset: self.offset + u64::from(from), len, stream: self.stream })
            }
        }
    }

    pub(super) fn at(&self) -> Option<Timestamp> {
        (self.at != NO_TIME).then(|| Timestamp::from_millis(self.at))
    }

    pub(super) fn agent(&self) -> Option<AgentIx> {
        (self.agent != NOBODY).then_some(AgentIx(self.agent))
    }

    pub(super) fn call(&self) -> Option<CallIx> {
        (self.call != NOBODY).then_some(CallIx(self.call))
    }

    pub(super) fn source(&self) -> Source {
        self.source.get()
    }
}

/// A place within the line of its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Near {
    from: u32,
    len: u32,
}

impl Near {
    const NONE: Self = Self { from: 0, len: 0 };
    /// It stands elsewhere. No line is as long as that.
    const FAR: Self = Self { from: u32::MAX, len: u32::MAX };

    fn of(place: Place, line: Place) -> Option<Self> {
        if place.is_none() {
            return Some(Self::NONE);
        }
        let from = place.offset.checked_sub(line.offset).filter(|_| place.stream == line.stream)?;
        let near = Self { from: u32::try_from(from).ok()?, len: place.len };
        (near != Self::FAR).then_some(near)
    }
}

/// A [`Source`] in four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RawSource(u32);

impl RawSource {
    const OWN: Self = Self(u32::MAX);
    const EXTERNAL: Self = Self(u32::MAX - 1);
    const SYSTEM: Self = Self(u32::MAX - 2);

    fn of(source: Source) -> Self {
        match source {
            Source::Own => Self::OWN,
            Source::External => Self::EXTERNAL,
            Source::System => Self::SYSTEM,
            Source::Agent(AgentIx(agent)) => Self(agent),
        }
    }

    fn get(self) -> Source {
        match self {
            Self::OWN => Source::Own,
            Self::EXTERNAL => Source::External,
            Self::SYSTEM => Source::System,
            Self(agent) => Source::Agent(AgentIx(agent)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<Row>(), 56);
    }

    #[test]
    fn a_content_is_found_within_its_line_and_elsewhere() {
        let line = Place { offset: 1 << 40, len: 1000, stream: 2 };
        let check = |content: Place| {
            let mut draft = Draft::new(StrIx(0), line, 1, None);
            draft.content = content;
            let (row, elsewhere) = draft.pack();
            let mut far = Sparse::default();
            elsewhere.into_iter().for_each(|place| far.push(7, place));
            let wanted = Some(content).filter(|it| !it.is_none());
            assert_eq!((row.content(7, &far), row.line()), (wanted, line), "{content:?}");
            assert_eq!(row.has_content(), wanted.is_some());
        };
        check(Place::NONE);
        check(Place { offset: line.offset + 17, len: 5, ..line });
        check(line);
        check(Place { offset: line.offset - 1, ..line });
        check(Place { stream: 3, ..line });
        check(Place { offset: line.offset + u64::from(u32::MAX), len: u32::MAX, stream: 2 });
        check(Place { offset: line.offset + (1 << 33), ..line });
    }

    #[test]
    fn a_source_comes_back() {
        for source in [Source::Own, Source::External, Source::System, Source::Agent(AgentIx(3))] {
            assert_eq!(RawSource::of(source).get(), source);
        }
    }
}
