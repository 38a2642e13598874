//! Input that is not what it should be: a clear error or a counted problem, never a panic.

use std::io::Write;

use crate::run::{antiphon, command, file, folder, run_with};

/// Every command that reads a session, on the same file.
fn read_in_every_way(log: &str) -> Vec<(String, crate::run::Done)> {
    let mut all = Vec::new();
    for command in [
        "show",
        "resume",
        "verify",
        "tail --once",
        "view tree",
        "view dialog",
        "view causality",
        "view delivery",
        "view hooks",
        "view flow",
        "view timeline",
    ] {
        for json in ["", "--json"] {
            let mut words: Vec<&str> = command.split(' ').collect();
            words.push(log);
            words.extend(json.split_terminator(' '));
            all.push((format!("{command} {json}"), run_with(&words, b"")));
        }
    }
    all
}

#[test]
fn no_file_no_log_no_events() {
    let folder = folder();
    let place = folder.path().to_str().unwrap();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    file(&folder, "empty.jsonl", "");
    file(&folder, "blank.jsonl", "\n\n");
    file(&folder, "binary", b"\x7fELF\x00\x01\xff\xfe\n\x00\x00");
    file(&folder, "prose.txt", "Dear diary,\n");
    let mut seen = String::new();
    for name in ["missing.jsonl", "folder", "empty.jsonl", "blank.jsonl", "binary", "prose.txt"] {
        let done = run_with(&["show", &format!("{place}/{name}")], b"");
        seen.push_str(&format!("$ antiphon show {name}\n{done}"));
    }
    insta::assert_snapshot!(seen.replace(place, "FOLDER"));
}

#[test]
fn whatever_the_bytes_no_command_panics() {
    let folder = folder();
    let deep = format!(
        "{{\"message_id\":\"m\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":{}1{}}}\n",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let nested_agents: String = (0..3000)
        .map(|n| format!("{{\"message_id\":\"m{n}\",\"event_type\":\"agent_created\",\"agent_id\":\"a{n}\",\"parent_id\":\"a{}\"}}\n", n.max(1) - 1))
        .collect();
    let files = [
        ("deep.jsonl", deep.into_bytes()),
        ("agents.jsonl", nested_agents.into_bytes()),
        ("binary.jsonl", (0..=255).cycle().take(100_000).collect()),
        ("nul.jsonl", vec![0; 10_000]),
        ("scalars.jsonl", b"1\nnull\n\"x\"\n[]\n{}\n{\"agent_id\":{}}\n".to_vec()),
        (
            "odd.jsonl",
            b"{\"agent_id\":1,\"role\":2,\"content\":3,\"tool_calls\":{},\"usage\":[]}\n".to_vec(),
        ),
    ];
    for (name, bytes) in files {
        let log = file(&folder, name, bytes);
        for (command, done) in read_in_every_way(&log) {
            assert!((0..=4).contains(&done.exit), "{command} {name}: {done}");
            assert!(!done.err.contains("panicked"), "{command} {name}: {done}");
        }
    }
}

#[test]
fn a_bad_line_is_named_and_the_rest_is_shown() {
    let folder = folder();
    let log = file(
        &folder,
        "log.jsonl",
        "{\"message_id\":\"m1\",\"agent_id\":\"a\",\"role\":\"assistant\",\"content\":\"before\"}\n{\"tool_calls\": [...]}\n{\"message_id\":\"m3\",\"agent_id\":\"a\",\"role\":\"assistant\",\"content\":\"after\"}\n",
    );
    let done = run_with(&["view", "dialog", &log], b"");
    insta::assert_snapshot!(done.to_string().replace(&log, "LOG"), @r"
    a
      before

    a
      after
    --- stderr
    LOG:2: not JSON: expected value at byte 17
    --- exit 3
    ");
}

#[test]
fn a_huge_line_is_measured_and_passed_over_in_bounded_memory() {
    let folder = folder();
    let path = folder.path().join("huge.jsonl");
    let mut log = std::fs::File::create(&path).unwrap();
    let event = |id: &str| {
        format!(
            "{{\"message_id\":\"{id}\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"x\"}}\n"
        )
    };
    log.write_all(event("m1").as_bytes()).unwrap();
    log.write_all(b"{\"content\":\"").unwrap();
    // A gigabyte, without keeping one: the file has holes, which read as zeros.
    log.set_len(1 << 30).unwrap();
    let mut log = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    log.write_all(format!("\"}}\n{}", event("m3")).as_bytes()).unwrap();
    // The limit is on what the process may ask for, so that more would be an error, not a guess.
    let done = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 600000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_antiphon")])
        .args(["view", "timeline", path.to_str().unwrap()])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.status.code(), Some(3), "{out}{err}");
    assert_eq!(out.lines().count(), 2, "{out}{err}");
    assert!(err.contains(":2: a line of 10737"), "{err}");
}

#[test]
fn unknown_agents_and_messages_are_told_with_what_there_is() {
    insta::assert_snapshot!(antiphon("view transcript samples/jack-and-jill.jsonl --agent Jackson"), @r"
    --- stderr
    error: there is no agent `Jackson`
    hint: available agents: Host, Jack, Jill
    --- exit 1
    ");
    insta::assert_snapshot!(antiphon("view trace samples/jack-and-jill.jsonl msg_999"), @r"
    --- stderr
    error: there is no message `msg_999`
    hint: `antiphon view timeline` lists the ids
    --- exit 1
    ");
    assert_eq!(antiphon("view nonsense samples/jack-and-jill.jsonl").exit, 2);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command()
        .args(["view", "timeline", "samples/debate.jsonl"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
