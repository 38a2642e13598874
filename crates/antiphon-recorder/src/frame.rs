//! The protocol between recorder and scribe: frames with the output, over a pipe, and the exit
//! status, over a socket.

use std::fmt;

use antiphon_model::Timestamp;

/// The stream on which something was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Stdout,
    Stderr,
}

impl Source {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Output that could not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Loss {
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
}

impl Loss {
    pub(crate) fn of(printed: &[u8]) -> Self {
        let lines = memchr::memchr_iter(b'\n', printed).count();
        Self { lines: lines as u64, bytes: printed.len() as u64 }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.bytes += other.bytes;
    }

    pub(crate) fn is_none(self) -> bool {
        self.bytes == 0
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lines ({} bytes) of output", self.lines, self.bytes)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame<'f> {
    Printed {
        source: Source,
        at: Timestamp,
        bytes: &'f [u8],
    },
    /// Some output was lost here.
    Gap {
        at: Timestamp,
        loss: Loss,
    },
}

const HEAD_BYTES: usize = 13;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const GAP: u8 = 3;

impl Frame<'_> {
    /// Encodes a kind, a time, a length, and as many bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Printed { source, at, bytes } => {
                let kind = if *source == Source::Stdout { STDOUT } else { STDERR };
                framed(kind, *at, bytes)
            }
            Self::Gap { at, loss } => {
                let numbers = [loss.lines.to_le_bytes(), loss.bytes.to_le_bytes()].concat();
                framed(GAP, *at, &numbers)
            }
        }
    }
}

fn framed(kind: u8, at: Timestamp, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD_BYTES + payload.len());
    out.push(kind);
    out.extend_from_slice(&at.as_millis().to_le_bytes());
    // Pumps read 64 KiB at once.
    out.extend_from_slice(&u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(payload);
    out
}

/// Assembles frames from pieces of a stream.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    /// How many of the bytes have been returned.
    read: usize,
}

impl Frames {
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.read);
        self.read = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// The next complete frame.
    pub(crate) fn next(&mut self) -> Option<Frame<'_>> {
        let rest = self.bytes.get(self.read..)?;
        let (&head, body) = rest.split_first_chunk::<HEAD_BYTES>()?;
        let (kind, at, len) = read_head(head);
        let payload = body.get(..len)?;
        self.read += HEAD_BYTES + len;
        Some(read_frame(kind, at, payload))
    }

    /// The beginning of a frame that will not be completed.
    pub(crate) fn rest(&self) -> Option<Frame<'_>> {
        let rest = self.bytes.get(self.read..)?;
        let (&head, payload) = rest.split_first_chunk::<HEAD_BYTES>()?;
        let (kind, at, _) = read_head(head);
        (kind != GAP).then(|| read_frame(kind, at, payload))
    }
}

fn read_head(head: [u8; HEAD_BYTES]) -> (u8, Timestamp, usize) {
    let [kind, t0, t1, t2, t3, t4, t5, t6, t7, l0, l1, l2, l3] = head;
    let at = i64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]);
    let len = u32::from_le_bytes([l0, l1, l2, l3]);
    (kind, Timestamp::from_millis(at), len as usize)
}

fn read_frame(kind: u8, at: Timestamp, payload: &[u8]) -> Frame<'_> {
    let source = match kind {
        GAP => {
            let number = |from: usize| {
                let bytes = payload.get(from..).and_then(|rest| rest.first_chunk::<8>());
                bytes.map_or(0, |&bytes| u64::from_le_bytes(bytes))
            };
            return Frame::Gap { at, loss: Loss { lines: number(0), bytes: number(8) } };
        }
        STDERR => Source::Stderr,
        _ => Source::Stdout,
    };
    Frame::Printed { source, at, bytes: payload }
}

/// How a command ended, as its parent sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) was_cancelled: bool,
    pub(crate) was_too_long: bool,
    /// The last output, which could not be passed on.
    pub(crate) loss: Loss,
}

impl Exit {
    /// The exit status, as in a shell, of a command that could not be run.
    pub(crate) fn not_started(error: &std::io::Error) -> Self {
        let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
        Self { code: Some(code), ..Self::default() }
    }

    /// Encodes it as one line, such as `0 - false false 0 0`.
    pub(crate) fn to_line(self) -> String {
        let number = |it: Option<i32>| it.map_or("-".to_owned(), |it| it.to_string());
        let (code, signal) = (number(self.code), number(self.signal));
        let Self { was_cancelled, was_too_long, loss: Loss { lines, bytes }, .. } = self;
        format!("{code} {signal} {was_cancelled} {was_too_long} {lines} {bytes}\n")
    }

    /// Decodes a line; `None` if it is incomplete because the writer was killed.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let mut words = line.strip_suffix('\n')?.split(' ');
        let code = words.next()?.parse().ok();
        let signal = words.next()?.parse().ok();
        Some(Self {
            code,
            signal,
            was_cancelled: words.next()?.parse().ok()?,
            was_too_long: words.next()?.parse().ok()?,
            loss: Loss { lines: words.next()?.parse().ok()?, bytes: words.next()?.parse().ok()? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_the_same_however_the_stream_is_cut() {
        let at = Timestamp::from_millis(1_738_934_400_123);
        let frames = [
            Frame::Printed { source: Source::Stdout, at, bytes: b"one\ntwo" },
            Frame::Gap { at, loss: Loss { lines: 7, bytes: 1 << 40 } },
            Frame::Printed { source: Source::Stderr, at, bytes: b"" },
        ];
        let stream: Vec<u8> = frames.iter().flat_map(Frame::to_bytes).collect();
        for size in 1..stream.len() {
            let (mut decoder, mut found) = (Frames::default(), 0);
            for piece in stream.chunks(size) {
                decoder.push(piece);
                while let Some(frame) = decoder.next() {
                    assert_eq!(Some(&frame), frames.get(found));
                    found += 1;
                }
            }
            assert_eq!(found, frames.len());
        }
    }

    #[test]
    fn the_beginning_of_a_frame_is_not_lost() {
        let at = Timestamp::from_millis(5);
        let whole = Frame::Printed { source: Source::Stderr, at, bytes: b"abcdef" }.to_bytes();
        let mut frames = Frames::default();
        frames.push(&whole[..whole.len() - 2]);
        assert_eq!(frames.next(), None);
        let rest = Frame::Printed { source: Source::Stderr, at, bytes: b"abcd" };
        assert_eq!(frames.rest(), Some(rest));
    }

    #[test]
    fn how_a_command_ended_is_sent_on_a_whole_line() {
        let loss = Loss { lines: 3, bytes: 99 };
        let exit = Exit { signal: Some(15), was_cancelled: true, loss, ..Exit::default() };
        let line = exit.to_line();
        assert_eq!(Exit::from_line(&line), Some(exit));
        assert_eq!(Exit::from_line(line.trim_end()), None);
        assert_eq!(Exit::from_line(""), None);
    }
}
