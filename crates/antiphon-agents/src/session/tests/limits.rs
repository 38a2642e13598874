//! Limits end turns, and never sessions.

use super::*;

#[test]
fn beyond_its_turns_an_agent_hears_of_the_limit_and_open_calls_get_it_as_their_result() {
    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let cast = format!("{HOST}[[agent]]\nname = \"Ann\"\n[limits]\nturns = 1\n");
    let turns = "{\"agent\": \"Host\", \"tool_calls\": [{\"name\": \"discuss\", \"arguments\": {\"speakers\": [\"Ann\"]}}]}\n{\"agent\": \"Host\", \"content\": \"At last.\"}\n";
    let session = Session::begin(&path, setup(&cast, turns)).unwrap();
    let turns = run(session, &["Begin.", "Again."]);
    assert_eq!(turns[0], Turn::Limit("Limit reached: turns (1)".to_owned()));
    assert_eq!(said(&turns[1]), "At last.");
    let heard = transcript(&path, "Ann");
    assert_eq!(heard[0].1, "<system>Limit reached: turns (1)</system>");
    let host = transcript(&path, "Host");
    assert!(host.contains(&("tool".to_owned(), "Limit reached: turns (1)".to_owned())));
}

#[test]
fn a_turn_that_a_limit_ended_is_not_owed() {
    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let cast = format!("{HOST}[limits]\nturns = 0\n");
    let turns = "{\"agent\": \"Host\", \"content\": \"Too late.\"}";
    run(Session::begin(&path, setup(&cast, turns)).unwrap(), &["Begin."]);
    let resumed = Session::resume(&path, setup(HOST, turns), false).unwrap();
    assert_eq!(run(resumed, &[]), [], "and nobody is told of the limit again");
}

#[test]
fn a_person_who_stops_an_answer_is_not_given_it_later() {
    #[derive(Debug)]
    struct Endless;

    impl crate::Model for Endless {
        fn answer<'a>(
            &'a self,
            _: crate::Request<'a>,
            tell: crate::Tell<'a>,
        ) -> crate::Answering<'a> {
            Box::pin(async move {
                tell(crate::Delta::Words("It was a dark"));
                std::future::pending().await
            })
        }
    }

    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let mut given = setup(HOST, "");
    given.models.insert("openai/mine", Rc::new(Endless));
    let mut session = Session::begin(&path, given).unwrap();
    let stop = session.stop_signal();
    session.listen(move |news| {
        if matches!(news, News::Words { .. }) {
            stop.stop();
        }
    });
    assert_eq!(block_on(session.prompt("Go on.")).unwrap(), Turn::Interrupted);
    session.end(None).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"content\":\"It was a dark\""), "{text}");
    let resumed = Session::resume(&path, setup(HOST, ""), false).unwrap();
    assert_eq!(run(resumed, &[]), [], "nothing is asked again");
}

#[test]
fn what_another_program_wrote_behind_a_limit_does_not_silence_the_session() {
    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let cast = format!("{HOST}[limits]\nturns = 0\n");
    let turns = "{\"agent\": \"Host\", \"content\": \"Here.\"}";
    run(Session::begin(&path, setup(&cast, turns)).unwrap(), &["Begin."]);
    let writer = Writer::open(&path, Options::default()).unwrap();
    let note =
        r#"{"agent_id":"agent_001","role":"user","content":"By the way.","source":"system"}"#;
    writer.append(&antiphon_journal::Draft::from_json(note).unwrap()).unwrap();
    writer.close().unwrap();
    let resumed = Session::resume(&path, setup(HOST, turns), false).unwrap();
    assert_eq!(said(&run(resumed, &["Well?"])[0]), "Here.");
}
