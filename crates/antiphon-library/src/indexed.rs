//! From a stored session to its record in the catalogue.

use std::io;

use antiphon_catalog::{Index, MainFile, Origin, Record};
use antiphon_sources::{
    Bundle, COMPRESSED_SUFFIX, Error, LOG_FORMAT, Opened, Wanted, open_foreign,
};
use antiphon_views::Reading;

use crate::damaged::damage_of;
use crate::opened::open_with_files;
use crate::stored::Place;

/// Reads a session completely. One without events gets a record too, so that it is not read again
/// before it changes. Also returns what is damaged, if anything is.
pub(crate) fn record(place: &Place) -> Result<(Record, Option<String>), Error> {
    let mut index = Index::default();
    let opened = open_with_files(&place.main_file(), &mut |name, bytes| index.add(name, bytes))?;
    // A file of no known format is read as a log, but a copy is never a log.
    if place.origin == Origin::Archived && opened.format == LOG_FORMAT {
        let what = format!("not a valid {} session", place.agent.as_deref().unwrap_or_default());
        let source = io::Error::new(io::ErrorKind::InvalidData, what);
        return Err(Error::Read { path: place.main_file(), source });
    }
    let damage = damage_of(&opened.session, place.origin);
    let damage = damage.map(|problem| problem.message.clone());
    let name = match place.origin {
        Origin::Recorded => place.key.as_str(),
        Origin::Archived => &*opened.name,
    };
    Ok((assemble(place, name, &opened, index), damage))
}

/// Like [`record`], for a copy whose files are in memory; `None` for a format that needs more than
/// that.
pub(crate) fn record_of(
    place: &Place,
    name: &str,
    files: Vec<(String, Vec<u8>)>,
) -> Option<Record> {
    let mut index = Index::default();
    let mut tell = |name: &str, bytes: Option<&[u8]>| index.add(name, bytes);
    let bundle = Bundle::of(place.agent.as_deref()?, files, &mut tell)?;
    Some(assemble(place, name, &open_foreign(bundle, Wanted::Everything), index))
}

fn assemble(place: &Place, name: &str, opened: &Opened, index: Index) -> Record {
    let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
    let (main, parts) = main_files(index.names(), opened);
    let mut record = index.record(&place.subject(name, opened.format), &reading);
    (record.row.main, record.row.parts) = (main, parts);
    record
}

/// The main file of the session, and the main files of other sessions among its files. Only formats
/// that record who created a session have those.
fn main_files<'n>(
    names: impl Iterator<Item = &'n str>,
    opened: &Opened,
) -> (Option<MainFile>, Vec<MainFile>) {
    let format = antiphon_formats::find(opened.format).filter(|it| it.layout.made_by.is_some());
    let Some(kept) = format.and_then(|it| it.layout.kept.as_ref()) else {
        return (None, Vec::new());
    };
    let main_file = |(stream, name): (u32, &str)| {
        let name = name.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(name);
        // They are stored in one column, one per line.
        let session = (kept.session)(name).filter(|name| !name.contains('\n'))?.to_owned();
        Some(MainFile { session, len: opened.bodies.stream(stream)?.len() as u64 })
    };
    let mut files = (0..).zip(names);
    (files.next().and_then(main_file), files.filter_map(main_file).collect())
}
