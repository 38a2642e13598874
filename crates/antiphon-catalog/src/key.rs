//! A session's name in the store: a hash, so that an agent's own name for a session is never a
//! path.

use std::fmt;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A session's name in the store: 32 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

const DIGITS: usize = 32;

impl Key {
    /// The key of the session that an agent knows by this id.
    pub fn of(agent: &str, native_id: &str) -> Self {
        Self::of_time(agent, native_id, 0)
    }

    /// The key of a session that was recorded before, this many times.
    pub fn of_time(agent: &str, native_id: &str, time: u32) -> Self {
        let mut hasher = blake3::Hasher::new();
        // The length keeps two pairs of strings with the same concatenation apart.
        hasher.update(&(agent.len() as u64).to_le_bytes());
        hasher.update(agent.as_bytes()).update(native_id.as_bytes());
        if time > 0 {
            hasher.update(&[0]).update(&time.to_le_bytes());
        }
        Self::from_hash(&hasher.finalize())
    }

    /// A key for a session without a native id. Process id and time make it unique.
    #[expect(clippy::disallowed_methods, reason = "a moment that makes a name, and is never told")]
    pub fn unique() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{} {} {count}", now.as_nanos(), process::id());
        Self::from_hash(&blake3::hash(name.as_bytes()))
    }

    /// Parses what [`as_str`](Self::as_str) returns.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == DIGITS && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// The key of a session's folder in the store; `None` for a folder that is not the store's.
    pub fn of_folder(path: &Path) -> Option<Self> {
        Self::parse(path.file_name()?.to_str()?)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn from_hash(hash: &blake3::Hash) -> Self {
        let mut hex = hash.to_hex().to_string();
        hex.truncate(DIGITS);
        Self(hex)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
