use super::*;

fn check(line: &str, expected: impl Into<Option<Slash<'static>>>) {
    assert_eq!(Slash::parse(line), expected.into(), "{line}");
}

#[test]
fn a_line_is_a_prompt_unless_it_begins_with_a_slash() {
    check("What is 1/2?", None);
    check("/help", Slash::Help);
    check("/tree", Slash::Command(vec!["view", "tree"], vec![]));
    let of_jill = Slash::Command(vec!["view", "perspective"], vec!["--agent", "Jill Byron"]);
    check("/perspective  Jill Byron ", of_jill);
    check("/perspective", Slash::Wrong("write /perspective NAME".to_owned()));
    check("/fork", Slash::Fork(None));
    check("/fork msg_012", Slash::Fork(Some("msg_012")));
    check("/quit", Slash::Quit);
    let wrong = "there is no /tee; /help lists what there is".to_owned();
    check("/tee", Slash::Wrong(wrong));
}
