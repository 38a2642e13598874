//! Who hears what, and what is written.

use super::*;

fn row(role: &str, words: &str) -> (String, String) {
    (role.to_owned(), words.to_owned())
}

#[test]
fn a_discussion_reaches_those_who_are_there_and_the_caller_by_its_result() {
    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let turns = r#"
{"agent": "Host", "tool_calls": [{"name": "task", "arguments": {"name": "Ann", "system_prompt": "You are A."}}, {"name": "task", "arguments": {"name": "Ben", "system_prompt": "You are B."}}, {"name": "task", "arguments": {"name": "Cid", "system_prompt": "You are C."}}]}
{"agent": "Host", "tool_calls": [{"name": "discuss", "arguments": {"prompt": "Ann?", "speakers": ["Ann"], "listeners": ["Ben"]}}]}
{"agent": "Ann", "content": "Here."}
{"agent": "Host", "content": "Good."}
"#;
    let session = Session::begin(&path, setup(HOST, turns)).unwrap();
    let turns = run(session, &["Begin."]);
    assert_eq!(said(&turns[0]), "Good.");
    let wanted = [row("system", "You are B."), row("user", "Ann?"), row("user", "[Ann]: Here.")];
    assert_eq!(transcript(&path, "Ben"), wanted);
    assert_eq!(transcript(&path, "Cid"), [row("system", "You are C.")]);
    assert!(transcript(&path, "Host").contains(&row("tool", "[Ann]: Here.")));
}

#[test]
fn a_log_that_was_resumed_goes_on_with_its_ids_and_asks_nothing_twice() {
    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let turns = "{\"agent\": \"Host\", \"content\": \"One.\"}\n{\"agent\": \"Host\", \"content\": \"Two.\"}\n";
    run(Session::begin(&path, setup(HOST, turns)).unwrap(), &["First?"]);
    let resumed = Session::resume(&path, setup(HOST, turns), false).unwrap();
    let turns = run(resumed, &["Second?"]);
    // The script's file goes on where the log stops only if the log names it; this one has a
    // name of its own.
    assert_eq!(turns.iter().map(said).collect::<Vec<_>>(), ["Two."]);
    let (session, _) = antiphon_journal::Log::find(&path).unwrap().fold().unwrap();
    assert!(!session.has_repeated_ids());
    assert!(session.info().ended);
}

#[test]
fn a_model_that_fails_for_good_ends_the_session_and_a_resume_answers_what_was_asked() {
    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let mut session = Session::begin(&path, setup(HOST, "")).unwrap();
    let error = block_on(session.prompt("Anybody?")).unwrap_err();
    assert_eq!(error.to_string(), "Host: turns.jsonl: there is no turn 1 of Host");
    session.end(Some(&error)).unwrap();
    let (folded, _) = antiphon_journal::Log::find(&path).unwrap().fold().unwrap();
    assert_eq!(folded.info().outcome.as_deref(), Some("failed"));
    let turns = "{\"agent\": \"Host\", \"content\": \"Here.\"}";
    let turns = run(Session::resume(&path, setup(HOST, turns), false).unwrap(), &[]);
    assert_eq!(turns.iter().map(said).collect::<Vec<_>>(), ["Here."]);
}

#[test]
fn a_file_that_only_a_log_names_is_not_read() {
    let stage = Stage::new();
    let (path, script) = (stage.log("log.jsonl"), stage.log("turns.jsonl"));
    let turn = "{\"agent\": \"Host\", \"content\": \"One.\"}\n";
    std::fs::write(&script, turn.repeat(2)).unwrap();
    let cast = HOST.replace("mine", &format!("script:{}", script.display()));
    let given = || Setup {
        cast: Some(Cast::parse(&cast, "cast.toml", Path::new("/")).unwrap()),
        ..Setup::default()
    };
    run(Session::begin(&path, given()).unwrap(), &["First?"]);
    let mut resumed = Session::resume(&path, Setup::default(), false).unwrap();
    let error = block_on(resumed.prompt("Second?")).unwrap_err();
    assert!(error.to_string().contains("repeat it with --model or --cast"), "{error}");
    drop(resumed);
    let turns = run(Session::resume(&path, given(), false).unwrap(), &[]);
    assert_eq!(turns.iter().map(said).collect::<Vec<_>>(), ["One."]);
}
