//! An agent's assignment: its role, and what the role works on.

/// A role and its context. All of it may be unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignment {
    /// `planner`, `implementor`, `reviewer`, or any other word.
    pub role: Option<String>,
    pub issue: Option<String>,
    pub spec_paths: Vec<String>,
    pub run_id: Option<String>,
    pub task_id: Option<String>,
}

impl Assignment {
    /// The role's name; `agent` if there is none.
    pub fn role_word(&self) -> &str {
        self.role.as_deref().unwrap_or("agent")
    }

    /// The prefix of its events' names: `Planner`, `CodeReviewer`.
    pub fn event_prefix(&self) -> String {
        let words = self.role_word().split(|it: char| !it.is_alphanumeric());
        words
            .flat_map(|word| {
                let mut letters = word.chars();
                letters.next().into_iter().flat_map(char::to_uppercase).chain(letters)
            })
            .collect()
    }

    /// Role and issue in a form that is safe in a file name.
    pub(crate) fn file_suffix(&self) -> String {
        let mut suffix = token(self.role_word());
        if let Some(issue) = self.issue.as_deref().map(token).filter(|issue| !issue.is_empty()) {
            suffix.push('-');
            suffix.push_str(&issue);
        }
        suffix
    }
}

/// Keeps only letters, digits, `_` and `-`, so that no word from outside becomes a path.
fn token(word: &str) -> String {
    word.chars().filter(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(role: &str, issue: Option<&str>) -> Assignment {
        Assignment {
            role: Some(role.to_owned()),
            issue: issue.map(str::to_owned),
            ..Assignment::default()
        }
    }

    #[test]
    fn roles_name_events_and_files() {
        assert_eq!(role("planner", None).event_prefix(), "Planner");
        assert_eq!(role("code-reviewer", None).event_prefix(), "CodeReviewer");
        assert_eq!(Assignment::default().event_prefix(), "Agent");
        assert_eq!(role("reviewer", Some("42")).file_suffix(), "reviewer-42");
        assert_eq!(role("../../etc", Some("a/b c")).file_suffix(), "etc-abc");
    }
}
