//! Why a session cannot be opened or written.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::database::DatabaseError;

#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Log(#[from] antiphon_journal::Error),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("cannot read `{path}`")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: io::Error },
}
