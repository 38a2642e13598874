//! A session that is killed after any of its events ends as the uninterrupted one did.

use super::*;

/// Runs a cast, cuts its log behind every event, and resumes.
fn check(name: &str, setup: impl Fn() -> Setup) {
    let stage = Stage::new();
    let whole = stage.log("whole.jsonl");
    run(Session::begin(&whole, setup()).unwrap(), &[]);
    let text = std::fs::read_to_string(&whole).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let wanted = transcripts(&whole);
    let mut refused = 0;
    for count in 1..lines.len() {
        let path = stage.log(&format!("cut{count}.jsonl"));
        let before = lines[..count].concat();
        std::fs::write(&path, &before).unwrap();
        let session = match Session::resume(&path, setup(), false) {
            Ok(session) => session,
            Err(ResumeError::Open(calls)) => {
                assert!(!calls.0.is_empty());
                assert_eq!(std::fs::read_to_string(&path).unwrap(), before, "nothing is written");
                refused += 1;
                Session::resume(&path, setup(), true).unwrap()
            }
            Err(error) => panic!("{name}, cut behind line {count}: {error}"),
        };
        run(session, &[]);
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(&before));
        assert_eq!(transcripts(&path), wanted, "{name}, cut behind line {count}: {}", lines[count]);
        let log = antiphon_journal::Log::find(&path).unwrap();
        assert!(antiphon_journal::verify(&log, None).unwrap().is_valid());
    }
    assert!(refused > 0, "{name}: a call is open in some of the cuts");
}

#[test]
fn every_bundled_cast_survives_a_kill_behind_every_event() {
    for cast in BUNDLED {
        check(cast.name, || {
            let cast = cast.cast(Path::new("/nowhere")).unwrap();
            Setup { cast: Some(cast), ..Setup::default() }
        });
    }
}

#[test]
fn hooks_and_inner_voices_survive_it_too() {
    let cast = format!(
        "prompt = \"Begin.\"\n{HOST}[[agent]]\nname = \"Jill\"\nsystem = \"You write.\"\n\
         [[hook]]\nname = \"Editor\"\nsystem = \"You edit.\"\nbefore = [\"*\"]\nafter = [\"Jill\"]\n"
    );
    let turns = r#"
{"agent": "Host", "tool_calls": [{"name": "discuss", "arguments": {"prompt": "Speak.", "speakers": ["Jill"]}}, {"name": "fly"}]}
{"agent": "Editor", "content": "APPROVE"}
{"agent": "Jill", "tool_calls": [{"name": "task", "arguments": {"name": "Inner", "system_prompt": "Be calm."}}]}
{"agent": "Editor", "content": "approve, why not"}
{"agent": "Jill", "content": "Fool!"}
{"agent": "Editor", "content": "REJECT: Be polite."}
{"agent": "Jill", "tool_calls": [{"name": "discuss", "arguments": {"speakers": ["Inner"]}}]}
{"agent": "Editor", "content": "DENY Speak for yourself."}
{"agent": "Jill", "content": "Friend."}
{"agent": "Editor", "content": "REMIND Be short."}
{"agent": "Host", "tool_calls": [{"name": "whisper", "arguments": {"to": "Jill", "message": "Well done."}}]}
{"agent": "Editor", "content": "APPROVE"}
{"agent": "Host", "content": "Good."}
"#;
    check("a hook", || setup(&cast, turns));
}
