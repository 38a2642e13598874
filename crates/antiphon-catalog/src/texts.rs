//! The texts of sessions. The catalogue contains none of them: it asks for those that it needs.

use antiphon_model::{Bodies, Session};

use crate::Key;

/// The provider of the texts of sessions.
///
/// A text that cannot be read is `None`, and the implementation notes the failure, because an
/// answer is only as complete as its texts.
pub trait Texts: Sync {
    /// A session, read whole.
    fn session(&self, key: &Key) -> Option<Text>;

    /// Some blocks of a file of a session, by their numbers ([`blocks`](fn@crate::blocks)).
    fn blocks(&self, key: &Key, file: &str, numbers: &[u32]) -> Option<Vec<Block>>;

    /// Whether a line of a session can be understood without the lines before it.
    fn stands_alone(&self, key: &Key) -> bool;

    /// The events of a line of a file, read alone.
    fn line(&self, key: &Key, file: &str, line: Vec<u8>) -> Option<Text>;
}

/// A session, or a line of one, with its texts.
pub struct Text {
    pub session: Session,
    pub bodies: Box<dyn Bodies>,
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Text({} events)", self.session.len())
    }
}

/// A block of a file, and where it begins there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub offset: u64,
    pub bytes: Vec<u8>,
}
