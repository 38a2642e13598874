//! Handling a failed sync: a new segment takes over.
//!
//! It begins with the lines that may be lost, written again with the same seals, and gets its name
//! only when it is complete and durable. The previous segment is closed from then on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon_model::Place;

use crate::Error;
use crate::disk::{Creation, LogFile};
use crate::state::State;
use crate::sync::write_whole;

impl State {
    /// Makes a full segment durable before anything follows it. Returns `false` if that fails; then
    /// another segment takes over from it, at once or later.
    pub(crate) fn finish_segment(&mut self) -> bool {
        let Some(full) = self.file.as_ref().filter(|_| !self.durability.is_suspect()) else {
            return false;
        };
        let begun = self.durability.begin_sync(self.n);
        let is_durable = self.durability.end_sync(begun, &full.sync());
        if !is_durable {
            let _ = self.take_over();
        }
        is_durable
    }

    /// Makes an event from an earlier writer durable before it is acknowledged again.
    pub(crate) fn settle_inherited(&mut self, place: Place) -> Result<(), Error> {
        let folder = self.log.folder().to_owned();
        let segments = self.durability.inherited_segments(place);
        let segments = segments.map_err(|source| Error::sync(&folder, source))?;
        if segments == 0 {
            return Ok(());
        }
        for path in self.log.segments().take(segments) {
            if let Err(error) =
                self.disk.append(&path, Creation::IfMissing).and_then(|file| file.sync())
            {
                self.durability.inherited_failed(&error);
                return Err(Error::sync(&path, error));
            }
        }
        self.disk.sync_folder(&folder).map_err(|source| Error::sync(&folder, source))?;
        self.durability.inherited_synced();
        Ok(())
    }

    /// Creates a new segment with all lines that may be lost, and continues there.
    pub(crate) fn take_over(&mut self) -> Result<(), Error> {
        let mut log = self.log.clone();
        let next = log.add_segment();
        let file = self.write_replacement(&next)?;
        // It has its final name, so readers continue there: the previous segment is closed.
        self.log = log;
        self.file = Some(file);
        self.path = next;
        self.segment_bytes = self.durability.pending_bytes();
        self.tail_is_torn = false;
        let rewritten = self.find_rewritten();
        self.durability.replaced();
        let folder = self.log.folder();
        if let Err(source) = self.disk.sync_folder(folder) {
            return Err(Error::sync(folder, source));
        }
        let failure = self.durability.taken_over(self.n);
        self.note_takeover(rewritten, &failure);
        Ok(())
    }

    /// Writes the lines that may be lost to a file, and syncs it, before it gets its name.
    fn write_replacement(&self, next: &Path) -> Result<Arc<dyn LogFile>, Error> {
        let mut draft = next.as_os_str().to_owned();
        draft.push(".new");
        let draft = PathBuf::from(draft);
        // The file of an earlier attempt is useless; we hold the lock.
        let _ = self.disk.remove(&draft);
        let file = self
            .disk
            .append(&draft, Creation::New)
            .map_err(|source| Error::open(&draft, source))?;
        let made = self.fill(&*file, &draft).and_then(|()| {
            self.disk.rename(&draft, next).map_err(|source| Error::write(next, source))
        });
        if made.is_err() {
            let _ = self.disk.remove(&draft);
        }
        made.map(|()| file.into())
    }

    fn fill(&self, file: &dyn LogFile, path: &Path) -> Result<(), Error> {
        for (line, _) in self.durability.pending() {
            write_whole(file, line).map_err(|(source, _)| Error::write(path, source))?;
        }
        file.sync().map_err(|source| Error::sync(path, source))
    }

    /// Records where the rewritten lines are now, and counts them.
    fn find_rewritten(&mut self) -> usize {
        let (mut count, mut offset) = (0, 0);
        let stream = self.log.count().saturating_sub(1);
        for (line, id) in self.durability.pending() {
            if let Some(id) = id {
                let len = u32::try_from(line.len() - 1).unwrap_or(u32::MAX);
                self.ids.add(&id, Place { offset, len, stream });
            }
            count += 1;
            offset += line.len() as u64;
        }
        count
    }
}
