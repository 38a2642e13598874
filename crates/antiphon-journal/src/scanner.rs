//! From lines to events and damage: every line is decoded, kept as unknown, or accounted for.
//!
//! Reading, following, verifying and opening for append all use this scanner, so they cannot
//! disagree about what a log contains.

use std::borrow::Cow;

use antiphon_model::{Event, Line, Place, decode};

use crate::ahead::without_carriage_return;
use crate::chain::{Chain, Link};
use crate::damage::{Damage, DamageKind};
use crate::lines::RawLine;
use crate::seal::{self, Sealed};
use crate::weld;
use crate::{Head, Seal};

/// Receives what is found in a log, in order.
pub trait Sink {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, seal: Option<&Seal>);
    fn damage(&mut self, damage: Damage);
}

/// Reads the lines of a log's segments, one after the other.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scanner {
    chain: Chain,
    pub(crate) stream: u32,
    /// Whether another segment follows: then a line without a newline is not the end of the log.
    pub(crate) has_successor: bool,
    /// The first line of the next segment, which repeats all lines from there on.
    pub(crate) superseded_from: Option<Seal>,
    /// Lines up to this number may be repeated here: they were shown from the previous segment,
    /// before it was known to be superseded.
    pub(crate) shown_upto: u64,
    pub(crate) sealed: u64,
    pub(crate) unsealed: u64,
}

impl Scanner {
    /// A scanner that continues after a line of a segment.
    pub(crate) fn after(head: Head, stream: u32) -> Self {
        Self { chain: Chain::after(head), stream, ..Self::default() }
    }

    pub(crate) fn head(&self) -> Option<Head> {
        (self.chain.n() > 0).then(|| Head { n: self.chain.n(), hash: self.chain.hash() })
    }

    pub(crate) fn line(&mut self, raw: &RawLine<'_>, sink: &mut dyn Sink) {
        let mut part = LinePart::whole(raw, self.stream);
        part.terminated |= self.has_successor;
        if raw.bytes.is_empty() && raw.len > 0 {
            self.chain.pass_unreadable();
            sink.damage(part.damage(DamageKind::TooLong));
            return;
        }
        if raw.number == 1 {
            part.skip_byte_order_mark();
        }
        part.skip_carriage_return();
        if part.bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let emitted = match raw.sealed.unwrap_or_else(|| seal::check(part.bytes)) {
            Sealed::Good(seal) => {
                self.good(&part, &seal, sink);
                true
            }
            Sealed::Mismatch { stored, actual } => {
                let n = self.chain.number_of_changed(&stored);
                self.damaged(&part, DamageKind::BadHash, n, sink, |chain| {
                    chain.follow_changed(&stored, actual);
                })
            }
            Sealed::Broken => {
                let n = self.chain.n() + 1;
                self.damaged(&part, DamageKind::BadSeal, n, sink, Chain::pass_unreadable)
            }
            Sealed::Absent => self.emit(&part, None, sink, |scanner, sink| {
                scanner.unsealed += 1;
                if scanner.chain.n() > 0 {
                    sink.damage(part.damage(DamageKind::Unchained));
                }
            }),
        };
        if !emitted {
            self.unreadable(&part, sink);
        }
    }

    /// Whether the next segment repeats line `n`.
    fn is_superseded(&self, n: u64) -> bool {
        self.superseded_from.is_some_and(|from| n >= from.n)
    }

    fn good(&mut self, part: &LinePart<'_>, seal: &Seal, sink: &mut dyn Sink) {
        if self.superseded_from.is_some_and(|from| from.n == seal.n && from.hash != seal.hash) {
            // The next segment does not continue this one, so it repeats nothing of it.
            self.superseded_from = None;
        }
        if self.is_superseded(seal.n) {
            return;
        }
        match self.chain.follow(seal) {
            Link::Next => {}
            Link::NextBut(kind) | Link::Late(kind) => sink.damage(part.damage(kind)),
            Link::Again(_) if seal.n <= self.shown_upto => return,
            Link::Again(kind) => {
                self.sealed += 1;
                sink.damage(part.damage(kind));
                return;
            }
        }
        self.sealed += 1;
        if !part.terminated {
            sink.damage(part.damage(DamageKind::Unterminated));
        }
        if !self.emit(part, Some(seal), sink, |_, _| {}) {
            // It was written like this: intact, but not an event.
            sink.damage(part.damage(part.undecodable()));
        }
    }

    /// Handles a line whose seal does not match, probably line `n`. Returns `false` if it is not
    /// even an event.
    fn damaged(
        &mut self,
        part: &LinePart<'_>,
        kind: DamageKind,
        n: u64,
        sink: &mut dyn Sink,
        follow: impl FnOnce(&mut Chain),
    ) -> bool {
        if self.is_superseded(n) && part.is_event() {
            // The next segment repeats it as it was written.
            sink.damage(part.damage(kind));
            return true;
        }
        self.emit(part, None, sink, |scanner, sink| {
            follow(&mut scanner.chain);
            sink.damage(part.damage(kind));
        })
    }

