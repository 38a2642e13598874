use proptest::prelude::*;

use super::*;

fn texts(history: &FileHistory) -> (String, String) {
    history.texts().into_iter().next().unwrap()
}

/// A text of few different lines, so that the same line is often in several places.
fn text() -> impl Strategy<Value = String> {
    let line =
        prop_oneof![Just("alpha\n"), Just("beta\n"), Just("gamma\n"), Just("}\n"), Just("\n")];
    (proptest::collection::vec(line, 0..12), any::<bool>()).prop_map(|(lines, has_end)| {
        let text = lines.concat();
        if has_end { text } else { text.trim_end_matches('\n').to_owned() }
    })
}

proptest! {
    #[test]
    fn what_was_there_before_and_what_is_there_now_come_out_as_they_went_in(
        base in text(),
        written in proptest::collection::vec(text(), 1..6),
    ) {
        let mut history = FileHistory::default();
        let mut now = base.clone();
        for (number, text) in written.iter().enumerate() {
            history.apply(number, &Before::Text(now), &Change::Write(text.clone()));
            now = text.clone();
        }
        prop_assert_eq!(texts(&history), (base, now));
        prop_assert!(!history.has_other_changes);
    }

    #[test]
    fn whatever_others_do_the_file_is_what_it_is_and_no_line_of_theirs_has_an_author(
        steps in proptest::collection::vec((text(), text()), 1..6),
        end in text(),
    ) {
        let mut history = FileHistory::default();
        for (number, (before, after)) in steps.iter().enumerate() {
            history.apply(number, &Before::Text(before.clone()), &Change::Write(after.clone()));
        }
        let lines = split_lines(&end);
        let authors = history.authors(&end);
        prop_assert_eq!(authors.len(), lines.len());
        for (line, author) in lines.iter().zip(authors) {
            let Some(author) = author else { continue };
            let (_, after) = &steps[author.edit];
            prop_assert!(split_lines(after).contains(line), "an author wrote the line");
        }
    }
}

#[test]
fn a_line_that_stays_keeps_its_author_when_the_whole_file_is_written_again() {
    let mut history = FileHistory::default();
    history.apply(0, &Before::Text("one\n".into()), &Change::Write("one\ntwo\n".into()));
    let again = Change::Write("zero\none\ntwo\n".into());
    history.apply(1, &Before::Text("one\ntwo\n".into()), &again);
    let authors: Vec<_> =
        history.authors("zero\none\ntwo\n").iter().map(|it| it.map(|it| it.edit)).collect();
    assert_eq!(authors, [Some(1), None, Some(0)]);
}

#[test]
fn a_file_whose_former_content_is_not_known_gets_no_authors() {
    let mut history = FileHistory::default();
    history.apply(0, &Before::Unknown, &Change::Write("one\ntwo\n".into()));
    assert_eq!(history.authors("one\ntwo\n"), [None, None]);
}

#[test]
fn parts_find_their_place_once_the_whole_is_known() {
    let hunk = Hunk {
        heading: None,
        lines: vec![
            (crate::edits::HunkLine::Context, "b\n".into()),
            (crate::edits::HunkLine::Added, "new\n".into()),
        ],
    };
    let mut history = FileHistory::default();
    history.apply(0, &Before::Unknown, &Change::Patch(vec![hunk]));
    let authors = history.authors("a\nb\nnew\nc\n");
    assert_eq!(authors, [None, None, Some(Author { edit: 0, is_moved: false }), None]);
}

#[test]
fn a_line_of_somebody_else_gets_no_author_because_a_like_line_is_gone() {
    let mut history = FileHistory::default();
    let after = Change::Write("call(me)\nother\ncall(me)\n".into());
    history.apply(0, &Before::Text("call(me)\nother\n".into()), &after);
    // A person takes the agent's line away, and adds another one.
    assert_eq!(history.authors("call(me)\nother\nmore\n"), [None, None, None]);
}
