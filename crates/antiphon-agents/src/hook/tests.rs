use super::*;

#[test]
fn the_first_word_decides_whatever_its_case_and_punctuation() {
    let deny = |reason: &str| Approval::Deny(reason.to_owned());
    for (answer, wanted) in [
        ("APPROVE There is room.", Approval::Approve),
        ("Approve: a hook is no searcher", Approval::Approve),
        ("**approve**", Approval::Approve),
        (
            "DENY. Maximum subagents (3) already reached.",
            deny("Maximum subagents (3) already reached."),
        ),
        ("deny: No secrets.", deny("No secrets.")),
        ("DENY (too many)", deny("(too many)")),
        ("DENY", deny("no reason was given")),
    ] {
        assert_eq!(Approval::parse(answer), wanted, "{answer}");
    }
    assert_eq!(Review::parse("ACCEPT"), Review::Accept);
    assert_eq!(Review::parse("reject — Be polite."), Review::Reject("Be polite.".to_owned()));
    assert_eq!(Review::parse("REMIND: one sentence"), Review::Remind("one sentence".to_owned()));
}

#[test]
fn what_is_not_understood_is_a_no_that_says_so() {
    for answer in ["", "Perhaps tomorrow.", "I would APPROVE", "DENYING", "👍"] {
        let Approval::Deny(reason) = Approval::parse(answer) else { panic!("{answer}") };
        assert!(reason.contains("not understood"), "{answer}: {reason}");
        assert!(matches!(Review::parse(answer), Review::Reject(_)), "{answer}");
    }
}
