//! Who wrote the lines of a file: which sessions to ask, and under which names the file was known.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use antiphon_catalog::{CatalogError, SessionQuery, SessionSort};
use antiphon_views::{Blame, blame, blame_as_left};
use thiserror::Error;

use crate::catalogue::Progress;
use crate::edits::{EditedSessions, add};
use crate::project::repository_around;
use crate::{LeftOut, List, Store, StoredSession};

/// Who wrote each line of a file, and the sessions that could not be asked.
#[derive(Debug)]
pub struct BlamedFile {
    pub blame: Blame,
    pub left_out: Vec<LeftOut>,
}

#[derive(Debug, Error)]
pub enum BlameError {
    #[error("cannot read `{path}`")]
    Read { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// How long to wait for what git knows about earlier names.
const GIT_TIME: Duration = Duration::from_millis(400);

impl Store {
    /// Who wrote the lines of the file at `path`, as it is now.
    pub fn blame(
        &self,
        path: &Path,
        range: Option<&RangeInclusive<usize>>,
        progress: Progress<'_>,
    ) -> Result<BlamedFile, BlameError> {
        let read = |source| BlameError::Read { path: path.to_owned(), source };
        let path = path.canonicalize().map_err(read)?;
        let bytes = std::fs::read(&path).map_err(read)?;
        let text = String::from_utf8_lossy(&bytes);
        let root = repository_around(path.parent().unwrap_or(Path::new("/")));
        let relative = slashes(path.strip_prefix(&root).unwrap_or(&path));
        let earlier = earlier_names(&root, &relative);
        let mut edited = EditedSessions::default();
        let mut asked: BTreeSet<PathBuf> = BTreeSet::new();
        // A session that renamed the file leads to those that knew it under its former name.
        let mut names: Vec<String> = vec![relative.clone()];
        names.extend(earlier.iter().cloned());
        let mut searched: BTreeSet<String> = BTreeSet::new();
        while let Some(name) = names.pop() {
            let file_name = name.rsplit('/').next().unwrap_or(&name).to_lowercase();
            if !searched.insert(file_name.clone()) {
                continue;
            }
            let query = SessionQuery { file: Some(file_name), ..SessionQuery::default() };
            let List { sessions, left_out, .. } =
                self.list(&query, None, SessionSort::Started, usize::MAX, progress)?;
            edited.left_out.extend(left_out);
            for listed in sessions.iter().rev() {
                let session = &listed.session;
                let Some(base) = base_of(session, &root) else { continue };
                if asked.insert(session.path()) {
                    add(&mut edited, session, Some(&base));
                }
            }
            names.extend(edited.log.names_of(&name));
        }
        let EditedSessions { log, left_out } = edited;
        Ok(BlamedFile { blame: blame(log, &relative, &earlier, &text, range), left_out })
    }
}

impl Store {
    /// Who wrote the lines of the file at `path` in the project at `project`, as the last kept
    /// session left it: no file of a project is read. Nothing, if no session wrote the whole of it.
    pub fn blame_as_left(
        &self,
        project: &str,
        path: &str,
        progress: Progress<'_>,
    ) -> Result<Option<BlamedFile>, CatalogError> {
        let root = Path::new(project);
        let mut edited = EditedSessions::default();
        let mut asked: BTreeSet<PathBuf> = BTreeSet::new();
        let (mut names, mut searched) = (vec![path.to_owned()], BTreeSet::new());
        while let Some(name) = names.pop() {
            let file_name = name.rsplit('/').next().unwrap_or(&name).to_lowercase();
            if !searched.insert(file_name.clone()) {
                continue;
            }
            let query = SessionQuery { file: Some(file_name), ..SessionQuery::default() };
            let List { sessions, left_out, .. } =
                self.list(&query, None, SessionSort::Started, usize::MAX, progress)?;
            edited.left_out.extend(left_out);
            for listed in sessions.iter().rev() {
                let session = &listed.session;
                let folder = session.project.as_deref().map(Path::new);
                let is_in = folder.is_some_and(|folder| folder.starts_with(root));
                if is_in && asked.insert(session.path()) {
                    add(&mut edited, session, Some(project));
                }
            }
            names.extend(edited.log.names_of(&name));
        }
        let EditedSessions { log, left_out } = edited;
        Ok(blame_as_left(log, path).map(|blame| BlamedFile { blame, left_out }))
    }
}

fn slashes(path: &Path) -> String {
    let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    names.join("/").replace("//", "/")
}

/// The folder that paths of a session are relative to, if it worked in the repository at `root` or
/// in another working tree of it.
fn base_of(session: &StoredSession, root: &Path) -> Option<String> {
    let project = session.project.as_deref()?;
    let folder = Path::new(project);
    if folder.starts_with(root) {
        return Some(root.to_string_lossy().into_owned());
    }
    let other = repository_around(folder);
    let common = common_folder(&other)?;
    (Some(common) == common_folder(root)).then(|| other.to_string_lossy().into_owned())
}

/// The folder with the history that all working trees of a repository share.
fn common_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return git.canonicalize().ok();
    }
    // A working tree has a file: `gitdir: /repository/.git/worktrees/name`.
    let text = std::fs::read_to_string(&git).ok()?;
    let folder = root.join(text.strip_prefix("gitdir:")?.trim());
    folder.parent()?.parent()?.canonicalize().ok()
}

/// The names that a file had before, as far as git knows them and answers soon.
fn earlier_names(root: &Path, relative: &str) -> Vec<String> {
    if !root.join(".git").exists() {
        return Vec::new();
    }
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(["log", "--follow", "--diff-filter=R", "--format="]);
    command.args(["--name-status", "-z", "-M", "--", relative]);
    command.env("GIT_OPTIONAL_LOCKS", "0");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut git) = command.spawn() else { return Vec::new() };
    let Some(mut out) = git.stdout.take() else { return Vec::new() };
    let (sender, answer) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = out.read_to_end(&mut text);
        let _ = sender.send(read.map(|_| text));
    });
    let text = answer.recv_timeout(GIT_TIME);
    if text.is_err() {
        let _ = git.kill();
    }
    let _ = git.wait();
    let Ok(Ok(text)) = text else { return Vec::new() };
    // `R100`, the old name, the new name, and so on.
    let text = String::from_utf8_lossy(&text);
    let words: Vec<&str> = text.split('\0').map(str::trim).filter(|it| !it.is_empty()).collect();
    let renames = words.chunks_exact(3);
    renames.filter_map(|it| it.get(1)).map(|old| (*old).to_owned()).collect()
}
