use crate::tests::fixture;

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(fixture::check("droid-stream", "minimal"), [10, 5, 0, 100, 20]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(fixture::check("droid-stream", "full"), [0; 5]);
}
