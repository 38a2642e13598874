use super::*;

const COMMAND: &str = "/opt/bin/antiphon hook";

/// Of the agent whose hooks name none.
fn settings(before: Option<&str>) -> Settings {
    let (format, hooks) = antiphon_formats::hooked().find(|(_, it)| !it.is_named).unwrap();
    Settings::new(format, hooks, before)
}

/// Adds our hooks and takes them out again: the text is as it was, byte for byte.
fn check_round(text: &str) -> String {
    let settings = settings(Some(text));
    let with = settings.with_hooks(text, COMMAND).unwrap();
    let value: serde_json::Value = serde_json::from_str(body(&with)).unwrap();
    for &event in settings.hooks.events {
        let groups = value["hooks"][event].as_array().unwrap();
        let ours = groups.iter().filter(|group| group["hooks"][0]["command"] == COMMAND);
        assert_eq!(ours.count(), 1, "{event}: {with}");
    }
    assert_eq!(settings.with_hooks(&with, COMMAND).unwrap(), with, "a second time changes nothing");
    assert_eq!(settings.without_hooks(&with).unwrap(), text);
    let moved = settings.with_hooks(&with, "'/a b/antiphon' hook").unwrap();
    let quoted = format!("\"{COMMAND}\"");
    assert!(!moved.contains(&quoted), "one hook an event, wherever the program lies");
    assert_eq!(settings.without_hooks(&moved).unwrap(), text);
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
        assert!(!settings(None).is_ours(other), "{other}");
        let text = format!(
            "{{\"hooks\":{{\"Stop\":[{{\"hooks\":[{{\"command\":{}}}]}}]}}}}",
            serde_json::to_string(other).unwrap()
        );
        assert_eq!(settings(None).without_hooks(&text).unwrap(), text);
        check_round(&text);
    }
    let settings = settings(None);
    for program in ["/opt/bin/antiphon", "/a b/antiphon", "/it's/antiphon"] {
        assert!(settings.is_ours(&settings.command(program)), "{program}");
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
        assert_eq!(settings(None).without_hooks(&group(&before)).unwrap(), group(&after));
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
        let error = settings(None).with_hooks(text, COMMAND).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

/// Hooks that are listed without groups, in settings that need a member besides.
const FLAT: Hooks = Hooks {
    settings: "hooks.json",
    required: &[("version", HookValue::Number(1))],
    member: "on",
    group: None,
    hook: &[("run", HookValue::Command)],
    events: &["stop", "end"],
    end: "end",
    input: antiphon_formats::HookInput { session: "id", file: "file", event: "event" },
    is_named: true,
};

#[test]
fn another_agents_hooks_stand_as_its_layout_says() {
    let agent = antiphon_formats::find("pi").unwrap();
    let flat = |before| Settings::new(agent, &FLAT, before);
    let command = flat(None).command("/opt/bin/antiphon");
    assert_eq!(command, "/opt/bin/antiphon hook pi");
    let others = ["/opt/bin/antiphon hook", "/opt/bin/antiphon hook codex"];
    assert!(others.iter().all(|other| !flat(None).is_ours(other)));
    assert!(!settings(None).is_ours(&command));

    let with = flat(None).with_hooks("", &command).unwrap();
    let value: serde_json::Value = serde_json::from_str(&with).unwrap();
    let hook = serde_json::json!([{ "run": command }]);
    let on = serde_json::json!({ "stop": hook, "end": hook });
    assert_eq!(value, serde_json::json!({ "version": 1, "on": on }), "{with}");

    let before = r#"{"on":{"stop":[{"run":"say done"}]},"version":1}"#;
    let flat = flat(Some(before));
    let with = flat.with_hooks(before, &command).unwrap();
    let begins =
        r#"{"on":{"stop":[{"run":"say done"},{"run":"/opt/bin/antiphon hook pi"}],"end": ["#;
    assert!(with.starts_with(begins), "{with}");
    assert_eq!(flat.with_hooks(&with, &command).unwrap(), with);
    assert_eq!(flat.without_hooks(&with).unwrap(), before);
}
