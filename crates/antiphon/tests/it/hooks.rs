//! `antiphon install` and `antiphon hook`: sessions kept as they happen, in nobody's way.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::run::Done;

const ID: &str = "0f0e0d0c-0000-4000-8000-000000000001";
const SETTINGS: &str = ".claude/settings.json";

fn line(n: usize) -> String {
    format!(
        "{{\"type\":\"user\",\"sessionId\":\"{ID}\",\"uuid\":\"u{n}\",\"timestamp\":\"2026-05-01T10:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"number {n}\"}}}}\n"
    )
}

fn transcript() -> String {
    format!(".claude/projects/p/{ID}.jsonl")
}

fn input(home: &Home, event: &str) -> String {
    let path = home.path(&transcript());
    format!(
        "{{\"session_id\":\"{ID}\",\"transcript_path\":\"{}\",\"cwd\":\"/p\",\"hook_event_name\":\"{event}\"}}",
        path.display()
    )
}

/// What a hook must be, whatever it is given.
fn is_silent(done: &Done) -> bool {
    (done.exit, done.out.as_str(), done.err.as_str()) == (0, "", "")
}

fn hook(home: &Home, event: &str) {
    let done = home.run_with("hook", input(home, event).as_bytes());
    assert!(is_silent(&done), "{done}");
}

/// The folder of the only session in the archive.
fn archive(home: &Home) -> String {
    let keys = home.list("store/archive/claude-code");
    assert_eq!(keys.len(), 1, "{keys:?}");
    format!("store/archive/claude-code/{}", keys[0])
}

fn copy(home: &Home) -> String {
    home.text(&format!("{}/000001/{ID}.jsonl", archive(home)))
}

/// The lines of a difference that have this sign, without it.
fn changed(done: &Done, sign: &str) -> String {
    done.out.lines().filter_map(|line| line.strip_prefix(sign)).collect::<Vec<_>>().join("\n")
}

/// Waits until the copy is this: a hook that finds another at it leaves it to that one.
fn keeps(home: &Home, wanted: &str) {
    home.wait_for(wanted.get(..100).unwrap_or(wanted), |home| copy(home) == wanted);
}

#[test]
fn hooks_are_installed_once_and_removed_without_a_trace() {
    let home = Home::new();
    let before = "{\n    \"hooks\": {\n        \"Stop\": [\n            {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n        ]\n    },\n    \"model\": \"opus\"\n}\n";
    home.write(SETTINGS, before);
    let done = home.run("install claude-code --yes");
    assert_eq!((done.exit, done.err.as_str()), (0, ""), "{done}");
    let (gone, new) = (changed(&done, "- "), changed(&done, "+ "));
    assert!(new.contains("/antiphon hook"), "{done}");
    assert!(gone.lines().all(|line| new.contains(line)), "nothing goes: {done}");
    let after = home.text(SETTINGS);
    let value: serde_json::Value = serde_json::from_str(&after).unwrap();
    assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], "say done");
    let command = value["hooks"]["Stop"][1]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.starts_with('/') && command.ends_with("antiphon hook"), "{command}");
    assert_eq!(value["hooks"].as_object().unwrap().len(), 7);

    let again = home.run("install claude-code");
    assert!(again.out.contains("already has the hooks"), "{again}");
    assert_eq!(home.text(SETTINGS), after);

    let done = home.run("install claude-code --remove --yes");
    assert_eq!(done.exit, 0, "{done}");
    assert_eq!(home.text(SETTINGS), before);
    let backups: Vec<String> =
        home.list(".claude").into_iter().filter(|name| name.ends_with(".backup")).collect();
    assert_eq!(backups.len(), 2);
    let mut kept: Vec<_> =
        backups.iter().map(|name| home.text(&format!(".claude/{name}"))).collect();
    kept.sort_by_key(String::len);
    assert_eq!(kept, [before, &after]);
    let none = home.run("install claude-code --remove");
    assert!(none.out.contains("has no Antiphon hooks"), "{none}");
}

