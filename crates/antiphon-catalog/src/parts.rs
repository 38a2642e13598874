//! Sessions that are part of others: a thread that a session started counts there, and not again by
//! itself.
//!
//! An agent that writes such threads into files of their own leaves them beside the file of the
//! session that started them. They are stored with it, among its files. A thread that was also
//! stored by itself is a part of that session unless it has grown since, because then the session
//! does not contain all of it.

use std::collections::{BTreeMap, BTreeSet};

use super::MainFile;
use crate::Key;

/// What decides whether a session is a part of another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holding<'a> {
    pub(super) key: &'a Key,
    pub(super) format: &'a str,
    pub(super) main: &'a MainFile,
    pub(super) parts: &'a [MainFile],
}

/// The sessions that are part of others.
pub(super) fn held<'a>(sessions: impl Iterator<Item = Holding<'a>>) -> BTreeSet<&'a Key> {
    let mut sessions: Vec<Holding<'a>> = sessions.collect();
    // Those with the most parts come first: of files that claim each other, one counts.
    sessions.sort_by(|a, b| b.parts.len().cmp(&a.parts.len()).then_with(|| a.key.cmp(b.key)));
    // By format and session: how much of it another session contains.
    let mut lengths: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut held = BTreeSet::new();
    for Holding { key, format, main, parts } in sessions {
        if lengths.get(&(format, main.session.as_str())).is_some_and(|&len| len >= main.len) {
            held.insert(key);
            continue;
        }
        for part in parts {
            let len = lengths.entry((format, part.session.as_str())).or_default();
            *len = part.len.max(*len);
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of some sessions are parts of others, given names with lengths, and the parts of each
    /// with theirs.
    fn check(sessions: &[(&str, &str, &[&str])]) -> Vec<String> {
        let file = |text: &str| {
            let (session, len) = text.split_once(' ').unwrap_or((text, "9"));
            MainFile { session: session.to_owned(), len: len.parse().unwrap() }
        };
        let rows: Vec<(Key, &str, MainFile, Vec<MainFile>)> = sessions
            .iter()
            .map(|(format, main, parts)| {
                let parts = parts.iter().map(|part| file(part)).collect();
                (Key::of(format, main), *format, file(main), parts)
            })
            .collect();
        let holding =
            rows.iter().map(|(key, format, main, parts)| Holding { key, format, main, parts });
        let held = held(holding);
        let rows = rows.iter().filter(|(key, ..)| held.contains(key));
        rows.map(|(_, format, main, _)| format!("{format} {}", main.session)).collect()
    }

    #[test]
    fn a_thread_is_its_makers_and_of_two_that_claim_each_other_one_stays() {
        let threads: &[(&str, &str, &[&str])] = &[
            ("codex", "c", &[]),
            ("codex", "b", &["c"]),
            ("codex", "a", &["b", "c"]),
            ("codex", "d", &[]),
            ("other", "c", &[]),
        ];
        assert_eq!(check(threads), ["codex c", "codex b"]);
        assert_eq!(check(&[("codex", "a", &["b"]), ("codex", "b", &["a"])]).len(), 1);
        assert!(check(&[("codex", "a", &[])]).is_empty());
    }

    #[test]
    fn a_thread_that_went_on_without_its_maker_is_a_session() {
        assert_eq!(check(&[("codex", "a", &["b 5"]), ("codex", "b 5", &[])]), ["codex b"]);
        assert!(check(&[("codex", "a", &["b 5"]), ("codex", "b 6", &[])]).is_empty());
    }
}
