use proptest::prelude::*;

use super::*;

fn events(pieces: &[&[u8]]) -> Vec<(String, String)> {
    let (mut parser, mut events) = (SseParser::default(), Vec::new());
    for piece in pieces {
        parser.feed(piece, |event| events.push((event.event, event.data))).unwrap();
    }
    events
}

fn event(event: &str, data: &str) -> (String, String) {
    (event.to_owned(), data.to_owned())
}

#[test]
fn events_end_with_an_empty_line_however_lines_end() {
    let wanted = [event("ping", "a"), event("", "b\nc")];
    for end in ["\n", "\r", "\r\n"] {
        let text = "event: ping\ndata: a\n\n: a comment\ndata:b\ndata: c\nid: 7\n\n";
        assert_eq!(events(&[text.replace('\n', end).as_bytes()]), wanted, "{end:?}");
    }
}

#[test]
fn an_event_without_data_is_none_and_one_without_an_end_has_not_come() {
    assert_eq!(events(&[b"event: ping\n\ndata\n\ndata: x"]), [event("", "")]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    assert_eq!(events(&[b"\xEF\xBB\xBFdata: x\n\n"]), [event("", "x")]);
}

#[test]
fn an_event_that_is_too_long_is_refused() {
    let mut parser = SseParser::default();
    let piece = vec![b'x'; EVENT_BYTES_MAX];
    assert_eq!(parser.feed(&piece, |_| {}), Ok(()));
    assert_eq!(parser.feed(b"x", |_| {}), Err(TooLong));
}

proptest! {
    #[test]
    fn it_does_not_matter_where_a_stream_is_cut(
        bytes in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
        cuts in proptest::collection::vec(0usize..200, 0..8),
    ) {
        let mut pieces: Vec<&[u8]> = Vec::new();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut < bytes.len()).collect();
        cuts.sort_unstable();
        let mut from = 0;
        for cut in cuts {
            pieces.push(&bytes[from..cut]);
            from = cut;
        }
        pieces.push(&bytes[from..]);
        prop_assert_eq!(events(&pieces), events(&[&bytes]));
    }

    #[test]
    fn what_was_sent_arrives(data in "[^\r\n]{0,40}", name in "[a-z_]{0,12}") {
        let text = format!("event: {name}\ndata: {data}\n\n");
        prop_assert_eq!(events(&[text.as_bytes()]), [event(&name, &data)]);
    }
}
