//! A home folder with sessions of Claude Code, and a store.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use super::Dice;

type Done<T> = Result<T, Box<dyn Error>>;

/// Most are small, and are in packs with others.
const SESSIONS: usize = 24;

pub(super) struct Machine {
    binary: PathBuf,
    pub(super) folder: PathBuf,
    /// What the agent has written: for each session, the names of its files and their contents.
    sessions: BTreeMap<String, BTreeMap<String, String>>,
    made: usize,
}

impl Machine {
    pub(super) fn new(binary: &Path, dice: &mut Dice) -> Done<Self> {
        let folder = std::env::temp_dir().join(format!("antiphon-torture-{}", std::process::id()));
        let (binary, sessions) = (binary.to_owned(), BTreeMap::new());
        let mut machine = Self { binary, folder, sessions, made: 0 };
        for _ in 0..SESSIONS {
            machine.add(dice)?;
        }
        Ok(machine)
    }

    pub(super) fn remove(&self) -> Done<()> {
        Ok(fs::remove_dir_all(&self.folder)?)
    }

    fn project(&self) -> PathBuf {
        self.folder.join("home/.claude/projects/-srv-shop")
    }

    fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// Adds a session of some lines, every third with a sub-agent. For some the last line has no
    /// end.
    fn add(&mut self, dice: &mut Dice) -> Done<()> {
        let id = format!("{:08x}-0000-4000-8000-000000000000", 0x1000_0000 + self.made * 7919);
        self.made += 1;
        let mut files = BTreeMap::from([(format!("{id}.jsonl"), String::new())]);
        if self.made.is_multiple_of(3) {
            files.insert(format!("{id}/subagents/agent-a{}.jsonl", self.made), String::new());
        }
        self.sessions.insert(id.clone(), files);
        let lines = [2, 40, 40, 2000].get(dice.roll(4)).copied().unwrap_or(2);
        self.grow_by(&id, lines, dice)?;
        // Half of them have not changed lately, so that they are packed though they have grown.
        if dice.roll(2) == 0 { self.age(&id) } else { Ok(()) }
    }

