use crate::tests::fixture::check;

#[test]
fn pieces_are_the_whole_again() {
    assert_eq!(check("codex-tui", "minimal"), [0; 5]);
}
