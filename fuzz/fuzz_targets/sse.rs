//! Any bytes can come from a service. Where a stream is cut into pieces makes no difference, and no
//! byte of an event is there that was not sent.

#![no_main]

// The module alone, without the client around it: it is pure.
#[path = "../../crates/antiphon-agents/src/model/sse.rs"]
mod sse;

use libfuzzer_sys::fuzz_target;
use sse::{SseEvent, SseParser};

fn events(pieces: &[&[u8]]) -> Vec<SseEvent> {
    let (mut parser, mut events) = (SseParser::default(), Vec::new());
    for piece in pieces {
        parser.feed(piece, |event| events.push(event)).expect("shorter than the limit");
    }
    events
}

fuzz_target!(|bytes: &[u8]| {
    let whole = events(&[bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(events(&single), whole);
    let (before, after) = bytes.split_at(bytes.len() / 2);
    assert_eq!(events(&[before, after]), whole);
    // What is no UTF-8 becomes a replacement character of three bytes.
    let held: usize = whole.iter().map(|event| event.data.len() + event.event.len()).sum();
    assert!(held <= 3 * bytes.len());
});
