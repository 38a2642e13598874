//! Any text can be read as any format, folded, and written again as a log: nothing panics, every
//! place is within the text, and what is written is an event again.

#![no_main]

use antiphon_formats::{Duplicate, FORMATS, Sink, Stream};
use antiphon_model::{Event, Line, MemoryBodies, Problem, Session, decode};
use libfuzzer_sys::fuzz_target;

struct Check<'t> {
    text: &'t str,
    session: Session,
}

impl<'a> Sink<'a> for Check<'_> {
    fn event(&mut self, event: Event<'a>) {
        let start = event.place.offset as usize;
        let line = &self.text[start..start + event.place.len as usize];
        let json = event.to_json(line);
        assert!(decode(&Line::new(&json, 1, event.place)).is_ok(), "{json}");
        self.session.apply(&event);
    }

    fn problem(&mut self, problem: Problem) {
        self.session.add_problem(problem);
    }

    fn duplicate(&mut self, _: Duplicate) {}
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = str::from_utf8(bytes) else { return };
    // Two streams: the second half is a sub-agent's file.
    let (main, second) = match text.split_once('\u{1e}') {
        Some((main, second)) => (main, Some(second)),
        None => (text, None),
    };
    for format in FORMATS {
        let mut streams = vec![Stream { name: "main.jsonl", text: main }];
        let second = second.map(|text| Stream { name: "main/subagents/agent-a.jsonl", text });
        let has_second = second.is_some();
        streams.extend(second);
        if has_second {
            struct Fold(Session);
            impl<'a> Sink<'a> for Fold {
                fn event(&mut self, event: Event<'a>) {
                    self.0.apply(&event);
                }
                fn problem(&mut self, _: Problem) {}
                fn duplicate(&mut self, _: Duplicate) {}
            }
            (format.read)(&streams, &mut Fold(Session::default()));
            continue;
        }
        let mut check = Check { text: main, session: Session::default() };
        (format.read)(&streams, &mut check);
        let bodies = MemoryBodies::new(vec![main.as_bytes().to_vec()]);
        let links = check.session.links(&bodies).expect("every body is in the text");
        assert!(links.len() <= check.session.len() * 64 + 64);
    }
});
