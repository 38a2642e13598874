use super::*;

const COMMAND: &str = "/opt/bin/antiphon hook";

/// Adds our hooks and takes them out again: the text is as it was, byte for byte.
fn check_round(text: &str) -> String {
    let own = Own::of(Some(text));
    let with = with_hooks(text, COMMAND, &own).unwrap();
    let value: serde_json::Value = serde_json::from_str(body(&with)).unwrap();
    for event in EVENTS {
        let groups = value["hooks"][event].as_array().unwrap();
        let ours = groups.iter().filter(|group| group["hooks"][0]["command"] == COMMAND);
        assert_eq!(ours.count(), 1, "{event}: {with}");
    }
    assert_eq!(with_hooks(&with, COMMAND, &own).unwrap(), with, "a second time changes nothing");
    assert_eq!(without_hooks(&with, &own).unwrap(), text);
    let moved = with_hooks(&with, "'/a b/antiphon' hook", &own).unwrap();
    let quoted = format!("\"{COMMAND}\"");
    assert!(!moved.contains(&quoted), "one hook an event, wherever the program lies");
    assert_eq!(without_hooks(&moved, &own).unwrap(), text);
    with
}

#[test]
fn what_is_there_stays_byte_for_byte() {
    check_round("{}\n");
    check_round("{\n  \"model\": \"opus\"\n}\n");
    check_round("{\"model\":\"opus\",\"env\":{\"A\":\"1\"}}");
    check_round("{\r\n\t\"zebra\":   1 ,\r\n\t\"ant\" : [ 1,2 ]\r\n}");
    check_round("\u{feff}{\n    \"x\": \"hooks\"\n}\n\n");
    check_round("{\"hooks\":{\"Stop\":[]}}");
    check_round("{\"hooks\":{}, \"model\":\"opus\"}");
    check_round("{\"hooks\":{\"Stop\":[],\"SessionEnd\":[]}}");
    check_round(
        "{\n  \"hooks\": {\n    \"Stop\": [ {\"hooks\": [{\"type\":\"command\",\"command\":\"say done\"}]} ],\n    \"Other\": []\n  },\n  \"last\": null\n}\n",
    );
}

#[test]
fn hooks_are_laid_out_as_the_file_is() {
    let with = check_round("{\n    \"model\": \"opus\"\n}\n");
    let begins = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"SessionStart\": [\n            {\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"/opt/bin/antiphon hook\",\n                        \"timeout\": 5\n                    }\n                ]\n            }\n        ],\n        \"UserPromptSubmit\": [\n";
    assert!(with.starts_with(begins), "{with}");
    assert!(with.ends_with("        ]\n    }\n}\n"), "{with}");
    assert!(!check_round("{\"model\":\"opus\"}").contains('\n'));
}

#[test]
fn only_our_own_hooks_are_taken_out() {
    let others = [
        "/opt/bin/antiphon hooks",
        "antiphon hook",
        "/opt/bin/antiphon-wrapper hook",
        "/opt/bin/antiphon hook && say done",
        "echo /opt/bin/antiphon hook",
    ];
    for other in others {
        assert!(!is_ours(other), "{other}");
        let text = format!(
            "{{\"hooks\":{{\"Stop\":[{{\"hooks\":[{{\"command\":{}}}]}}]}}}}",
            serde_json::to_string(other).unwrap()
        );
        assert_eq!(without_hooks(&text, &Own::default()).unwrap(), text);
        check_round(&text);
    }
    for program in ["/opt/bin/antiphon", "/a b/antiphon", "/it's/antiphon"] {
        assert!(is_ours(&hook_command(program)), "{program}");
    }
}

#[test]
fn a_hook_in_a_group_with_others_goes_alone() {
    let group = |entries: &str| format!("{{\"hooks\":{{\"Stop\":[{{\"hooks\":[{entries}]}}]}}}}");
    let ours = "{\"command\":\"/opt/bin/antiphon hook\"}";
    let (a, b) = ("{\"command\":\"a\"}", "{\"command\":\"b\"}");
    for (before, after) in [
        (format!("{ours}, {a}, {b}"), format!(" {a}, {b}")),
        (format!("{a}, {ours}, {b}"), format!("{a}, {b}")),
        (format!("{a},{b} , {ours} "), format!("{a},{b} ")),
    ] {
        assert_eq!(without_hooks(&group(&before), &Own::default()).unwrap(), group(&after));
    }
}

#[test]
fn what_is_no_settings_is_left_alone() {
    for (text, why) in [
        ("{\"a\": 1,}", "1:"),
        ("// mine\n{}", "1:1"),
        ("[]", "it is not a JSON object"),
        ("{\"hooks\": []}", "`hooks` is not a JSON object"),
        ("{\"hooks\": {\"Stop\": 1}}", "the `Stop` hooks are not a list"),
    ] {
        let error = with_hooks(text, COMMAND, &Own::default()).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}
