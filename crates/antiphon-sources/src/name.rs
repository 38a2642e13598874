//! File names as text, and as the store writes them.
//!
//! An agent's file may have any name that a file system allows: one that is not valid UTF-8, or one
//! so long that nothing can be appended. In the text of such a name every invalid byte is written
//! distinctly, so that different names stay different. In the store a long name is cut and a hash
//! is appended; the original name is recorded beside the copy (`archive/state.rs`).

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A longer name is cut. Most file systems allow 255 bytes, and the name of a copy has one or two
/// suffixes.
const PART_BYTES_MAX: usize = 180;
/// How much of a longer name is kept.
const LEFT_BYTES: usize = 80;
/// A longer part after the first dot is not treated as an extension.
const ENDING_BYTES_MAX: usize = 40;

/// A name as text. A byte that is not valid UTF-8 becomes a replacement character and two hex
/// digits.
pub fn text(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str() {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\u{fffd}{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// The name of a copy in the store, for a name with `/` between folders.
pub fn stored(name: &str) -> Cow<'_, str> {
    if name.split('/').all(|part| part.len() <= PART_BYTES_MAX) {
        return Cow::Borrowed(name);
    }
    let parts = name.split('/').map(|part| match part.len() <= PART_BYTES_MAX {
        true => Cow::Borrowed(part),
        false => Cow::Owned(shorter(part)),
    });
    Cow::Owned(parts.collect::<Vec<_>>().join("/"))
}

/// The stem is cut in the same way whatever the extension, so a folder that is named after a file
/// keeps matching it.
fn shorter(part: &str) -> String {
    let (stem, ending) = match part.split_once('.') {
        Some((stem, ending)) if ending.len() <= ENDING_BYTES_MAX => (stem, Some(ending)),
        _ => (part, None),
    };
    let mut end = LEFT_BYTES.min(stem.len());
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    let hash = blake3::hash(stem.as_bytes()).to_hex();
    let (left, hash) = (stem.get(..end).unwrap_or_default(), hash.get(..16).unwrap_or_default());
    let ending = ending.map(|ending| format!(".{ending}")).unwrap_or_default();
    format!("{left}~{hash}{ending}")
}

/// The last parts of a path: as many as `name` has.
pub fn last_parts(path: &Path, name: &str) -> PathBuf {
    let count = name.split('/').count();
    let parts: Vec<&OsStr> = path.iter().rev().take(count).collect();
    parts.into_iter().rev().collect()
}

/// A path in JSON: text, or hex bytes if it is not valid UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes { bytes: String },
}

/// For `#[serde(with)]`.
pub mod path {
    use super::{Deserialize as _, Path, PathBuf, Serialize as _, Written, from_bytes, hex, unhex};

    pub fn serialize<S: serde::Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        let written = match path.to_str() {
            Some(text) => Written::Text(text.to_owned()),
            None => Written::Bytes { bytes: hex(path.as_os_str().as_encoded_bytes()) },
        };
        written.serialize(to)
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match Written::deserialize(from)? {
            Written::Text(text) => text.into(),
            Written::Bytes { bytes } => from_bytes(unhex(&bytes)).into(),
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    pairs.iter().filter_map(|[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

#[cfg(unix)]
fn from_bytes(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn names_that_are_no_text_stay_apart_and_come_back() {
        use std::os::unix::ffi::OsStrExt as _;
        let names = [&b"a\xff.jsonl"[..], b"a\xfe.jsonl", b"a.jsonl", "a\u{fffd}.jsonl".as_bytes()];
        let texts: Vec<String> =
            names.iter().map(|name| text(OsStr::from_bytes(name)).into_owned()).collect();
        assert_eq!(texts, ["a\u{fffd}ff.jsonl", "a\u{fffd}fe.jsonl", "a.jsonl", "a\u{fffd}.jsonl"]);
        #[derive(Serialize, Deserialize)]
        struct Row(#[serde(with = "path")] PathBuf);
        for name in names {
            let row = Row(OsStr::from_bytes(name).into());
            let json = serde_json::to_string(&row).unwrap();
            assert_eq!(serde_json::from_str::<Row>(&json).unwrap().0, row.0, "{json}");
        }
    }

    #[test]
    fn a_long_name_is_cut_and_stays_its_own() {
        let long = "x".repeat(240);
        let stored_long = stored(&long).into_owned();
        assert!(stored_long.len() < 120);
        assert_eq!(stored(&format!("{long}.jsonl")), format!("{stored_long}.jsonl"));
        assert_eq!(stored(&format!("{long}/a/b.jsonl")), format!("{stored_long}/a/b.jsonl"));
        assert_ne!(stored(&format!("{long}y")), stored_long);
        assert!(stored(&"ü.ä".repeat(80)).len() < 255);
        assert_eq!(stored("a/b.jsonl"), "a/b.jsonl");
        assert_eq!(
            last_parts(Path::new("/r/s/a/b.jsonl.zst"), "a/b.jsonl"),
            Path::new("a/b.jsonl.zst")
        );
    }
}
