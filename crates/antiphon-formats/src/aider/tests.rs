use crate::tests::fixture;

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(fixture::check("aider", "minimal"), [130, 5, 0, 0, 0]);
}

#[test]
fn every_run_is_an_agents() {
    let totals = [3000 + 12_000 + 7, 202 + 1 + 3, 0, 300, 1200];
    assert_eq!(fixture::check("aider", "full"), totals);
}

#[test]
fn what_an_answer_has_of_marks_is_its_own() {
    let totals = [12_000 + 900 + 2000, 1100 + 40 + 3, 0, 0, 0];
    assert_eq!(fixture::check("aider", "headings"), totals);
}

/// The tokens sent include those of the cache, unless they are fewer.
#[test]
fn lines_may_end_as_on_windows() {
    let input = (52_000 - 10_000 - 40_000) + 1_200_000 + 999;
    let totals = [input, 1500 + 7, 0, 40_000 + 10_000, 10_000 + 9900];
    assert_eq!(fixture::check("aider", "windows"), totals);
}

#[test]
fn a_cost_may_have_a_line_of_its_own() {
    let tokens = "# aider\n> Tokens: 9 sent, 1 cache write, 2 cache hit, 3 received.";
    for end in [" Cost: $1.25 message, $2.50 session.", "\nCost: $1.25 message, $2.50 session.  "] {
        let lines = super::lines::lines(&format!("{tokens}{end}\n")).text;
        assert!(lines.ends_with("\"received\":3,\"cost\":1.25}\n"), "{lines}");
    }
}

#[test]
fn an_older_version_names_its_models_on_one_line() {
    assert_eq!(fixture::check("aider", "older"), [1200, 3, 0, 0, 0]);
}
