//! The names of documents: `{date}-{sequence}-{task}.json`, with `-multi` at the end for several
//! agents.

use std::fmt::Write as _;

use crate::Standard;

/// The name of a document. The sequence number, which is required, counts the documents of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// `2026-01-25`.
    pub date: String,
    pub sequence: u32,
    pub task: String,
    pub standard: Standard,
}

const MOST_CHARS: usize = 48;

impl Name {
    /// Makes the name of a document from its creation time (ISO 8601) and its title.
    pub fn new(created_at: &str, title: &str, standard: Standard) -> Self {
        let date = created_at.get(..10).unwrap_or("1970-01-01").to_owned();
        let mut task = slug(title);
        // The suffix `-multi` is reserved for sessions of several agents, so a title must not end
        // in it.
        if standard == Standard::Std001 && (task == "multi" || task.ends_with("-multi")) {
            task.push_str("-session");
        }
        Self { date, sequence: 1, task, standard }
    }

    /// Parses a name or an id that follows the convention. The standard is a parameter, because the
    /// content of a document determines it better than the suffix does.
    pub fn parse(stem: &str, standard: Standard) -> Option<Self> {
        let date = stem.get(..10)?;
        let is_date = date.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        let (sequence, task) = stem.get(10..)?.strip_prefix('-')?.split_once('-')?;
        let is_number = sequence.len() == 3 && sequence.bytes().all(|byte| byte.is_ascii_digit());
        let task = task.strip_suffix("-multi").unwrap_or(task);
        if !is_date || !is_number || task.is_empty() || task != slug(task) {
            return None;
        }
        let sequence = sequence.parse().ok()?;
        Some(Self { date: date.to_owned(), sequence, task: task.to_owned(), standard })
    }

    /// The next free number of that day, given the names of the existing files. A document that
    /// already has a number keeps it if it is free.
    pub fn free<'n>(&self, others: impl Iterator<Item = &'n str>) -> u32 {
        let taken: Vec<u32> = others
            .filter_map(|other| other.strip_prefix(&self.date)?.strip_prefix('-'))
            .filter_map(|rest| rest.split(['-', '.']).next()?.parse().ok())
            .collect();
        if !taken.contains(&self.sequence) {
            return self.sequence;
        }
        taken.into_iter().max().unwrap_or_default().saturating_add(1)
    }

    /// The name without `.json`.
    pub fn stem(&self) -> String {
        let mut stem = format!("{}-{:03}-{}", self.date, self.sequence, self.task);
        if self.standard == Standard::Std008 {
            let _ = write!(stem, "-multi");
        }
        stem
    }
}

/// The words of a title in lower case, joined so that they can be part of a file name. Letters of
/// every script are kept, because the convention asks for a short form of the task in any language.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    let mut chars = 0;
    let words = title.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words {
        let longer = chars + usize::from(chars > 0) + word.chars().count();
        if longer > MOST_CHARS && chars > 0 {
            break;
        }
        if chars > 0 {
            slug.push('-');
        }
        slug.extend(word.chars().take(MOST_CHARS).flat_map(char::to_lowercase));
        chars = longer;
    }
    if slug.is_empty() { "session".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written() {
        let name = Name::new("2026-01-26T10:00:00Z", "Implement: the Timeline!", Standard::Std008);
        assert_eq!(name.stem(), "2026-01-26-001-implement-the-timeline-multi");
        assert_eq!(Name::parse(&name.stem(), Standard::Std008), Some(name));
        for other in
            ["2026-01-28-003", "2026-1-26-001-x", "x", "2026-01-26-1-x", "2026-01-26-001-X y"]
        {
            assert_eq!(Name::parse(other, Standard::Std001), None, "{other}");
        }
    }

    #[test]
    fn letters_of_every_script_are_kept() {
        let check = |title: &str, stem: &str| {
            let name = Name::new("2026-01-26T10:00:00Z", title, Standard::Std001);
            assert_eq!(name.stem(), stem);
            assert_eq!(Name::parse(stem, Standard::Std001), Some(name));
        };
        check("实现 KnowledgeMarkers 组件", "2026-01-26-001-实现-knowledgemarkers-组件");
        check("Meet in a Café", "2026-01-26-001-meet-in-a-café");
        check("Ж/../../\u{202e}\0%", "2026-01-26-001-ж");
        check("…", "2026-01-26-001-session");
        let long = Name::new("2026-01-26T10:00:00Z", &"界".repeat(100), Standard::Std008);
        assert!(long.stem().len() < 200, "a file name has at most 255 bytes");
    }

    #[test]
    fn no_title_makes_one_agent_look_like_several() {
        for title in ["Make it multi", "multi", "MULTI!"] {
            let name = Name::new("2026-01-26T10:00:00Z", title, Standard::Std001);
            assert!(!name.stem().ends_with("-multi"), "{}", name.stem());
        }
        let several = Name::new("2026-01-26T10:00:00Z", "Make it multi", Standard::Std008);
        assert_eq!(several.stem(), "2026-01-26-001-make-it-multi-multi");
    }

    #[test]
    fn the_next_number_of_the_day_is_free() {
        let name = Name::new("2026-01-26T10:00:00Z", "x", Standard::Std001);
        let there =
            ["2026-01-26-001-a.json", "2026-01-26-007-b-multi.json", "2026-01-25-009-c.json"];
        assert_eq!(name.free(there.into_iter()), 8);
        assert_eq!(name.free(["notes.txt"].into_iter()), 1);
    }
}
