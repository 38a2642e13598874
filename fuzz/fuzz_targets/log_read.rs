//! Any bytes can be read as a log and folded. What is read of the whole lines before a cut is
//! what was read of them without it.

#![no_main]

use antiphon_journal::{Damage, Fold, Seal, Sink, read_bytes};
use antiphon_model::{Event, Line};
use libfuzzer_sys::fuzz_target;

#[derive(Default)]
struct Places {
    events: Vec<(u64, u32)>,
    fold: Fold,
}

impl Sink for Places {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, seal: Option<&Seal>) {
        self.events.push((line.place.offset, line.place.len));
        self.fold.event(event, line, seal);
    }

    fn damage(&mut self, damage: Damage) {
        // Its words are built for people, from whatever the line says.
        assert!(!damage.message().is_empty());
        self.fold.damage(damage);
    }
}

fn read(bytes: &[u8]) -> Places {
    let mut places = Places::default();
    let summary = read_bytes(bytes, &mut places);
    assert_eq!(summary.bytes, bytes.len() as u64);
    assert_eq!(places.fold.session.len(), places.events.len());
    for (offset, len) in &places.events {
        assert!(offset + u64::from(*len) <= bytes.len() as u64);
    }
    places
}

fuzz_target!(|bytes: &[u8]| {
    let whole = read(bytes);
    let half = bytes.iter().take(bytes.len() / 2).rposition(|&byte| byte == b'\n');
    let cut = half.map_or(0, |newline| newline + 1);
    let before = read(&bytes[..cut]);
    assert!(whole.events.starts_with(&before.events));
});
