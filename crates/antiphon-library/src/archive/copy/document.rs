//! Copying a document: the copy is the latest version of it, and never shrinks.

use std::io::{self, Read as _};
use std::path::Path;

use antiphon_model::json;
use antiphon_sources::read_bytes;

use super::super::bytes;
use super::super::pack;
use super::super::sizes::{has_changed_lately, size};
use super::super::state::FileCopy;
use super::super::sums::Sums;
use super::{Job, Step, is_damage};

impl Job<'_> {
    /// Copies a file that the agent has compressed. One that cannot be decompressed may be
    /// incomplete.
    pub(super) fn whole(&mut self) -> io::Result<Step> {
        let Some(mut source) = self.open()? else { return Ok(Step::Done) };
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes)?;
        let packed = pack::packed_name(self.name);
        let there = read_bytes(&self.member.path);
        let now = match &there {
            Ok(there) => FileCopy { sums: Sums::of(there), ..FileCopy::default() },
            Err(_) => FileCopy { sums: Sums::of(&bytes), is_raw: true, was: None },
        };
        let is_same = || bytes::read(self.bytes, &packed).is_ok_and(|known| known == bytes);
        if !self.is_there() && is_same() {
            self.known = Some(now);
            return Ok(Step::Done);
        }
        let is_kept = self.is_there() || self.bytes.len(&packed).is_some();
        if is_kept && there.is_err() {
            return Ok(self.half());
        }
        let len = there.as_ref().map_or(0, Vec::len);
        match self.unpacked(if self.is_there() { self.name } else { &packed }) {
            Ok(known) if known.len() > len && is_kept => return Ok(Step::Rewritten),
            Err(error) if error.kind() != io::ErrorKind::NotFound && !is_damage(&error) => {
                return Err(error);
            }
            Ok(_) | Err(_) => self.replace(&packed, &bytes)?,
        }
        // If both forms existed, the uncompressed one would count.
        self.bytes.remove(self.name)?;
        self.known = Some(now);
        Ok(Step::Done)
    }

    /// Copies a document, unless it has become shorter: then something would be lost from the copy.
    pub(super) fn document(&mut self, bytes: Vec<u8>) -> io::Result<Step> {
        let packed = pack::packed_name(self.name);
        let is_packed = pack::is_packed(self.bytes, self.name);
        let now = Sums::of(&bytes);
        let known = match self.unpacked(if is_packed { &packed } else { self.name }) {
            Ok(known) if known == bytes => {
                let is_right = || pack::has_right_table(self.bytes, self.name).unwrap_or(false);
                if !is_packed || !self.is_doubted || is_right() {
                    self.now(now);
                    return Ok(Step::New(bytes));
                }
                Some(known)
            }
            Ok(known) => Some(known),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if !is_damage(&error) => return Err(error),
            // The damaged copy was of this same document.
            Err(_) if self.sums() == Some(&now) => None,
            Err(_) => return Ok(Step::Rewritten),
        };
        let is_whole = known.as_deref().is_some_and(|known| !is_half(known, self.name));
        if is_whole && is_half(&bytes, self.name) {
            return Ok(self.half());
        }
        let is_what_it_was = self.sums() == Some(&now);
        if known.is_some_and(|known| known.len() > bytes.len()) && !is_what_it_was {
            return Ok(Step::Rewritten);
        }
        self.is_mended = is_what_it_was;
        self.replace(self.name, &bytes)?;
        self.bytes.remove(&packed)?;
        self.now(now);
        Ok(Step::New(bytes))
    }

    /// An incomplete document may be completed later; if not, it is kept in addition to the earlier
    /// version.
    fn half(&self) -> Step {
        match has_changed_lately(size(&self.member.path).1) {
            true => Step::Half,
            false => Step::Rewritten,
        }
    }
}

/// Whether a document is incomplete.
fn is_half(bytes: &[u8], name: &str) -> bool {
    let is_json = Path::new(name).extension().is_some_and(|ending| ending == "json");
    let text = String::from_utf8_lossy(bytes);
    is_json && json::check(text.trim_start_matches('\u{feff}')).is_err()
}