#[test]
fn without_a_terminal_nothing_is_changed_unasked() {
    let home = Home::new();
    home.write(SETTINGS, "{}");
    let done = home.run("install claude-code");
    assert_eq!(done.exit, 2, "{done}");
    assert!(done.out.contains("\"SessionStart\""), "it shows what it would change: {done}");
    assert!(done.err.contains("--yes"), "{done}");
    assert_eq!((home.text(SETTINGS).as_str(), home.list(".claude").len()), ("{}", 1));
}

#[test]
fn settings_that_are_none_are_left_alone() {
    let home = Home::new();
    home.write(SETTINGS, "{\"model\": \"opus\",}");
    let done = home.run("install claude-code --yes");
    assert_eq!(done.exit, 4, "{done}");
    assert!(done.err.contains("was not changed: 1:"), "{done}");
    assert_eq!(home.text(SETTINGS), "{\"model\": \"opus\",}");
    assert_eq!(home.list(".claude").len(), 1);
}

#[test]
fn settings_are_made_where_there_are_none() {
    let home = Home::new();
    assert_eq!(home.run("install claude-code --yes").exit, 0);
    assert!(home.text(SETTINGS).contains("antiphon hook"));
    assert_eq!(home.list(".claude"), ["settings.json"]);
}

#[test]
fn what_was_there_before_comes_back_byte_for_byte() {
    for before in [
        Some("{\"hooks\":{\"Stop\":[]}}"),
        Some("{ \"hooks\" : { \"Stop\" : [ ] , \"SessionEnd\":[ \n ] } }\n"),
        Some("{\"hooks\":{ },\"model\":\"opus\"}"),
        Some(" {} "),
        Some(""),
        None,
    ] {
        let home = Home::new();
        if let Some(before) = before {
            home.write(SETTINGS, before);
        }
        assert_eq!(home.run("install claude-code --yes").exit, 0);
        // Installed anew, by a program that lies elsewhere.
        let moved = home.text(SETTINGS).replace("/antiphon hook", "/old/antiphon hook");
        home.write(SETTINGS, &moved);
        assert_eq!(home.run("install claude-code --yes").exit, 0);
        let done = home.run("install claude-code --remove --yes");
        assert_eq!(done.exit, 0, "{done}");
        let after = std::fs::read_to_string(home.path(SETTINGS)).ok();
        assert_eq!(after.as_deref(), before, "{done}");
    }
}

#[test]
fn what_came_meanwhile_stays_and_so_does_what_was_empty() {
    let home = Home::new();
    home.write(SETTINGS, "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n");
    assert_eq!(home.run("install claude-code --yes").exit, 0);
    let edited = home.text(SETTINGS).replacen('{', "{\n  \"model\": \"opus\",", 1);
    home.write(SETTINGS, &edited);
    assert_eq!(home.run("install claude-code --remove --yes").exit, 0);
    let wanted = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
    assert_eq!(home.text(SETTINGS), wanted);
}

