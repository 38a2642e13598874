//! A replay writes the same log again, and names the first message that differs.

use super::*;
use crate::model::Replay;

/// The recording of a session as a model of the same name.
pub(super) fn replayed(name: &str, path: &Path, cast: Cast) -> Setup {
    replayed_then(name, path, cast, None)
}

/// The same; after the first difference, another model answers.
fn replayed_then(
    name: &str,
    path: &Path,
    cast: Cast,
    then: Option<(String, Rc<dyn crate::Model>)>,
) -> Setup {
    let log = antiphon_journal::Log::find(path).unwrap();
    let (session, _) = log.fold().unwrap();
    let bodies = antiphon_journal::LogBodies::new(&log);
    let reading = antiphon_model::Reading { session: &session, bodies: &bodies };
    let mut models = Models::default();
    models.insert(name, Rc::new(Replay::of(&reading, then).unwrap()));
    models.set_above_all(name);
    Setup { cast: Some(cast), models, ..Setup::default() }
}

/// The lines of a log without what a replay may have otherwise.
fn plain(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let plain = |line: &str| {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        let members = value.as_object_mut().unwrap();
        for key in [
            "timestamp",
            "started_at",
            "duration_ms",
            "n",
            "prev",
            "hash",
            "session_id",
            "cast",
            "language_model",
            "model",
            "request_id",
        ] {
            members.remove(key);
        }
        value
    };
    text.lines().map(plain).collect()
}

#[test]
fn every_bundled_cast_is_replayed_exactly() {
    for bundled in BUNDLED {
        let stage = Stage::new();
        let (log, again) = (stage.log("log.jsonl"), stage.log("again.jsonl"));
        let cast = bundled.cast(Path::new("/nowhere")).unwrap();
        let given = Setup { cast: Some(cast.clone()), ..Setup::default() };
        run(Session::begin(&log, given).unwrap(), &[]);
        run(Session::begin(&again, replayed("recorded", &log, cast)).unwrap(), &[]);
        assert_eq!(plain(&again), plain(&log), "{}", bundled.name);
    }
}

#[test]
fn the_first_message_that_differs_is_named() {
    let stage = Stage::new();
    let (log, other) = (stage.log("log.jsonl"), stage.log("other.jsonl"));
    let turns = "{\"agent\": \"Host\", \"content\": \"One.\"}\n";
    let given = setup(HOST, turns);
    let cast = given.cast.clone().unwrap();
    run(Session::begin(&log, given).unwrap(), &["Begin."]);
    let mut session = Session::begin(&other, replayed("recorded", &log, cast)).unwrap();
    let error = block_on(session.prompt("Begin otherwise.")).unwrap_err();
    let wanted = "Host: the session differs from its recording at message msg_004 (user, Host): \
                  `Begin.`";
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn after_the_first_difference_a_script_answers_from_its_first_turn_on() {
    let stage = Stage::new();
    let (log, other) = (stage.log("log.jsonl"), stage.log("other.jsonl"));
    let turns = ["One.", "Two.", "Three."];
    let turns = turns.map(|words| format!("{{\"agent\": \"Host\", \"content\": \"{words}\"}}\n"));
    let given = setup(HOST, &turns.concat());
    let cast = given.cast.clone().unwrap();
    run(Session::begin(&log, given).unwrap(), &["1", "2", "3"]);
    let script = Script::parse(&turns.concat().replace('.', "!"), "then.jsonl").unwrap();
    let then = Some(("script:then.jsonl".to_owned(), Rc::new(script) as Rc<dyn crate::Model>));
    let given = replayed_then("recorded", &log, cast, then);
    let turns = run(Session::begin(&other, given).unwrap(), &["1", "other", "3"]);
    assert_eq!(turns.iter().map(said).collect::<Vec<_>>(), ["One.", "One!", "Two!"]);
}
