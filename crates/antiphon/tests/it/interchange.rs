//! Sessions in the formats of other programs: written, and read again.

use crate::run::{antiphon, file, folder, run_with};

const SAMPLES: [&str; 6] =
    ["debate", "inner-monologue", "jack-and-jill", "resource-hook", "socratic-lesson", "watcher"];

#[test]
fn what_is_written_reads_back_as_it_was_written() {
    let folder = folder();
    for (form, ending) in [("atif", "json"), ("openai", "jsonl")] {
        for sample in SAMPLES {
            let done = antiphon(&format!("export samples/{sample}.jsonl --as {form}"));
            assert_eq!(done.exit, 0, "{done}");
            let path = file(&folder, &format!("{sample}.{form}.{ending}"), &done.out);
            let again = run_with(&["export", &path, "--as", form], b"");
            assert_eq!(again.out, done.out, "{form} {sample}");
        }
    }
}

#[test]
fn spans_have_every_agent_and_every_call() {
    let folder = folder();
    for sample in SAMPLES {
        let sample = format!("samples/{sample}.jsonl");
        let path = folder.path().join("spans.json").to_str().unwrap().to_owned();
        let done = run_with(&["export", &sample, "--as", "otlp", "-o", &path], b"");
        assert_eq!(done.exit, 0, "{done}");
        let facts = |path: &str| {
            let shown = run_with(&["show", path, "--json"], b"");
            let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
            (shown["calls"].clone(), shown["usage"].clone(), shown["agents"].clone())
        };
        assert_eq!(facts(&path), facts(&sample), "{sample}");
        let again = run_with(&["export", &sample, "--as", "otlp", "-o", &path], b"");
        assert_ne!(again.exit, 0, "it is there already");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_session_in_which_nobody_speaks_is_no_conversation() {
    let folder = folder();
    let path = file(&folder, "empty.jsonl", "{\"event_type\":\"session_started\"}\n");
    let done = run_with(&["export", &path, "--as", "openai"], b"");
    assert_ne!(done.exit, 0);
    assert!(done.err.contains("contains no messages"), "{done}");
}

#[test]
fn a_hyphen_is_stdout() {
    let plain = antiphon("export samples/debate.jsonl --as atif");
    let hyphen = antiphon("export samples/debate.jsonl --as atif -o -");
    assert_eq!((hyphen.out, hyphen.exit), (plain.out, 0));
}
