use crate::fixture::{call, read, result};
use crate::{session_events, whole_event};

#[test]
fn an_event_has_its_calls_and_its_links_in_both_directions() {
    let log = vec![
        r#"{"message_id":"m1","agent_id":"a","role":"user","content":"go"}"#.to_owned(),
        call("a", "c1", "Read", r#"{"file_path":"x.rs"}"#, ""),
        result("a", "c1", ""),
    ];
    read(&log, |reading| {
        let events: Vec<_> =
            session_events(*reading, 1, 1, 100).unwrap().map(Result::unwrap).collect();
        let [event] = events.as_slice() else { panic!("one event: {events:?}") };
        assert_eq!((event.n, event.calls.len()), (2, 1));
        let ends: Vec<_> =
            event.links.iter().map(|it| (it.from.as_str(), it.to.as_str())).collect();
        assert!(ends.contains(&("m1", "a calls c1")), "{ends:?}");
        assert!(ends.contains(&("a calls c1", "a got c1")), "{ends:?}");
    });
}

#[test]
fn a_long_text_is_cut_between_characters_and_says_how_much_is_missing() {
    let text = "é".repeat(10);
    let log =
        vec![format!(r#"{{"message_id":"m1","agent_id":"a","role":"user","content":"{text}"}}"#)];
    read(&log, |reading| {
        let mut events = session_events(*reading, 0, 10, 7).unwrap();
        let event = events.next().unwrap().unwrap();
        assert_eq!((event.text.as_str(), event.truncated), ("ééé", Some(14)));
        assert!(events.next().is_none());
        let whole = whole_event(reading, reading.session.find("m1").unwrap().ix()).unwrap();
        assert_eq!((whole.event.text, whole.event.truncated), (text.clone(), None));
        assert_eq!(whole.line, log[0]);
    });
}
