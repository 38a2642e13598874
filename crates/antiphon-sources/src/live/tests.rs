use std::fs::{self, File};
use std::io::Write as _;

use antiphon_model::Entry;

use super::*;
use crate::cases::cases;
use crate::open;

/// The fixtures that are streams of lines: the format, the case, and its files.
fn fixtures() -> Vec<(String, Vec<PathBuf>)> {
    let mut found = Vec::new();
    for (case, files) in cases() {
        let main = case.join("input.jsonl");
        let is_stream = Bundle::find(&main).ok().flatten().is_some_and(|it| it.can_grow());
        if !is_stream {
            continue;
        }
        let files = files.into_iter().filter(|path| *path != main);
        let relative = |path: PathBuf| path.strip_prefix(&case).unwrap().to_owned();
        let mut files: Vec<PathBuf> = files.map(relative).collect();
        files.insert(0, PathBuf::from("input.jsonl"));
        found.push((case.display().to_string(), files));
    }
    assert!(found.len() > 40, "{}", found.len());
    found
}

fn nobody(_: &Event<'_>) {}

/// What matters of an entry, whatever number its stream has.
fn summaries(session: &Session) -> Vec<String> {
    let one = |entry: Entry<'_>| {
        let agent = entry.agent().map(|agent| session.agent_id(agent).to_owned());
        let kind = entry.kind();
        let calls: Vec<&str> = entry.calls().map(|(ix, _)| session.tool_name(ix)).collect();
        format!("{} {kind:?} {agent:?} {calls:?} {}", entry.id(), entry.contents().count())
    };
    session.entries().map(one).collect()
}

/// Copies the files of a case chunk by chunk, and looks after each.
fn grow(case: &str, files: &[PathBuf], quiet: Duration, mut look: impl FnMut(&mut Live)) -> Live {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("input.jsonl");
    let text = |file: &Path| fs::read(Path::new(case).join(file)).unwrap();
    let lines = text(&files[0]);
    let mut lines = lines.split_inclusive(|&byte| byte == b'\n');
    let mut out = File::create(&main).unwrap();
    // As much as it takes to know what it is.
    let mut live = loop {
        out.write_all(lines.next().unwrap()).unwrap();
        if let Ok(Some(_)) = Bundle::find(&main) {
            break Live::open(&main, Finder::FILES, quiet, &mut nobody).unwrap();
        }
    };
    let mut others = files[1..].iter();
    for (at, line) in lines.enumerate() {
        let (first, second) = line.split_at(line.len() / 2);
        out.write_all(first).unwrap();
        look(&mut live);
        out.write_all(second).unwrap();
        look(&mut live);
        if at % 2 == 1
            && let Some(other) = others.next()
        {
            let to = folder.path().join(other);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, text(other)).unwrap();
            look(&mut live);
        }
    }
    for other in others {
        let to = folder.path().join(other);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, text(other)).unwrap();
        look(&mut live);
    }
    look(&mut live);
    let opened = open(&main).unwrap();
    if quiet.is_zero() {
        let mut problems = live.problems().to_vec();
        problems.extend(live.reading().session.problems().iter().cloned());
        assert_eq!(problems.len(), opened.session.problems().len(), "{case}");
        assert_eq!(live.reading().session.usage(), opened.session.usage(), "{case}");
        let (mut grown, mut whole) =
            (summaries(live.reading().session), summaries(&opened.session));
        // Streams that came later have greater numbers; that decides between equal times alone.
        grown.sort();
        whole.sort();
        assert_eq!(grown, whole, "{case}");
    }
    live
}

#[test]
fn a_session_that_has_grown_is_the_session_that_is_opened() {
    for (case, files) in fixtures() {
        grow(&case, &files, Duration::ZERO, |live| {
            let before = summaries(live.reading().session);
            let news = live.poll(&mut nobody).unwrap();
            let after = summaries(live.reading().session);
            match news {
                News::None => assert_eq!(before, after, "{case}"),
                News::Events(first) => {
                    assert_eq!(first.index(), before.len(), "{case}");
                    assert_eq!(before, after[..before.len()], "{case}");
                }
                News::Anew => {}
            }
        });
    }
}

#[test]
fn what_may_still_grow_is_held_back_until_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("s.jsonl");
    let line = |id: &str, message: &str, text: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{{"id":"{message}","role":"assistant","model":"m","content":[{{"type":"text","text":"{text}"}}],"usage":{{"input_tokens":1,"output_tokens":1}}}}}}"#
        ) + "\n"
    };
    fs::write(&main, line("a", "m1", "one")).unwrap();
    let mut live =
        Live::open(&main, Finder::FILES, Duration::from_secs(3600), &mut nobody).unwrap();
    let count = |live: &Live| live.reading().session.len();
    let first = count(&live);
    let mut out = File::options().append(true).open(&main).unwrap();
    out.write_all(line("b", "m2", "two").as_bytes()).unwrap();
    assert_eq!(live.poll(&mut nobody).unwrap(), News::None, "it may go on");
    out.write_all(line("c", "m2", "more of it").as_bytes()).unwrap();
    assert_eq!(live.poll(&mut nobody).unwrap(), News::None, "it has gone on");
    out.write_all(line("d", "m3", "three").as_bytes()).unwrap();
    assert!(matches!(live.poll(&mut nobody).unwrap(), News::Events(_)), "another one has begun");
    assert_eq!(count(&live), first + 1);
    live.quiet = Duration::ZERO;
    assert!(matches!(live.poll(&mut nobody).unwrap(), News::Events(_)), "it was left alone");
    assert_eq!(count(&live), first + 2);
    assert_eq!(live.poll(&mut nobody).unwrap(), News::None);
}

#[test]
fn a_file_that_was_cut_or_replaced_is_opened_anew() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("s.jsonl");
    let line = |id: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"{id}"}}}}"#
        ) + "\n"
    };
    fs::write(&main, line("a") + &line("b")).unwrap();
    let mut live = Live::open(&main, Finder::FILES, Duration::ZERO, &mut nobody).unwrap();
    fs::write(&main, line("a")).unwrap();
    assert_eq!(live.poll(&mut nobody).unwrap(), News::Anew);
    fs::write(&main, line("x") + &line("y")).unwrap();
    assert_eq!(live.poll(&mut nobody).unwrap(), News::Anew);
    let ids: Vec<String> =
        live.reading().session.entries().map(|entry| entry.id().to_owned()).collect();
    assert!(ids.ends_with(&["x".to_owned(), "y".to_owned()]), "{ids:?}");
    fs::remove_file(&main).unwrap();
    assert_eq!(live.poll(&mut nobody).unwrap(), News::None, "it may come back");
}

#[test]
fn a_log_is_read_on() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("log.jsonl");
    let line =
        |text: &str| format!(r#"{{"agent_id":"a","role":"user","content":"{text}"}}"#) + "\n";
    fs::write(&main, line("one")).unwrap();
    let mut live = Live::open(&main, Finder::FILES, Duration::ZERO, &mut nobody).unwrap();
    assert_eq!(live.reading().session.len(), 1);
    let mut out = File::options().append(true).open(&main).unwrap();
    out.write_all(line("two").as_bytes()).unwrap();
    assert!(matches!(live.poll(&mut nobody).unwrap(), News::Events(first) if first.index() == 1));
    let reading = live.reading();
    let last = reading.session.entries().last().unwrap();
    assert_eq!(reading.text(last).unwrap(), "two");
    assert_eq!(live.poll(&mut nobody).unwrap(), News::None);
}