#[test]
fn what_a_killed_installation_left_is_removed() {
    let home = Home::new();
    home.write(".claude/settings.json.2147483646.new", "half");
    let alive = format!(".claude/settings.json.{}.new", std::process::id());
    home.write(&alive, "somebody writes this");
    home.write(".claude/settings.json.mine.new", "no number");
    assert_eq!(home.run("install claude-code --yes").exit, 0);
    let left = home.list(".claude");
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(!left.iter().any(|name| name.contains("2147483646")), "{left:?}");
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::new();
    home.write("dotfiles/claude.json", "{}\n");
    std::fs::create_dir(home.path("elsewhere")).unwrap();
    let real = home.path("dotfiles/claude.json");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, home.path("elsewhere/settings.json")).unwrap();
    let mut command = home.command(&["install", "claude-code", "--yes"]);
    command.env("CLAUDE_CONFIG_DIR", home.path("elsewhere"));
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    assert!(home.path("elsewhere/settings.json").is_symlink());
    assert!(home.text("dotfiles/claude.json").contains("antiphon hook"));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_session_is_kept_while_it_grows() {
    let home = Home::new();
    hook(&home, "SessionStart");
    assert_eq!(home.run("ls --json").out, "[]\n", "nothing is written yet");
    home.add(&transcript(), &line(1));
    hook(&home, "UserPromptSubmit");
    keeps(&home, &line(1));
    home.add(&transcript(), &line(2)[..30]);
    hook(&home, "PostToolUse");
    keeps(&home, &(line(1) + &line(2)[..30]));
    home.add(&transcript(), &line(2)[30..]);
    let below = format!(".claude/projects/p/{ID}/subagents/agent-a1.jsonl");
    home.add(
        &below,
        &line(3).replace("\"uuid\"", "\"isSidechain\":true,\"agentId\":\"a1\",\"uuid\""),
    );
    hook(&home, "SubagentStop");
    keeps(&home, &(line(1) + &line(2)));
    let kept = format!("{}/000001/{ID}/subagents/agent-a1.jsonl", archive(&home));
    home.wait_for("the sub-agent", |home| home.text(&kept) == home.text(&below));

    let rows: serde_json::Value = serde_json::from_str(&home.run("ls --json").out).unwrap();
    assert_eq!((&rows[0]["id"], &rows[0]["agent"]), (&ID.into(), &"claude-code".into()));
    // Claude Code sweeps its files after thirty days; ours stay, and are opened like any.
    std::fs::remove_dir_all(home.path(".claude")).unwrap();
    hook(&home, "Stop");
    for named in ["latest", "0f0e", ID] {
        let done = home.run(&format!("show {named} --json"));
        let summary: serde_json::Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!((&summary["agents"], done.exit), (&2.into(), 0), "{done}");
    }
}

#[test]
fn a_rewritten_transcript_never_costs_the_copy() {
    let home = Home::new();
    home.add(&transcript(), &(line(1) + &line(2)));
    hook(&home, "Stop");
    home.write(&transcript(), &line(9));
    hook(&home, "Stop");
    keeps(&home, &(line(1) + &line(2)));
    let next = format!("{}/000002/{ID}.jsonl", archive(&home));
    home.wait_for("the next generation", |home| home.text(&next) == line(9));
    assert!(home.run("view transcript latest --json").out.contains("number 9"));
}

#[test]
fn the_last_line_may_come_after_the_last_hook() {
    let home = Home::new();
    home.add(&transcript(), &line(1));
    hook(&home, "SessionEnd");
    home.add(&transcript(), &line(2));
    home.wait_for("the second line", |home| copy(home) == line(1) + &line(2));
}

#[test]
fn nothing_that_it_is_given_makes_it_say_a_word() {
    let home = Home::new();
    let long = format!("{{\"tool_response\":\"{}\"}}", "x".repeat(9 << 20));
    let elsewhere = input(&home, "Stop").replace(".claude/projects", "../../etc");
    let inputs: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"not json".to_vec(),
        b"[1,2]".to_vec(),
        b"{\"session_id\":5,\"transcript_path\":null}".to_vec(),
        b"{\"session_id\":\"x\",\"transcript_path\":\"relative.jsonl\"}".to_vec(),
        vec![0xff; 1000],
        "[".repeat(100_000).into_bytes(),
        long.into_bytes(),
        elsewhere.into_bytes(),
        input(&home, "Stop").into_bytes(),
    ];
    for bytes in inputs {
        let done = home.run_with("hook", &bytes);
        assert!(
            is_silent(&done),
            "{:?}: {done}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
        );
    }
    assert!(is_silent(&home.run("hook --catch-up ../../x")));
}

