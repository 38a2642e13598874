//! The commands that are not views.

use crate::run::{Done, antiphon, append, file, folder, run_with};

/// Replaces what differs from run to run.
fn steady(done: &Done, folder: &tempfile::TempDir) -> String {
    done.to_string().replace(folder.path().to_str().unwrap(), "FOLDER")
}

#[test]
fn bare_antiphon_says_what_to_do_next() {
    insta::assert_snapshot!(antiphon(""));
}

#[test]
fn help_of_everything() {
    let mut all = String::new();
    let commands = [
        "--help",
        "demo --help",
        "ls --help",
        "show --help",
        "view --help",
        "view dialog --help",
        "tail --help",
        "append --help",
        "annotate --help",
        "resume --help",
        "verify --help",
        "salvage --help",
        "scan --help",
        "redact --help",
        "formats --help",
        "install --help",
        "hook --help",
    ];
    for command in commands {
        all.push_str(&format!("$ antiphon {command}\n{}\n", antiphon(command)));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn show_a_session_that_failed() {
    insta::assert_snapshot!(antiphon("show samples/resource-hook.jsonl"));
}

#[test]
fn show_as_json() {
    insta::assert_snapshot!(antiphon("show samples/watcher.jsonl --json"));
}

#[test]
fn resume_names_the_call_that_is_open() {
    insta::assert_snapshot!(antiphon("resume samples/watcher.jsonl"));
}

#[test]
fn resume_of_a_session_that_is_complete() {
    insta::assert_snapshot!(antiphon("resume samples/jack-and-jill.jsonl --json"));
}

#[test]
fn formats_as_text_and_json() {
    let both = format!("{}{}", antiphon("formats"), antiphon("formats --json"));
    insta::assert_snapshot!(both);
}

#[test]
fn verify_locates_damage_and_salvage_leaves_a_clean_copy() {
    let folder = folder();
    let sample = std::fs::read(crate::run::workspace().join("samples/watcher.jsonl")).unwrap();
    let text = String::from_utf8(sample).unwrap();
    let mut lines: Vec<String> = text.lines().map(Into::into).collect();
    let spoken = lines.iter_mut().find(|line| line.contains("\"content\":\"")).unwrap();
    *spoken = spoken.replacen("\"content\":\"", "\"content\":\"!", 1);
    lines.remove(9);
    let torn = lines.pop().unwrap();
    let damaged = format!("{}\n{}", lines.join("\n"), &torn[..torn.len() / 2]);
    let log = file(&folder, "damaged.jsonl", damaged);
    let copy = folder.path().join("copy.jsonl");
    let copy = copy.to_str().unwrap();

    let mut seen = steady(&run_with(&["verify", &log], b""), &folder);
    seen.push_str(&steady(&run_with(&["salvage", &log, "-o", copy], b""), &folder));
    let clean = run_with(&["verify", copy], b"");
    assert_eq!(clean.exit, 0, "{clean}");
    let again = run_with(&["salvage", &log, "-o", copy], b"");
    seen.push_str(&steady(&again, &folder));
    insta::assert_snapshot!(seen);
    let marked = std::fs::read_to_string(copy).unwrap();
    assert!(marked.contains("\"salvaged\":\"bad-hash\""), "a changed line must not look untouched");
}

#[test]
fn verify_compares_with_a_head_that_was_kept() {
    let folder = folder();
    let log = folder.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    append(log, "{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"one\"}\n");
    let head = |log: &str| {
        let text = run_with(&["verify", log], b"").out;
        text.lines().last().unwrap().trim().strip_prefix("head ").unwrap().to_owned()
    };
    let early = head(log);
    append(log, "{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"two\"}\n");
    let late = head(log);
    let check = |log: &str, head: &str| {
        let done = run_with(&["verify", log, "--head", head], b"");
        (done.exit, done.out.lines().nth(1).unwrap_or_default().trim().to_owned())
    };
    assert_eq!(check(log, &late), (0, "the head matches".to_owned()));
    assert_eq!(check(log, &early).0, 0);
    assert!(
        check(log, &early).1.contains("1 lines have been added since"),
        "{:?}",
        check(log, &early)
    );

    let text = std::fs::read_to_string(log).unwrap();
    let whole_lines = text.trim_end().rsplit_once('\n').unwrap().0;
    let cut = file(&folder, "cut.jsonl", format!("{whole_lines}\n"));
    assert_eq!(run_with(&["verify", &cut], b"").exit, 0, "from inside nothing is missing");
    let (exit, told) = check(&cut, &late);
    assert_eq!(exit, 1);
    assert!(told.starts_with("truncated: the last 1"), "{told}");
    assert_eq!(run_with(&["verify", log, "--head", "nonsense"], b"").exit, 2);
}

#[test]
fn the_table_in_the_readme_is_what_formats_says() {
    let readme = std::fs::read_to_string(crate::run::workspace().join("README.md")).unwrap();
    let table = antiphon("formats --markdown").out;
    assert!(readme.contains(&table), "`cargo xtask formats` writes it anew:\n{table}");
}
