use crate::tests::fixture::check;

#[test]
fn pieces_are_the_whole_again() {
    assert_eq!(check("codex-tui", "minimal"), [0; 5]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(check("codex-tui", "full"), [60 + 100, 9 + 5, 4, 40 + 100, 0]);
}

#[test]
fn pieces_of_an_interrupted_turn_stay_pieces() {
    assert_eq!(check("codex-tui", "interrupted"), [7, 2 + 1, 1, 50, 0]);
}
