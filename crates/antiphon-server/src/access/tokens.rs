//! Tokens: 256 random bits each, of which only a hash is kept.
//!
//! The file is read again whenever it has changed, so a token counts as soon as it is made and no
//! longer than until it is revoked, on servers that run already.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use antiphon_journal::{Clock as _, SystemClock, regular};
use antiphon_model::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::lock;

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Every GET.
    Read,
    /// Only what comes in: new sessions, spans, and events of sessions that this token made.
    Write,
    /// Everything.
    Admin,
}

impl Scope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// A token as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    name: String,
    pub(crate) scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_ms: Option<i64>,
    /// The hash of the token, in hex.
    hash: String,
}

/// A token as `token ls` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedToken {
    /// What it is called.
    pub name: String,
    /// What it allows: `read`, `write` or `admin`.
    pub scope: &'static str,
    /// When it stops counting; null if it does not.
    pub expires_at: Option<Timestamp>,
}

#[derive(Debug, Error)]
pub enum TokenError {
    #[error("there is already a token named `{0}`")]
    Taken(String),
    #[error("there is no token named `{0}`")]
    Unknown(String),
    #[error("the file of tokens cannot be read: {0}")]
    Unreadable(String),
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: io::Error },
    #[error("the system gives no random numbers")]
    Random,
}

/// The tokens of a store.
#[derive(Debug)]
pub struct Tokens {
    folder: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The length and the time of the file that was read.
    state: Option<(u64, SystemTime)>,
    tokens: Vec<Token>,
    /// Which token made a session, by the session's key.
    makers: BTreeMap<String, String>,
    makers_state: Option<(u64, SystemTime)>,
}

const FILE: &str = "tokens.json";
const MAKERS_FILE: &str = "made-by-token.jsonl";

/// 256 random bits, in hex.
pub(crate) fn random_word() -> Result<String, TokenError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| TokenError::Random)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Token {
    fn is_current(&self) -> bool {
        self.expires_ms.is_none_or(|end| SystemClock.now().as_millis() < end)
    }

    /// Whether this is the token. The comparison takes as long whatever they have in common.
    fn is(&self, hash: blake3::Hash) -> bool {
        blake3::Hash::from_hex(&self.hash).is_ok_and(|own| own == hash)
    }

    /// Something that tells this token from any other, and says nothing of it.
    pub(crate) fn id(&self) -> &str {
        self.hash.get(..16).unwrap_or_default()
    }
}

impl Tokens {
    pub fn at(store: &Path) -> Self {
        Self { folder: store.to_owned(), known: Mutex::default() }
    }

