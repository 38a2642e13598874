//! Who wrote each line of a file.

use std::ops::RangeInclusive;
use std::rc::Rc;

use antiphon_model::Timestamp;
use serde::Serialize;

use crate::edit_log::{EditLog, RecordedEdit};
use crate::edits::{Author, FileHistory, split_lines};

/// Who wrote each line of a file, as far as the kept sessions say.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blame {
    /// The path of the file within its project.
    pub path: String,
    /// The lines of the file as it is now.
    pub lines: Vec<BlamedLine>,
}

/// A line, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlamedLine {
    /// Its number, from 1.
    pub line: usize,
    /// Its text, without the line end.
    pub text: String,
    /// How its author was found.
    pub rule: BlameRule,
    /// The id of the session that wrote it; null if none did that is known.
    pub session: Option<String>,
    /// The id of the agent that wrote it.
    pub agent_id: Option<String>,
    /// The id of the call that wrote it.
    pub call_id: Option<String>,
    /// The id of the message that made the call.
    pub message_id: Option<String>,
    /// When the call was made.
    pub timestamp: Option<Timestamp>,
    /// What the person had said last before that.
    pub prompt: Option<String>,
}

/// How the author of a line was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlameRule {
    /// A call wrote it where it is.
    Inserted,
    /// A call wrote it, and something else has moved it since.
    Moved,
    /// No call that is known wrote it.
    Unknown,
}

/// Who wrote the lines of the file at `path` that now holds `text`. `other_names` are paths that
/// the file had before, as far as they are known elsewhere.
pub fn blame(
    log: EditLog,
    path: &str,
    other_names: &[String],
    text: &str,
    range: Option<&RangeInclusive<usize>>,
) -> Blame {
    let (edits, history) = history_of(log, path, other_names);
    blamed(path, &edits, history, text, range)
}

/// The same for the file as the last edit left it. Nothing, if no edit did, or not the whole of it
/// is known.
pub fn blame_as_left(log: EditLog, path: &str) -> Option<Blame> {
    let (edits, history) = history_of(log, path, &[]);
    let mut texts = history.texts();
    let (Some((_, text)), true, 0) = (texts.pop(), history.is_there(), texts.len()) else {
        return None;
    };
    Some(blamed(path, &edits, history, &text, None))
}

/// All edits, and what those of one file made of it.
fn history_of(
    log: EditLog,
    path: &str,
    other_names: &[String],
) -> (Vec<RecordedEdit>, FileHistory) {
    let mut names: Vec<String> = log.names_of(path);
    for name in other_names {
        names.extend(log.names_of(name));
    }
    let (edits, _) = log.in_order();
    let mut history = FileHistory::default();
    for (number, recorded) in edits.iter().enumerate() {
        if names.contains(&recorded.edit.path) {
            history.apply(number, &recorded.edit.before, &recorded.edit.change);
        }
    }
    (edits, history)
}

fn blamed(
    path: &str,
    edits: &[RecordedEdit],
    history: FileHistory,
    text: &str,
    range: Option<&RangeInclusive<usize>>,
) -> Blame {
    let lines = split_lines(text);
    let authors = history.authors(text);
    let line = |(number, text): (usize, &str), author: Option<Author>| {
        let call = author.and_then(|author| edits.get(author.edit)).map(|it| &it.call);
        let own = |text: &String| text.clone();
        BlamedLine {
            line: number,
            text: text.trim_end_matches('\n').trim_end_matches('\r').to_owned(),
            rule: match author {
                None => BlameRule::Unknown,
                Some(Author { is_moved: true, .. }) => BlameRule::Moved,
                Some(Author { is_moved: false, .. }) => BlameRule::Inserted,
            },
            session: call.map(|call| (*call.session).to_owned()),
            agent_id: call.map(|call| own(&call.agent_id)),
            call_id: call.map(|call| own(&call.call_id)),
            message_id: call.map(|call| own(&call.message_id)),
            timestamp: call.and_then(|call| call.at),
            prompt: call
                .and_then(|call| call.prompt.as_ref())
                .map(|it: &Rc<str>| (**it).to_owned()),
        }
    };
    let authors = authors.into_iter().chain(std::iter::repeat(None));
    let lines = (1..).zip(lines).zip(authors);
    let is_wanted = |number: usize| range.is_none_or(|range| range.contains(&number));
    let lines = lines.filter(|((number, _), _)| is_wanted(*number));
    Blame { path: path.to_owned(), lines: lines.map(|(at, author)| line(at, author)).collect() }
}
