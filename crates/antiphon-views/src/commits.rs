//! The commits that a session made, as git says it in the output of a shell.

use antiphon_model::{BodyError, CallIx, Timestamp};
use serde::Serialize;

use crate::Reading;
use crate::calls::has_failed;
use crate::shell::{Script, is_shell};

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Commit {
    /// The beginning of its hash, as git printed it.
    pub sha: String,
    /// The first line of its message.
    pub subject: String,
    /// The id of the call that made it.
    pub call_id: String,
    /// When the call was made.
    pub timestamp: Option<Timestamp>,
}

/// Every commit that a shell says it made, in order.
pub fn commits(reading: &Reading<'_>) -> Result<Vec<Commit>, BodyError> {
    let session = reading.session;
    let mut commits = Vec::new();
    for (ix, _) in session.calls() {
        if !is_shell(session.tool_name(ix))
            || has_failed(reading, ix)
            || !commits_with(reading, ix)?
        {
            continue;
        }
        for event in session.results(ix) {
            let text = reading.text(session.entry(event))?;
            commits.extend(text.lines().filter_map(announced).map(|(sha, subject)| Commit {
                sha: sha.to_owned(),
                subject: subject.to_owned(),
                call_id: session.call_id(ix).to_owned(),
                timestamp: session.call_started_at(ix),
            }));
        }
    }
    Ok(commits)
}

fn commits_with(reading: &Reading<'_>, ix: CallIx) -> Result<bool, BodyError> {
    let script = Script::of(reading, ix)?;
    Ok(script.is_some_and(|script| script.makes_commits()))
}

/// The hash and the subject of a commit that git announces: `[main 1a2b3c4] Fix login`.
fn announced(line: &str) -> Option<(&str, &str)> {
    let (head, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let (branch, sha) = head.rsplit_once(' ')?;
    let is_hash = (7..=64).contains(&sha.len()) && sha.chars().all(|c| c.is_ascii_hexdigit());
    (is_hash && !branch.is_empty()).then_some((sha, subject.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{call, read, result};

    fn shas(command: &str, output: &str, more: &str) -> Vec<(String, String)> {
        let arguments = serde_json::json!({ "command": command }).to_string();
        let output = serde_json::to_string(output).unwrap();
        let result =
            result("a", "c", more).replace(r#""content":"ok""#, &format!(r#""content":{output}"#));
        let log = [call("a", "c", "Bash", &arguments, ""), result];
        let found = read(&log, |reading| commits(reading).unwrap());
        found.into_iter().map(|it| (it.sha, it.subject)).collect()
    }

    #[test]
    fn a_commit_is_what_git_says_about_it() {
        let own = |sha: &str, subject: &str| (sha.to_owned(), subject.to_owned());
        let one = "[main 1a2b3c4] Fix login\n 1 file changed";
        assert_eq!(shas("git add -A && git commit -m x", one, ""), [own("1a2b3c4", "Fix login")]);
        let root = "[main (root-commit) 1a2b3c4d] Begin";
        assert_eq!(shas("git commit -m x", root, ""), [own("1a2b3c4d", "Begin")]);
        let two = "[a 1a2b3c4] One\n[a 2b3c4d5] Two";
        assert_eq!(shas("git cherry-pick x y", two, "").len(), 2);
        assert_eq!(shas("git -C /srv commit --amend", one, "").len(), 1);
    }

    #[test]
    fn what_only_looks_like_a_commit_is_none() {
        let one = "[main 1a2b3c4] Fix login";
        assert_eq!(shas("cat log", one, ""), []);
        assert_eq!(shas("git commit -m x", one, r#","is_error":true"#), []);
        for line in ["[main] x", "[main nothash] x", "[1a2b3c4] x", "main 1a2b3c4] x", "[", "] "] {
            assert_eq!(shas("git commit", line, ""), [], "{line}");
        }
    }
}