    /// Makes a token; gives it to whoever asked, and to nobody afterwards.
    pub fn create(
        &self,
        name: Option<&str>,
        scope: Scope,
        lives_ms: Option<i64>,
    ) -> Result<String, TokenError> {
        let word = random_word()?;
        let expires_ms = lives_ms.map(|ms| SystemClock.now().as_millis().saturating_add(ms));
        let hash = blake3::hash(word.as_bytes()).to_hex().to_string();
        self.change(|tokens| {
            // One that is over may be replaced.
            tokens.retain(Token::is_current);
            let is_taken = |name: &str| tokens.iter().any(|token| token.name == name);
            let name = match name {
                Some(name) if is_taken(name) => return Err(TokenError::Taken(name.to_owned())),
                Some(name) => name.to_owned(),
                None => {
                    let names = (1..).map(|number: u32| format!("token-{number}"));
                    names.into_iter().find(|name| !is_taken(name)).unwrap_or_default()
                }
            };
            tokens.push(Token { name, scope, expires_ms, hash });
            Ok(())
        })?;
        Ok(word)
    }

    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        self.change(|tokens| {
            let before = tokens.len();
            tokens.retain(|token| token.name != name);
            if tokens.len() == before { Err(TokenError::Unknown(name.to_owned())) } else { Ok(()) }
        })
    }

    /// The tokens that count now.
    pub fn list(&self) -> Result<Vec<ListedToken>, TokenError> {
        let tokens = self.read()?.into_iter().filter(Token::is_current);
        let listed = |token: Token| ListedToken {
            name: token.name,
            scope: token.scope.as_str(),
            expires_at: token.expires_ms.map(Timestamp::from_millis),
        };
        Ok(tokens.map(listed).collect())
    }

    /// The token that somebody presents, if it counts now.
    pub(crate) fn find(&self, word: &str) -> Option<Token> {
        let hash = blake3::hash(word.as_bytes());
        self.current(|token| token.is(hash))
    }

    /// The token with that id, if it still counts.
    pub(crate) fn by_id(&self, id: &str) -> Option<Token> {
        self.current(|token| token.id() == id)
    }

    fn current(&self, is_it: impl Fn(&Token) -> bool) -> Option<Token> {
        let mut known = lock(&self.known);
        let state = state(&self.folder.join(FILE));
        if state != known.state {
            known.tokens = self.read().unwrap_or_default();
            known.state = state;
        }
        known.tokens.iter().find(|token| is_it(token)).filter(|it| it.is_current()).cloned()
    }

    /// Remembers which token made a session.
    pub(crate) fn remember(&self, session: &str, token: &Token) -> io::Result<()> {
        let made = Made { session: session.to_owned(), token: token.id().to_owned() };
        let mut line = serde_json::to_vec(&made)?;
        line.push(b'\n');
        let mut file = private().append(true).create(true).open(self.folder.join(MAKERS_FILE))?;
        file.write_all(&line)?;
        to_disk(&file)
    }

    /// Whether that token made the session.
    pub(crate) fn has_made(&self, session: &str, token: &Token) -> bool {
        let path = self.folder.join(MAKERS_FILE);
        let mut known = lock(&self.known);
        let state = state(&path);
        if state != known.makers_state {
            let text = regular::read_text(&path).unwrap_or_default();
            let made = text.lines().filter_map(|line| serde_json::from_str::<Made>(line).ok());
            known.makers = made.map(|made| (made.session, made.token)).collect();
            known.makers_state = state;
        }
        known.makers.get(session).is_some_and(|maker| maker == token.id())
    }

    fn read(&self) -> Result<Vec<Token>, TokenError> {
        let text = match regular::read_text(&self.folder.join(FILE)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(TokenError::Unreadable(error.to_string())),
        };
        serde_json::from_str(&text).map_err(|error| TokenError::Unreadable(error.to_string()))
    }

    /// Replaces the file as a whole, while nobody else does.
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Token>) -> Result<(), TokenError>,
    ) -> Result<(), TokenError> {
        let path = self.folder.join(FILE);
        let failed = |source| TokenError::Write { path: path.clone(), source };
        make_private_folder(&self.folder).map_err(failed)?;
        let mut options = private();
        options.write(true).create(true).truncate(false);
        let guard = options.open(self.folder.join("tokens.lock")).map_err(failed)?;
        guard.lock().map_err(failed)?;
        let mut tokens = self.read()?;
        change(&mut tokens)?;
        let draft = self.folder.join("tokens.json.new");
        let text = serde_json::to_vec_pretty(&tokens).map_err(|it| failed(it.into()))?;
        let mut file =
            private().write(true).create(true).truncate(true).open(&draft).map_err(failed)?;
        file.write_all(&text).and_then(|()| to_disk(&file)).map_err(failed)?;
        fs::rename(&draft, &path).map_err(failed)
    }
}

/// One line of the file that says which token made which session.
#[derive(Serialize, Deserialize)]
struct Made {
    session: String,
    token: String,
}

fn state(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// Waits until a file is on the disk.
#[expect(
    clippy::disallowed_methods,
    reason = "these files are not logs; a failure is told at once"
)]
pub(crate) fn to_disk(file: &fs::File) -> io::Result<()> {
    file.sync_all()
}

/// Files that only their owner may read.
pub(crate) fn private() -> fs::OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

#[cfg(test)]
mod tests;
