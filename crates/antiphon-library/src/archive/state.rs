//! `session.json`, the record of a session: whose files a folder contains, where they came from,
//! and their hashes.
//!
//! It ends with a checksum over itself. A damaged or missing record is reconstructed from the
//! copies, so the session does not vanish, and the next `sync` writes it again.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use antiphon_catalog::Key;
use antiphon_sources::format_of;
use serde::{Deserialize, Serialize};

use super::bytes::{self, Bytes};
use super::generation::{generation_name, generations, plain_name};
use super::pack;
use super::sizes::{has_changed_lately, size};
use super::sums::Sums;

/// The name of the record.
pub(crate) const STATE_FILE: &str = "session.json";
/// The name of the file with the stamp: what the sources were like when they were last copied.
pub(crate) const STAMP_FILE: &str = "stamp";

const CHECKSUM_BEFORE: &str = ",\"checksum\":\"";
const CHECKSUM_BEHIND: &str = "\"}";
const CHECKSUM_DIGITS: usize = 16;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) session_id: String,
    #[serde(with = "antiphon_sources::name::path")]
    pub(super) source: PathBuf,
    /// The name of the main file within a generation; `None` if it is the name of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) main: Option<String>,
    /// How much was copied into the newest generation.
    pub(super) bytes: u64,
    /// Whether every file beside the main file was examined for this generation.
    pub(super) looked_beside: bool,
    /// Every copy, by its name in the session's folder. Older versions did not record them.
    #[serde(default)]
    pub(super) files: BTreeMap<String, FileCopy>,
}

/// A copy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileCopy {
    #[serde(flatten)]
    pub(super) sums: Sums,
    /// Whether the hashes are of compressed bytes, because the file could not be decompressed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) is_raw: bool,
    /// The original name of the file, if the copy has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) was: Option<Name>,
}

impl FileCopy {
    /// Whether the agent had compressed the file, so that its bytes are kept as they were.
    pub(super) fn is_packed_by_agent(&self) -> bool {
        let ending = self.was.as_ref().and_then(|was| was.0.extension());
        ending.is_some_and(|ending| ending == "zst")
    }
}

/// The original name of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Name(#[serde(with = "antiphon_sources::name::path")] pub(super) PathBuf);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// The record in a session's folder.
#[derive(Debug)]
pub(super) enum Found {
    Whole(State),
    /// Reconstructed, because the record is damaged, or missing although there are copies.
    MadeUp(State),
    Nothing,
}

impl Found {
    pub(super) fn state(self) -> Option<State> {
        match self {
            Self::Whole(state) | Self::MadeUp(state) => Some(state),
            Self::Nothing => None,
        }
    }
}

