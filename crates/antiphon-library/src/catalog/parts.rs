//! Sessions that others hold: a thread that a session made counts in it, and not again by itself.
//!
//! An agent that writes such threads into files of their own leaves them beside their maker's. They
//! are kept with it, among its files; one that was kept by itself as well is a part of it.

use std::collections::BTreeSet;

use crate::Key;

/// What decides whether a session is a part of another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holding<'a> {
    pub(super) key: &'a Key,
    pub(super) format: &'a str,
    pub(super) main: &'a str,
    pub(super) parts: &'a [String],
}

/// The sessions that others hold.
pub(super) fn held<'a>(sessions: impl Iterator<Item = Holding<'a>>) -> BTreeSet<&'a Key> {
    let mut sessions: Vec<Holding<'a>> = sessions.collect();
    // Whoever holds most comes first: of files that claim each other, one counts.
    sessions.sort_by(|a, b| b.parts.len().cmp(&a.parts.len()).then_with(|| a.key.cmp(b.key)));
    let mut names: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut held = BTreeSet::new();
    for session in sessions {
        if names.contains(&(session.format, session.main)) {
            held.insert(session.key);
        } else {
            names.extend(session.parts.iter().map(|name| (session.format, name.as_str())));
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_its_makers_and_of_two_that_claim_each_other_one_stays() {
        let check = |sessions: &[(&str, &str, &[&str])]| -> Vec<String> {
            let rows: Vec<(Key, &str, &str, Vec<String>)> = sessions
                .iter()
                .map(|(format, main, parts)| {
                    let parts = parts.iter().map(|&part| part.to_owned()).collect();
                    (Key::of(format, main), *format, *main, parts)
                })
                .collect();
            let holding =
                rows.iter().map(|(key, format, main, parts)| Holding { key, format, main, parts });
            let held = held(holding);
            let rows = rows.iter().filter(|(key, ..)| held.contains(key));
            rows.map(|(_, format, main, _)| format!("{format} {main}")).collect()
        };
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
}
