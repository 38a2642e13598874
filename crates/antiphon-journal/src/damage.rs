//! The kinds of damage that a log on disk can have, each with its place.

use antiphon_model::{Place, Problem, ProblemKind, Severity};

use crate::Hash;

/// Something wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub kind: DamageKind,
    /// Which segment, from 0.
    pub stream: u32,
    /// The line's number in its segment, from 1.
    pub line: u64,
    pub offset: u64,
    pub len: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DamageKind {
    /// The log stops within a line: its writer was killed, or is writing at this moment.
    TornTail,
    /// The last line is complete except for its newline.
    Unterminated,
    /// An incomplete line with others after it.
    TornLine,
    /// Several lines without a newline between them; `whole` of them could be read.
    Welded { whole: usize },
    /// Zeros where text should be: the file grew, and its content never reached the disk.
    Nul,
    /// The line is not the one that was written.
    BadHash,
    /// The line's seal is damaged.
    BadSeal,
    /// Lines are missing before this one.
    Gap { missing: u64, from: u64 },
    /// A line that should be earlier in the log.
    OutOfOrder { n: u64 },
    /// A line that is already earlier in the log.
    Repeated { n: u64 },
    /// Another line with this number is earlier in the log: both were written after the same line.
    Forked { n: u64 },
    /// Both lines are intact, but this one was written after a different line than the one before
    /// it.
    BrokenChain { wanted: Hash, found: Hash },
    /// A line without a seal in a log that has them.
    Unchained,
    /// Longer than the longest line that is read into memory.
    TooLong,
    /// The line cannot be decoded, or is unusual.
    Undecodable(Problem),
}

impl DamageKind {
    pub fn code(&self) -> &'static str {
        match self {
            Self::TornTail => "torn-tail",
            Self::Unterminated => "unterminated",
            Self::TornLine => "torn-line",
            Self::Welded { .. } => "welded",
            Self::Nul => "nul",
            Self::BadHash => "bad-hash",
            Self::BadSeal => "bad-seal",
            Self::Gap { .. } => "gap",
            Self::OutOfOrder { .. } => "out-of-order",
            Self::Repeated { .. } => "repeated",
            Self::Forked { .. } => "forked",
            Self::BrokenChain { .. } => "broken-chain",
            Self::Unchained => "unchained",
            Self::TooLong => "too-long",
            Self::Undecodable(problem) => problem.code,
        }
    }

    pub fn severity(&self) -> Severity {
        match self {
            Self::Unterminated | Self::Unchained => Severity::Warning,
            Self::Undecodable(problem) => problem.severity,
            Self::TornTail
            | Self::TornLine
            | Self::Welded { .. }
            | Self::Nul
            | Self::BadHash
            | Self::BadSeal
            | Self::Gap { .. }
            | Self::OutOfOrder { .. }
            | Self::Repeated { .. }
            | Self::Forked { .. }
            | Self::BrokenChain { .. }
            | Self::TooLong => Severity::Error,
        }
    }

    /// Whether a line is incomplete, but correct as far as it goes.
    pub(crate) fn is_torn(&self) -> bool {
        matches!(self, Self::TornTail | Self::TornLine)
    }

    /// Whether bytes of the file itself are damaged, rather than the order of whole lines.
    pub(crate) fn is_of_bytes(&self) -> bool {
        match self {
            Self::TornTail
            | Self::TornLine
            | Self::Welded { .. }
            | Self::Nul
            | Self::BadHash
            | Self::BadSeal
            | Self::TooLong => true,
            Self::Undecodable(problem) => problem.severity == Severity::Error,
            Self::Unterminated
            | Self::Gap { .. }
            | Self::OutOfOrder { .. }
            | Self::Repeated { .. }
            | Self::Forked { .. }
            | Self::BrokenChain { .. }
            | Self::Unchained => false,
        }
    }
}

impl Damage {
    /// A message for people.
    pub fn message(&self) -> String {
        let len = self.len;
        match &self.kind {
            DamageKind::TornTail => format!(
                "torn tail: the last {len} bytes are the start of a line that was never \
                 finished (or is being written now)"
            ),
            DamageKind::Unterminated => "the last line is complete but has no newline".to_owned(),
            DamageKind::TornLine => {
                format!("torn line: {len} bytes, the start of a line that was never finished")
            }
            DamageKind::Welded { whole: 1 } => {
                "welded: several lines joined into one; one of them is complete".to_owned()
            }
            DamageKind::Welded { whole } => {
                format!("welded: several lines joined into one; {whole} of them are complete")
            }
            DamageKind::Nul => format!("{len} bytes ending in zeros where a line should be"),
            DamageKind::BadHash => {
                "the line was changed after it was written: its hash does not match".to_owned()
            }
            DamageKind::BadSeal => "the line's seal (n, prev, hash) is damaged".to_owned(),
            DamageKind::Gap { missing: 1, from } => format!("one line is missing here: n {from}"),
            DamageKind::Gap { missing, from } => {
                let last = from + missing - 1;
                format!("{missing} lines are missing here: n {from} to {last}")
            }
            DamageKind::OutOfOrder { n } => format!("n {n} comes too late: lines were moved"),
            DamageKind::Repeated { n } => format!("n {n} also occurs on an earlier line"),
            DamageKind::Forked { n } => {
                format!(
                    "another line with n {n} comes earlier: two writers continued from one line"
                )
            }
            DamageKind::BrokenChain { wanted, found } => format!(
                "the chain is broken: the line gives {found} as the previous hash, but it is \
                 {wanted}"
            ),
            DamageKind::Unchained => {
                "a line without a seal (n, prev, hash), from another writer".to_owned()
            }
            DamageKind::TooLong => {
                format!("a line of {len} bytes; the limit is {}", crate::lines::LINE_BYTES_MAX)
            }
            DamageKind::Undecodable(problem) => problem.message.clone(),
        }
    }

    /// The damage as a [`Problem`].
    pub fn problem(&self) -> Problem {
        if let DamageKind::Undecodable(problem) = &self.kind {
            return problem.clone();
        }
        let len = u32::try_from(self.len).unwrap_or(u32::MAX);
        Problem {
            severity: self.kind.severity(),
            code: self.kind.code(),
            line: self.line,
            message: self.message(),
            place: Place { offset: self.offset, len, stream: self.stream },
        }
    }

    pub(crate) fn not_utf8(stream: u32, line: u64, offset: u64, len: u64) -> Self {
        let place = Place { offset, len: u32::try_from(len).unwrap_or(u32::MAX), stream };
        let kind = DamageKind::Undecodable(ProblemKind::NotUtf8.at(line, place));
        Self { kind, stream, line, offset, len }
    }
}
