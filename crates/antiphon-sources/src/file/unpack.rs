//! Decompressing zstd, up to a limit.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use antiphon_model::on_processors;
use zstd::zstd_safe;

use super::Stopped;

/// Decompresses up to `most` bytes from memory.
pub(super) fn unpack(
    packed: &[u8],
    most: u64,
    unpacked: &mut Vec<u8>,
) -> io::Result<Option<Stopped>> {
    // Decompressing all frames at once is faster, if they are complete and fit.
    if let Some(whole) = at_once(packed, most) {
        *unpacked = whole;
        return Ok(None);
    }
    stream(packed, most, unpacked)
}

/// Decompresses up to `most` bytes while reading.
pub(super) fn stream(
    packed: impl Read,
    most: u64,
    unpacked: &mut Vec<u8>,
) -> io::Result<Option<Stopped>> {
    let decoder = zstd::stream::read::Decoder::new(packed)?;
    let stopped = decoder.take(most + 1).read_to_end(unpacked).err().map(Stopped::Packed);
    if unpacked.len() as u64 > most {
        unpacked.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        return Ok(Some(Stopped::TooLong { most }));
    }
    Ok(stopped)
}

/// Decompresses frames that state their length, several at a time; `None` if one does not state it,
/// is incomplete, or all together exceed `most`.
fn at_once(packed: &[u8], most: u64) -> Option<Vec<u8>> {
    /// A frame that claims a higher ratio than this is decompressed step by step instead.
    const RATIO_MAX: u64 = 256;
    const THREADS_MAX: usize = 4;
    /// Shorter data is decompressed before another thread would have started.
    const WORTH_BYTES: u64 = 2 << 20;
    let mut frames = Vec::new();
    let mut rest = packed;
    while !rest.is_empty() {
        let len = zstd_safe::find_frame_compressed_size(rest).ok()?;
        let (frame, behind) = rest.split_at_checked(len)?;
        rest = behind;
        let len = zstd_safe::get_frame_content_size(frame).ok()??;
        // Skippable frames have no content.
        if len > 0 {
            frames.push((frame, len));
        }
    }
    let total = frames.iter().map(|(_, len)| *len).fold(0_u64, u64::saturating_add);
    if total > most.min((packed.len() as u64).saturating_mul(RATIO_MAX)) {
        return None;
    }
    let mut unpacked = vec![0; usize::try_from(total).ok()?];
    let mut room = &mut *unpacked;
    let mut work = Vec::new();
    for (frame, len) in frames {
        let (own, behind) = room.split_at_mut_checked(usize::try_from(len).ok()?)?;
        room = behind;
        work.push((frame, Mutex::new(own)));
    }
    // The caller may be one of several threads, so a few threads each are enough.
    let threads = if total < WORTH_BYTES { 1 } else { THREADS_MAX };
    let is_damaged = AtomicBool::new(false);
    on_processors(threads, &work, |_, (frame, room)| {
        let mut room = room.lock().unwrap_or_else(PoisonError::into_inner);
        match zstd::bulk::decompress_to_buffer(frame, &mut room) {
            Ok(written) if written == room.len() => ControlFlow::Continue(()),
            Ok(_) | Err(_) => {
                is_damaged.store(true, Ordering::Relaxed);
                ControlFlow::Break(())
            }
        }
    });
    drop(work);
    (!is_damaged.into_inner()).then_some(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_unpacked_in_their_order() {
        let line = |number: usize| format!("{{\"n\":{}}}\n", number * 7919 % 1013);
        let lines = |number: usize| (0..number % 7 * 9000).map(line).collect::<String>();
        let (mut packed, mut wanted) = (Vec::new(), String::new());
        for number in 0..23 {
            wanted += &lines(number);
            packed.extend(zstd::bulk::compress(lines(number).as_bytes(), 1).unwrap());
        }
        let table = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        packed.extend(table);
        assert_eq!(at_once(&packed, 1 << 24).unwrap(), wanted.as_bytes());
        assert_eq!(at_once(&packed, 100), None, "too long");
        assert_eq!(at_once(&packed[..packed.len() - 30], 1 << 24), None, "cut");
        let at = packed.len() / 2;
        packed[at] ^= 0x55;
        let read = at_once(&packed, 1 << 24);
        assert!(read.is_none_or(|read| read.len() == wanted.len()), "damaged");
    }

    #[test]
    fn what_unpacks_without_end_is_cut() {
        let packed = zstd::encode_all(&*vec![0; 10 << 20], 3).unwrap();
        let mut unpacked = Vec::new();
        let stopped = unpack(&packed, 1 << 20, &mut unpacked).unwrap();
        assert!(matches!(stopped, Some(Stopped::TooLong { most: 0x10_0000 })));
        assert_eq!(unpacked.len(), 1 << 20);
    }
}
