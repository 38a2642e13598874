//! What must hold of every reader, whatever it is given.

use antiphon_formats::{Duplicate, FORMATS, Format, Sink, Stream};
use antiphon_model::{Event, Line, MemoryBodies, Problem, Session, decode};

/// Stands between the files of a session, in one input.
const NEXT_FILE: char = '\u{1e}';
const MOST_FILES: usize = 4;

/// Any text can be read as this format, folded, linked, and written again as a log: nothing panics,
/// every place is within the text, and what is written is an event again.
pub fn reads(format: &str, bytes: &[u8]) {
    let format = FORMATS.iter().find(|it| it.name == format).expect("a format of that name");
    let Ok(text) = str::from_utf8(bytes) else { return };
    let texts: Vec<&str> = text.split(NEXT_FILE).take(MOST_FILES).collect();
    // Detection looks at the same hostile text.
    let _ = (format.detect)(&antiphon_formats::Head::new(texts[0]).first_lines());
    // A document becomes lines first.
    let lines: Vec<String> = match format.lines {
        Some(lines) => texts.iter().map(|text| lines(text).text).collect(),
        None => return read(format, &texts),
    };
    read(format, &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Any beginning of a file is of some format or of none, also where it is cut: nothing panics, and
/// it takes no longer than its length allows.
pub fn detects(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = antiphon_formats::detect(&text);
}

fn read(format: &Format, texts: &[&str]) {
    let names = ["main.jsonl", "main/subagents/agent-a.jsonl", "rollout-b.jsonl", "agent-c.jsonl"];
    let named = names.iter().zip(texts);
    let streams: Vec<Stream<'_>> = named.map(|(name, text)| Stream { name, text }).collect();
    let mut check = Check { texts, session: Session::default() };
    (format.read)(&streams, &mut check);
    let bodies = MemoryBodies::new(texts.iter().map(|text| text.as_bytes().to_vec()).collect());
    let links = check.session.links(&bodies).expect("every body is in the text");
    assert!(links.len() <= check.session.len() * 64 + 64);
}

struct Check<'t> {
    texts: &'t [&'t str],
    session: Session,
}

impl<'a> Sink<'a> for Check<'_> {
    fn event(&mut self, event: Event<'a>) {
        let start = event.place.offset as usize;
        let text = self.texts[event.place.stream as usize];
        assert!(text.get(start..start + event.place.len as usize).is_some(), "{event:?}");
        let json = event.to_json();
        assert!(decode(&Line::new(&json, 1, event.place)).is_ok(), "{json}");
        self.session.apply(&event);
    }

    fn problem(&mut self, problem: Problem) {
        self.session.add_problem(problem);
    }

    fn duplicate(&mut self, _: Duplicate) {}
}
