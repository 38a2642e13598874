use crate::tests::fixture::check_lines;

#[test]
fn a_tight_transcript_across_midnight() {
    check_lines("transcript", "minimal");
}

#[test]
fn calls_and_results_are_paired_in_their_order() {
    check_lines("transcript", "full");
}

#[test]
fn a_transcript_that_was_cut_short_is_read_as_far_as_it_goes() {
    check_lines("transcript", "no-footer");
}