    /// Makes the files of a session old.
    pub(super) fn age(&self, id: &str) -> Done<()> {
        for name in self.sessions.get(id).into_iter().flat_map(BTreeMap::keys) {
            let file = fs::File::options().write(true).open(self.project().join(name))?;
            file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(self.made as u64))?;
        }
        Ok(())
    }

    fn grow_by(&mut self, id: &str, lines: usize, dice: &mut Dice) -> Done<()> {
        let project = self.project();
        for (name, text) in self.sessions.get_mut(id).into_iter().flatten() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            for _ in 0..lines {
                let n = dice.roll(1 << 30);
                text.push_str(&line(id, n));
            }
            if dice.roll(4) == 0 {
                text.pop();
            }
            let path = project.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&project))?;
            fs::write(path, &*text)?;
        }
        Ok(())
    }

    /// Makes some sessions grow; returns the input for a hook of one of them.
    pub(super) fn grow(&mut self, dice: &mut Dice) -> Done<String> {
        let mut id = String::new();
        for _ in 0..3 {
            id = self.any_id(dice);
            let lines = 1 + dice.roll(60);
            self.grow_by(&id, lines, dice)?;
        }
        let path = self.project().join(format!("{id}.jsonl"));
        Ok(format!(
            r#"{{"session_id":"{id}","transcript_path":"{}","hook_event_name":"Stop"}}"#,
            path.display()
        ))
    }

    pub(super) fn any_id(&self, dice: &mut Dice) -> String {
        let at = dice.roll(self.sessions.len());
        self.sessions.keys().nth(at).cloned().unwrap_or_default()
    }

    /// Adds another session in place of one that was forgotten.
    pub(super) fn replace(&mut self, id: &str, dice: &mut Dice) -> Done<()> {
        for name in self.sessions.remove(id).unwrap_or_default().keys() {
            fs::remove_file(self.project().join(name))?;
        }
        self.add(dice)
    }

    /// A file of the archive, or a pack.
    pub(super) fn any_stored(&self, dice: &mut Dice) -> Done<PathBuf> {
        let mut files = files(&self.store().join("packs"));
        // There are few packs, and most sessions are in them.
        if files.is_empty() || dice.roll(2) == 0 {
            files.append(&mut self::files(&self.store().join("archive")));
        }
        let at = dice.roll(files.len());
        Ok(files.into_iter().nth(at).ok_or("nothing is kept")?)
    }

    /// The first file of the store that contains a text, compressed or not.
    pub(super) fn holder(&self, text: &str) -> Done<Option<PathBuf>> {
        for file in files(&self.store()) {
            let raw = fs::read(&file)?;
            // Whatever can be decompressed of it, complete or not.
            let mut all = Vec::new();
            if let Ok(mut decoder) = zstd::stream::read::Decoder::new(&*raw) {
                let _ = decoder.read_to_end(&mut all);
            }
            if [raw, all].iter().any(|it| memchr::memmem::find(it, text.as_bytes()).is_some()) {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(words).env_clear().current_dir(&self.folder);
        command.env("HOME", self.folder.join("home")).env("ANTIPHON_HOME", self.store());
        command
    }

    pub(super) fn antiphon(&self, words: &[&str]) -> Done<Output> {
        Ok(self.command(words).stdin(Stdio::null()).output()?)
    }

    /// Starts a command without waiting for it.
    pub(super) fn start(&self, words: &[&str]) -> Done<Child> {
        let mut command = self.command(words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command.spawn()?)
    }

    /// Waits for a command that was started.
    pub(super) fn wait(&self, mut started: Child) -> Done<()> {
        match started.wait()?.success() {
            true => Ok(()),
            false => Err(format!("a command failed; see {}", self.folder.display()).into()),
        }
    }

    /// Starts a command, and kills it after a while.
    pub(super) fn kill(&self, words: &[&str], input: &str, after: Duration) -> Done<()> {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(input.as_bytes());
        }
        std::thread::sleep(after);
        let _ = child.kill();
        child.wait()?;
        Ok(())
    }

    /// What `export --as native` returns for a session, by name; and whether it reported success.
    fn native(&self, id: &str) -> Done<(BTreeMap<String, String>, bool)> {
        let out = self.folder.join("out");
        fs::create_dir_all(&out)?;
        let folder = out.to_str().unwrap_or_default();
        let done = self.antiphon(&["export", id, "--as", "native", "-o", folder])?;
        let mut read = BTreeMap::new();
        for file in files(&out) {
            let name = file.strip_prefix(&out)?.to_string_lossy().into_owned();
            read.insert(name, String::from_utf8_lossy(&fs::read(&file)?).into_owned());
        }
        fs::remove_dir_all(&out)?;
        Ok((read, done.status.success()))
    }

    /// The sessions that are not exported as they were written.
    pub(super) fn missing(&self) -> Done<Vec<String>> {
        let mut missing = Vec::new();
        for (id, files) in &self.sessions {
            let (native, is_well) = self.native(id)?;
            if native != *files || !is_well {
                missing.push(id.clone());
            }
        }
        Ok(missing)
    }

    /// How many sessions are exported wrongly without a warning, and how many with one.
    pub(super) fn wrong_and_named(&self) -> Done<(u64, u64)> {
        let (mut wrong, mut named) = (0, 0);
        for (id, files) in &self.sessions {
            match self.native(id)? {
                (_, false) => named += 1,
                (native, true) => wrong += u64::from(native != *files),
            }
        }
        Ok((wrong, named))
    }
}

fn line(id: &str, n: usize) -> String {
    let words = format!("cobalt {n} ").repeat(1 + n % 20);
    format!(
        r#"{{"type":"user","sessionId":"{id}","uuid":"{id}-{n}","timestamp":"2026-05-01T10:00:00Z","message":{{"role":"user","content":"{words}"}}}}"#
    ) + "\n"
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}