    /// Decodes a part and passes it on, after `before`. Returns `false`, without doing anything, if
    /// it cannot be decoded.
    fn emit(
        &mut self,
        part: &LinePart<'_>,
        seal: Option<&Seal>,
        sink: &mut dyn Sink,
        before: impl FnOnce(&mut Self, &mut dyn Sink),
    ) -> bool {
        let text = part.text();
        let line = part.line(&text, seal);
        let Ok(event) = decode(&line) else {
            return false;
        };
        before(self, sink);
        if let Cow::Owned(_) = text {
            sink.damage(Damage::not_utf8(part.stream, part.number, part.offset, part.len()));
        }
        sink.event(&event, &line, seal);
        true
    }

    /// Handles a line that is not an event: it may be several lines without a newline between them.
    fn unreadable(&mut self, line: &LinePart<'_>, sink: &mut dyn Sink) {
        let parts = match self.chain.n() {
            0 => weld::split(line.bytes, &|range| line.part(range).is_event()),
            _ => weld::split_sealed(line.bytes),
        };
        let whole = parts.iter().filter(|part| part.whole).count();
        if whole == 0 {
            self.chain.pass_unreadable();
            sink.damage(line.damage(line.undecodable()));
            return;
        }
        sink.damage(line.damage(DamageKind::Welded { whole }));
        for part in parts {
            let content = line.part(part.range.clone());
            match (part.whole, seal::check(content.bytes)) {
                (true, Sealed::Good(seal)) => self.good(&content, &seal, sink),
                (true, _) => {
                    self.emit(&content, None, sink, |scanner, _| scanner.unsealed += 1);
                }
                (false, _) => self.chain.pass_unreadable(),
            }
        }
    }
}

/// A line, or a part of a line that consists of several lines without a newline between them.
#[derive(Debug, Clone, Copy)]
struct LinePart<'a> {
    bytes: &'a [u8],
    /// The length, also of a line that is too long to be kept.
    full_len: u64,
    offset: u64,
    number: u64,
    stream: u32,
    /// Whether it certainly ends here: a newline or another segment follows.
    terminated: bool,
}

impl<'a> LinePart<'a> {
    fn whole(raw: &RawLine<'a>, stream: u32) -> Self {
        Self {
            bytes: raw.bytes,
            full_len: raw.len,
            offset: raw.offset,
            number: raw.number,
            stream,
            terminated: raw.terminated,
        }
    }

    fn part(&self, range: std::ops::Range<usize>) -> Self {
        let offset = self.offset + range.start as u64;
        let terminated = self.terminated || range.end < self.bytes.len();
        let bytes = self.bytes.get(range).unwrap_or_default();
        Self { bytes, full_len: bytes.len() as u64, offset, terminated, ..*self }
    }

    fn skip_byte_order_mark(&mut self) {
        if let Some(rest) = self.bytes.strip_prefix(b"\xEF\xBB\xBF") {
            self.bytes = rest;
            self.full_len -= 3;
            self.offset += 3;
        }
    }

    fn skip_carriage_return(&mut self) {
        let rest = without_carriage_return(self.bytes);
        self.full_len -= (self.bytes.len() - rest.len()) as u64;
        self.bytes = rest;
    }

    fn len(&self) -> u64 {
        self.full_len
    }

    /// The text. Each byte that is not valid UTF-8 becomes `?`, so that offsets in the line stay
    /// correct and the original bytes can be read from the file.
    fn text(&self) -> Cow<'a, str> {
        if let Ok(text) = str::from_utf8(self.bytes) {
            return Cow::Borrowed(text);
        }
        let mut text = String::with_capacity(self.bytes.len());
        for chunk in self.bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        Cow::Owned(text)
    }

    fn line<'t>(&self, text: &'t str, seal: Option<&Seal>) -> Line<'t> {
        let seal_bytes = seal.map_or(0, Seal::text_len);
        let len = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let place = Place { offset: self.offset, len, stream: self.stream };
        Line::sealed(text, self.number, place, seal_bytes)
    }

    fn is_event(&self) -> bool {
        decode(&self.line(&self.text(), None)).is_ok()
    }

    /// The damage of a part that cannot be decoded.
    fn undecodable(&self) -> DamageKind {
        if self.bytes.last() == Some(&0) {
            return DamageKind::Nul;
        }
        let text = self.text();
        match (stops_short(&text), self.terminated) {
            (true, true) => DamageKind::TornLine,
            (true, false) => DamageKind::TornTail,
            (false, _) => match decode(&self.line(&text, None)) {
                Err(problem) => DamageKind::Undecodable(problem),
                Ok(_) => DamageKind::BadSeal,
            },
        }
    }

    fn damage(&self, kind: DamageKind) -> Damage {
        let (stream, line, offset, len) = (self.stream, self.number, self.offset, self.full_len);
        Damage { kind, stream, line, offset, len }
    }
}

/// Whether JSON text was truncated: it ends where more must follow. Damaged text fails before its
/// end.
fn stops_short(text: &str) -> bool {
    let stops = |text: &str| {
        let parsed = serde_json::from_str::<serde::de::IgnoredAny>(text);
        parsed.is_err_and(|error| error.is_eof())
    };
    // A number may have been truncated after its sign, point or exponent.
    stops(text) || text.ends_with(['-', '+', '.', 'e', 'E']) && stops(&format!("{text}0"))
}
