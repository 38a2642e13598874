//! Copying lines: the copy is always a prefix of its source, to the byte. A line that is being
//! written is copied as far as it exists, and the rest of it next time.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::Instant;

use super::super::bytes::{Settled, Stored};
use super::super::pack;
use super::super::sums::{Summing, Sums};
use super::{Form, Job, Step, is_damage};

/// How many bytes before the end of a copy must be equal in the source.
const COMPARED_BYTES: usize = 4 << 10;
/// How much is copied between checks of the deadline.
const CHUNK_BYTES: usize = 256 << 10;
/// A longer file is not held in memory.
const NEW_BYTES_MAX: u64 = 64 << 20;

impl Job<'_> {
    /// Appends what is missing in the copy.
    pub(super) fn lines(&mut self) -> io::Result<Step> {
        let Some(mut source) = self.open()? else { return Ok(Step::Done) };
        let (bytes, name) = (self.bytes, self.name);
        if pack::is_packed(bytes, name) {
            // Decompressing takes time in proportion to the file; a hook leaves that to the
            // background.
            if self.deadline.is_some() {
                return Ok(Step::OutOfTime);
            }
            let packed = zstd::stream::read::Decoder::new(bytes.open(&pack::packed_name(name))?);
            let is_right =
                self.is_doubted.then(|| pack::has_right_table(bytes, name).unwrap_or(false));
            match packed.and_then(|packed| begins_with(&mut source, packed)) {
                Ok(Some(sums)) if is_right != Some(false) => {
                    let is_all = sums.len == source.metadata()?.len();
                    self.now(sums);
                    if is_all {
                        return Ok(Step::Done);
                    }
                    pack::unpack(bytes, name)?;
                }
                Err(error) if !is_damage(&error) => return Err(error),
                // The source or the copy has changed.
                Ok(_) | Err(_) => {
                    if !self.mend(&mut source)? {
                        return Ok(Step::Rewritten);
                    }
                }
            }
        }
        let length = source.metadata()?.len();
        // An empty source has no copy rather than an empty one.
        if !self.is_there() {
            if length == 0 {
                return Ok(Step::Done);
            }
            if self.form != Form::Growing && length <= NEW_BYTES_MAX {
                return self.new_lines(source, length);
            }
        }
        self.append(source)
    }

    fn append(&mut self, mut source: File) -> io::Result<Step> {
        let mut end = self.bytes.append(self.name)?;
        let mut copy = self.bytes.open(self.name)?;
        let copied = copy.seek(SeekFrom::End(0))?;
        let mut summing = match self.goes_on(&mut source, &mut *copy, copied)? {
            Some(summing) => summing,
            // Comparing all of it takes too long for a hook.
            None if self.deadline.is_some() => return Ok(Step::OutOfTime),
            None => {
                copy.rewind()?;
                if let Some(sums) = begins_with(&mut source, &mut copy)? {
                    self.now(sums);
                } else if self.mend(&mut source)? {
                    end = self.bytes.append(self.name)?;
                    copy = self.bytes.open(self.name)?;
                } else {
                    return Ok(Step::Rewritten);
                }
                let sums = self.sums().cloned().unwrap_or_default();
                let tail = read_from(&mut *copy, sums.tail_start(), sums.len)?;
                Summing::go_on(sums, &tail).ok_or(io::ErrorKind::InvalidData)?
            }
        };
        source.seek(SeekFrom::Start(summing.so_far().len))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let step = loop {
            let read = source.read(&mut chunk)?;
            if read == 0 {
                break Step::Done;
            }
            let bytes = chunk.get(..read).unwrap_or_default();
            end.write_all(bytes)?;
            summing.add(bytes);
            // Checked after a chunk and not before, so that the lines of one event are copied even
            // if time is up.
            if read == chunk.len() && self.deadline.is_some_and(is_over) {
                break Step::OutOfTime;
            }
        };
        self.now(summing.finish());
        Ok(step)
    }

    /// The hashes of a copy, if it is as it was written and ends like the same range of its source.
    fn goes_on(
        &self,
        source: &mut File,
        copy: &mut dyn Stored,
        copied: u64,
    ) -> io::Result<Option<Summing>> {
        let known = match self.sums() {
            Some(sums) => sums.clone(),
            None if copied == 0 => Sums::default(),
            None => return Ok(None),
        };
        if self.is_doubted || known.len != copied || source.metadata()?.len() < copied {
            return Ok(None);
        }
        let tail = read_from(copy, known.tail_start(), copied)?;
        let Some(summing) = Summing::go_on(known, &tail) else { return Ok(None) };
        let compared = copied.saturating_sub(COMPARED_BYTES as u64);
        let is_alike = read_from(source, compared, copied)? == read_from(copy, compared, copied)?;
        Ok(is_alike.then_some(summing))
    }

    /// Rewrites a damaged copy in uncompressed form, if the source still begins with the original
    /// content, so that nothing can be lost.
    fn mend(&mut self, source: &mut File) -> io::Result<bool> {
        let Some(sums) = self.sums().cloned().filter(|sums| sums.len > 0) else {
            return Ok(false);
        };
        source.rewind()?;
        if Sums::of_all(Read::by_ref(source).take(sums.len))? != sums {
            return Ok(false);
        }
        source.rewind()?;
        let mut left = Read::by_ref(source).take(sums.len);
        let mut out = self.bytes.create(self.name)?;
        io::copy(&mut left, &mut out)?;
        out.put(Settled::First)?;
        self.bytes.remove(&pack::packed_name(self.name))?;
        self.is_mended = true;
        Ok(true)
    }

    /// Copies a whole file that has no copy yet.
    fn new_lines(&mut self, source: File, length: u64) -> io::Result<Step> {
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        source.take(length).read_to_end(&mut bytes)?;
        if self.form == Form::Together || !pack::pack_new(self.bytes, self.name, &bytes)? {
            self.replace(self.name, &bytes)?;
        }
        self.now(Sums::of(&bytes));
        Ok(Step::New(bytes))
    }
}

/// If a source begins with all of a copy, the hashes of the copy.
fn begins_with(source: &mut File, mut copy: impl Read) -> io::Result<Option<Sums>> {
    let (mut own, mut theirs) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let mut summing = Summing::default();
    source.rewind()?;
    let mut is_alike = true;
    loop {
        let read = copy.read(&mut own)?;
        if read == 0 {
            return Ok(is_alike.then(|| summing.finish()));
        }
        // Compressed data is read to its end, where its checksum is.
        if is_alike {
            let (own, theirs) = (own.get(..read), theirs.get_mut(..read).unwrap_or_default());
            is_alike = match source.read_exact(theirs) {
                Ok(()) => own == Some(&*theirs),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
                Err(error) => return Err(error),
            };
            summing.add(own.unwrap_or_default());
        }
    }
}

fn read_from(mut file: &mut dyn Stored, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    Read::by_ref(&mut file).take(end.saturating_sub(start)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_over(deadline: Instant) -> bool {
    Instant::now() >= deadline
}
