//! A session to share: one self-contained HTML page, or Markdown.
//!
//! A page is written while the session is read, one text at a time, so a session may be larger than
//! memory. Recorded text is hostile and may contain secrets: it becomes a `Clean` text first, and
//! only that can be written. This crate does no I/O of its own; it writes to what it is given.

mod answer;
mod call;
mod content;
mod facts;
mod html;
mod markdown;
mod text;
mod walk;

use std::io;

use antiphon_model::{BodyError, Reading, Zone};
use antiphon_views::Prices;
use thiserror::Error;

pub use html::write_html;
pub use markdown::{code_span, escape_markdown, write_markdown};

/// The session to write, and how.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    pub reading: Reading<'a>,
    pub session_id: &'a str,
    /// What the program that ran the session is called.
    pub product: &'a str,
    /// The folder of the project, which paths are relative to.
    pub root: Option<&'a str>,
    pub prices: &'a Prices,
    /// The zone in which times are written.
    pub zone: &'a Zone,
    /// Removes secrets from a text. Nothing is cut before it has been through this.
    pub redact: &'a dyn Fn(&str) -> String,
    /// Whether the page says that secrets were removed.
    pub is_redacted: bool,
    /// Whether pictures are included. Nobody can remove a secret from a picture.
    pub with_images: bool,
}

impl std::fmt::Debug for Page<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Page({})", self.session_id)
    }
}

#[derive(Debug, Error)]
pub enum PageError {
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Write(#[from] io::Error),
}

#[cfg(test)]
mod tests;