impl State {
    /// Reads the record, or reconstructs it. The path of the folder says which session it may be.
    pub(super) fn find(place: &dyn Bytes, folder: &Path) -> Found {
        let bytes = bytes::read(place, STATE_FILE);
        let (whole, left) = match &bytes {
            Ok(bytes) => (Self::parse(bytes), serde_json::from_slice(bytes).ok()),
            Err(_) => (None, None),
        };
        match whole {
            Some(state) => Found::Whole(state),
            None if generations(place).is_empty() => Found::Nothing,
            // It may be in the middle of its first copy.
            None if bytes.is_err() && has_changed_lately(size(folder).1) => Found::Nothing,
            None => Found::MadeUp(Self::made_up(place, folder, left.unwrap_or_default())),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        let Some((body, sum)) = text
            .strip_suffix(CHECKSUM_BEHIND)
            .and_then(|text| text.split_at_checked(text.len().checked_sub(CHECKSUM_DIGITS)?))
            .and_then(|(body, sum)| Some((body.strip_suffix(CHECKSUM_BEFORE)?, sum)))
        else {
            // Older versions wrote neither a checksum nor the hashes of copies.
            let state: Self = serde_json::from_str(text).ok()?;
            return Some(state).filter(|_| !text.contains("\"files\""));
        };
        (checksum(body) == sum).then(|| serde_json::from_str(text).ok())?
    }

    pub(super) fn to_text(&self) -> io::Result<String> {
        let text = serde_json::to_string(self).map_err(io::Error::other)?;
        let body = text.strip_suffix('}').unwrap_or(&text);
        Ok(format!("{body}{CHECKSUM_BEFORE}{}{CHECKSUM_BEHIND}", checksum(body)))
    }

    /// Reconstructs the record from the copies, and from plausible values of the damaged one.
    fn made_up(place: &dyn Bytes, folder: &Path, left: Self) -> Self {
        let newest = generation_name(generations(place).into_iter().max().unwrap_or(1));
        let names = names(place, &newest);
        let left_main = left.main.clone().or_else(|| {
            let name = left.source.file_name()?.to_str()?;
            Some(plain_name(name).to_owned())
        });
        let main = left_main.filter(|main| names.contains(main));
        let main = main.or_else(|| likely_main(folder, &folder.join(newest), &names));
        Self {
            session_id: left.session_id,
            source: left.source,
            main,
            bytes: 0,
            looked_beside: false,
            // The damaged hashes cannot be trusted.
            files: BTreeMap::new(),
        }
    }
}

/// The names of the copies in a generation, the shortest paths first.
fn names(place: &dyn Bytes, generation: &str) -> Vec<String> {
    let names = place.list(generation).into_iter();
    let own = names.filter_map(|name| Some(name.split_once('/')?.1.to_owned()));
    let mut names: Vec<String> = own.map(|name| plain_name(&name).to_owned()).collect();
    names.sort_by_key(|name| (name.matches('/').count(), name.clone()));
    names.dedup();
    names
}

/// The main file: the one whose name gives the folder's key, or else the first in the agent's
/// format.
fn likely_main(folder: &Path, generation: &Path, names: &[String]) -> Option<String> {
    let agent = folder.parent()?.file_name()?.to_str()?;
    let format = antiphon_formats::find(agent)?;
    let key = folder.file_name()?.to_str()?;
    let is_named = |name: &&String| {
        let known = format.layout.kept.as_ref().and_then(|kept| (kept.session)(name));
        let file = name.rsplit('/').next().unwrap_or(name);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let mut ids = known.into_iter().chain([stem]);
        ids.any(|id| Key::of(agent, id).as_str() == key)
    };
    let is_alike = |name: &&String| {
        let path = generation.join(name);
        let path = if path.is_file() { path } else { pack::packed(&path) };
        format_of(&path).ok().flatten().is_some_and(|it| it.name == agent)
    };
    names.iter().find(is_named).or_else(|| names.iter().find(is_alike)).cloned()
}

fn checksum(body: &str) -> String {
    let hash = blake3::hash(body.as_bytes()).to_hex();
    hash.get(..CHECKSUM_DIGITS).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let copy = FileCopy { sums: Sums::of(b"words"), ..FileCopy::default() };
        let state = State {
            session_id: "s".to_owned(),
            source: "/srv/agent/s.jsonl".into(),
            files: BTreeMap::from([("000001/s.jsonl".to_owned(), copy)]),
            ..State::default()
        };
        let text = state.to_text().unwrap();
        assert_eq!(State::parse(text.as_bytes()).as_ref(), Some(&state));
        for bit in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(State::parse(&bytes), None, "{}", String::from_utf8_lossy(&bytes));
        }
        for end in 0..text.len() {
            assert_eq!(State::parse(&text.as_bytes()[..end]), None);
        }
    }

    #[test]
    fn what_an_older_version_wrote_is_read() {
        let old = r#"{"session_id":"s","source":"/a/s.jsonl","bytes":7,"looked_beside":true}"#;
        assert_eq!(State::parse(old.as_bytes()).unwrap().bytes, 7);
    }
}
