use std::path::Path;
use std::sync::mpsc::channel;

use antiphon_journal::Options;

use super::*;
use crate::LogTarget;
use crate::backlog::backlog;
use crate::frame::Loss;

const AT: Timestamp = Timestamp::from_millis(1_767_268_800_000);

fn printed(source: Source, bytes: &[u8]) -> Frame<'_> {
    Frame::Printed { source, at: AT, bytes }
}

/// The events that a scribe writes of these frames.
fn written(folder: &Path, frames: &[Frame<'_>], exit: Option<Exit>) -> Vec<Value> {
    let path = folder.join("log.jsonl");
    let log = path.clone();
    let target = LogTarget { folder: Box::new(move || Ok(log)), options: Options::default() };
    let (inlet, mut outlet) = backlog(folder.to_owned());
    let stream: Vec<u8> = frames.iter().flat_map(Frame::to_bytes).collect();
    inlet.fill(&*stream);
    let (events, _) = channel();
    let (recorder, _) = channel();
    let redact: Redact = Box::new(|text, _| text.replace("secret", "[gone]").into());
    let log = SessionLog::new(Some(target));
    let scribe = Scribe::new(Assignment::default(), log, redact, events, recorder);
    scribe.run(&mut outlet, &["cmd".to_owned()], || exit);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_type<'e>(events: &'e [Value], event_type: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["event_type"] == event_type).collect()
}

#[test]
fn what_was_lost_is_in_the_log_in_lines_and_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let lost = Loss { lines: 7, bytes: 99 };
    let frames = [
        printed(Source::Stdout, b"one\nbegun and "),
        Frame::Gap { at: AT, loss: lost },
        printed(Source::Stdout, b"of another\nlast"),
    ];
    let last = Loss { lines: 0, bytes: 5 };
    let exit = Exit { code: Some(0), loss: last, ..Exit::default() };
    let events = written(folder.path(), &frames, Some(exit));
    let contents: Vec<_> = of_type(&events, "output").iter().map(|it| &it["content"]).collect();
    assert_eq!(contents, ["one\nbegun and ", "of another", "last"], "what there is of it is kept");
    let gaps = of_type(&events, "gap");
    let of =
        |at: usize| (&gaps[at]["count"], &gaps[at]["extra"]["lines"], &gaps[at]["extra"]["bytes"]);
    assert_eq!(of(0), (&7.into(), &7.into(), &99.into()));
    assert_eq!(of(1), (&1.into(), &0.into(), &5.into()), "a part of a line is a loss too");
    assert_eq!(of_type(&events, "session_ended").len(), 1);
}

#[test]
fn what_could_not_be_written_is_said_in_lines_and_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let why = || Err("no space left".to_owned());
    let target = LogTarget { folder: Box::new(why), options: Options::default() };
    let (inlet, mut outlet) = backlog(folder.path().to_owned());
    inlet.fill(&*printed(Source::Stdout, b"one\ntwo\n{\"three\":3}\n").to_bytes());
    let (events, _) = channel();
    let (recorder, notices) = channel();
    let redact: Redact = Box::new(|text, _| text.into());
    let log = SessionLog::new(Some(target));
    let scribe = Scribe::new(Assignment::default(), log, redact, events, recorder);
    scribe.run(&mut outlet, &["cmd".to_owned()], || Some(Exit::default()));
    let warnings = notices.iter().filter_map(|notice| match notice {
        Notice::Warning(warning) => Some(warning),
        Notice::Begun | Notice::Written => None,
    });
    let wanted = [
        "the recording is incomplete: no space left",
        "the recording is incomplete: 3 lines (20 bytes) of output could not be written",
    ];
    assert_eq!(warnings.collect::<Vec<_>>(), wanted);
}

#[test]
fn lines_of_json_are_events_and_plain_lines_share_one() {
    let folder = tempfile::tempdir().unwrap();
    let frames = [
        printed(
            Source::Stdout,
            b"a secret\r\nb\n{\"type\":\"note\",\"t\":\"secret\"}\n{ not json\n",
        ),
        printed(Source::Stdout, b"\n"),
        printed(Source::Stderr, b"{\"type\":\"note\"}\n"),
    ];
    let exit = Exit { code: Some(0), ..Exit::default() };
    let events = written(folder.path(), &frames, Some(exit));
    let output: Vec<_> = of_type(&events, "output")
        .iter()
        .map(|it| {
            (it["stream"].as_str().unwrap(), it["content"].as_str(), it["record"]["t"].as_str())
        })
        .collect();
    let wanted = [
        ("stdout", Some("a [gone]\nb"), None),
        ("stdout", None, Some("[gone]")),
        ("stdout", Some("{ not json\n"), None),
        ("stderr", Some("{\"type\":\"note\"}"), None),
    ];
    assert_eq!(output, wanted);
}

#[test]
fn a_recorder_that_was_killed_leaves_a_log_without_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let events = written(folder.path(), &[printed(Source::Stdout, b"half a li")], None);
    assert_eq!(of_type(&events, "output")[0]["content"], "half a li");
    assert!(of_type(&events, "session_ended").is_empty());
    let log = antiphon_journal::Log::find(&folder.path().join("log.jsonl")).unwrap();
    assert_eq!(log.activity(), antiphon_model::Activity::Gone);
}