#[test]
fn a_hook_may_name_its_agent() {
    let home = Home::new();
    home.write(&transcript(), &line(1));
    let long = input(&home, "Stop") + &" ".repeat(1 << 20);
    for other in ["nobody", "codex", "''"] {
        // All of it is read: an agent that could not write it would complain.
        let done = home.run_with(&format!("hook {other}"), long.as_bytes());
        assert!(is_silent(&done), "{done}");
        assert!(!home.path("store/archive").exists(), "{other} has no hooks");
    }
    let done = home.run_with("hook claude-code", input(&home, "Stop").as_bytes());
    assert!(is_silent(&done), "{done}");
    assert_eq!(copy(&home), line(1));
}

#[test]
fn a_hook_that_brings_more_than_is_read_still_names_its_session() {
    let home = Home::new();
    home.add(&transcript(), &line(1));
    let begins = input(&home, "PostToolUse");
    let whole =
        format!("{},\"tool_response\":\"{}\"}}", begins.trim_end_matches('}'), "x".repeat(9 << 20));
    assert!(is_silent(&home.run_with("hook", whole.as_bytes())));
    keeps(&home, &line(1));
}

#[test]
fn a_store_that_cannot_be_written_is_no_ones_trouble() {
    let home = Home::new();
    home.add(&transcript(), &line(1));
    // A file where the folder should be stops everybody, even those whom permissions do not.
    home.write("store", "in the way");
    hook(&home, "Stop");
    assert_eq!(home.text("store"), "in the way");
    let mut command = home.command(&["hook"]);
    command.env_remove("HOME").env_remove("ANTIPHON_HOME");
    let done = command.stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success() && done.stderr.is_empty() && done.stdout.is_empty());
}

#[cfg(unix)]
#[test]
fn a_read_only_store_is_no_ones_trouble() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.add(&transcript(), &line(1));
    std::fs::create_dir(home.path("store")).unwrap();
    let mode =
        |mode| std::fs::set_permissions(home.path("store"), std::fs::Permissions::from_mode(mode));
    mode(0o500).unwrap();
    hook(&home, "Stop");
    mode(0o700).unwrap();
}

#[test]
fn hooks_at_once_lose_no_line_and_write_none_twice() {
    let home = Home::new();
    for round in 0..5 {
        let children: Vec<_> = (0..8)
            .map(|n| {
                home.add(&transcript(), &line(round * 8 + n));
                let path = home.path("input.json");
                std::fs::write(&path, input(&home, "PostToolUse")).unwrap();
                let stdin = std::fs::File::open(&path).unwrap();
                home.command(&["hook"]).stdin(stdin).stdout(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in children {
            assert!(child.wait_with_output().unwrap().status.success());
        }
        let written: String = (0..(round + 1) * 8).map(line).collect();
        assert!(!archive(&home).is_empty());
        // A hook that ran out of time has left the rest to a process of its own.
        home.wait_for("all lines", |home| copy(home).len() >= written.len());
        keeps(&home, &written);
    }
    let left = |home: &Home| home.list(&archive(home)) == ["000001", "session.json"];
    home.wait_for("nothing to be left over", left);
}

#[test]
fn a_large_backlog_is_copied_behind_the_agents_back() {
    let home = Home::new();
    let lines: String = (0..200_000).map(line).collect();
    home.write(&transcript(), &lines);
    let begun = Instant::now();
    hook(&home, "SessionStart");
    let took = begun.elapsed();
    let copied = copy(&home).len();
    home.wait_for("the backlog", |home| copy(home).len() >= lines.len());
    keeps(&home, &lines);
    println!(
        "hook on {} MB of backlog: {took:?}, {copied} bytes copied at once",
        lines.len() >> 20
    );
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn a_hook_takes_a_moment() {
    let home = Home::new();
    let mut times: Vec<Duration> = (0..40)
        .map(|n| {
            home.add(&transcript(), &line(n));
            let begun = Instant::now();
            hook(&home, "PostToolUse");
            begun.elapsed()
        })
        .collect();
    times.sort();
    println!("a hook takes {:?} in the middle, {:?} at most", times[20], times[39]);
    assert!(times[20] < Duration::from_secs(1), "{times:?}");
}
