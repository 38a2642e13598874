//! The texts of sessions. The catalogue holds none of them: it asks for those that it needs.

use antiphon_model::{Bodies, Session};

use crate::Key;

/// Whoever keeps sessions gives their texts.
///
/// What cannot be read is not there, and who gives the texts takes note of it: an answer is only as
/// whole as they are.
pub trait Texts: Sync {
    /// A session, read whole.
    fn session(&self, key: &Key) -> Option<Text>;

    /// Some blocks of a file of a session, by their numbers ([`blocks`](fn@crate::blocks)).
    fn blocks(&self, key: &Key, file: &str, numbers: &[u32]) -> Option<Vec<Block>>;

    /// Whether a line of a session tells what its event says without the lines before it.
    fn stands_alone(&self, key: &Key) -> bool;

    /// What a line of a file tells, read alone.
    fn line(&self, key: &Key, file: &str, line: Vec<u8>) -> Option<Text>;
}

/// A session, or a line of one, with its words.
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
