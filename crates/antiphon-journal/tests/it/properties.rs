//! What holds for any damage and any event.

use std::io::Write;

use antiphon_journal::{Draft, Fold, Follower, Level, Log, Writer, read_bytes, salvage, verify};
use proptest::prelude::*;

use crate::story::{self, Found, Scratch};
use crate::tokens::{member, tokens};

/// One thing that happens to a file. Places are fractions of its length, in 65,536ths.
#[derive(Debug, Clone)]
enum Change {
    Flip {
        at: u16,
        bit: u8,
    },
    Cut {
        at: u16,
    },
    Insert {
        at: u16,
        bytes: Vec<u8>,
    },
    Delete {
        from: u16,
        len: u8,
    },
    Duplicate {
        from: u16,
        len: u16,
        at: u16,
    },
    /// Whole lines change places.
    Swap {
        one: u8,
        other: u8,
    },
}

fn change() -> impl Strategy<Value = Change> {
    let bytes = prop::collection::vec(prop_oneof![Just(b'\n'), Just(0), any::<u8>()], 1..40);
    prop_oneof![
        (any::<u16>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip { at, bit }),
        any::<u16>().prop_map(|at| Change::Cut { at }),
        (any::<u16>(), bytes).prop_map(|(at, bytes)| Change::Insert { at, bytes }),
        (any::<u16>(), any::<u8>()).prop_map(|(from, len)| Change::Delete { from, len }),
        (any::<u16>(), 0..9000_u16, any::<u16>()).prop_map(|(from, len, at)| Change::Duplicate {
            from,
            len,
            at
        }),
        (any::<u8>(), any::<u8>()).prop_map(|(one, other)| Change::Swap { one, other }),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let len = bytes.len();
    let place = |at: u16| usize::from(at) * len / 65_536;
    match change {
        Change::Flip { at, bit } => {
            if let Some(byte) = bytes.get_mut(place(*at)) {
                *byte ^= 1 << bit;
            }
        }
        Change::Cut { at } => bytes.truncate(place(*at)),
        Change::Insert { at, bytes: new } => {
            bytes.splice(place(*at)..place(*at), new.iter().copied());
        }
        Change::Delete { from, len } => {
            let end = (place(*from) + usize::from(*len)).min(bytes.len());
            bytes.drain(place(*from)..end);
        }
        Change::Duplicate { from, len, at } => {
            let end = (place(*from) + usize::from(*len)).min(bytes.len());
            let copy = bytes[place(*from)..end].to_vec();
            bytes.splice(place(*at)..place(*at), copy);
        }
        Change::Swap { one, other } => {
            let mut lines: Vec<_> = story::lines(bytes);
            if !lines.is_empty() {
                let (one, other) = (usize::from(*one), usize::from(*other));
                let count = lines.len();
                lines.swap(one % count, other % count);
                *bytes = lines.concat();
            }
        }
    }
}

/// A log, ours or another's, to which several things have happened.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let log = prop_oneof![3 => Just(story::log_bytes()), 1 => Just(story::foreign_bytes())];
    (log, prop::collection::vec(change(), 0..5)).prop_map(|(mut bytes, changes)| {
        for change in &changes {
            apply(&mut bytes, change);
        }
        bytes
    })
}

fn open_and_close(scratch: &Scratch) -> Vec<u8> {
    drop(Writer::open(&scratch.path, story::options(Level::Os)).unwrap());
    scratch.bytes()
}

/// At least so many cases; more if `PROPTEST_CASES` says so.
fn config(cases: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    ProptestConfig { cases: config.cases.max(cases), ..config }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn recovering_again_changes_nothing(bytes in damaged()) {
        let scratch = Scratch::with(&bytes);
        let once = open_and_close(&scratch);
        prop_assert!(once.starts_with(&bytes), "nothing is rewritten");
        prop_assert_eq!(&open_and_close(&scratch), &once);
        // The same after an event that had to go behind the damage.
        story::append(&scratch.path, story::EVENTS[2]);
        let after = scratch.bytes();
        prop_assert_eq!(open_and_close(&scratch), after);
    }

    #[test]
    fn recovering_costs_no_event_and_makes_no_new_damage(bytes in damaged()) {
        let scratch = Scratch::with(&bytes);
        let before = Found::at(&scratch.path);
        story::append(&scratch.path, story::EVENTS[2]);
        let after = Found::at(&scratch.path);
        prop_assert_eq!(&after.events[..before.events.len()], &before.events[..]);
        prop_assert_eq!(after.errors().len(), before.errors().len(), "{:?}", after.damage);
    }

    #[test]
    fn a_prefix_reads_as_a_prefix(bytes in damaged(), at in any::<u16>()) {
        let cut = usize::from(at) * bytes.len() / 65_536;
        let (part, whole) = (Found::in_bytes(&bytes[..cut]), Found::in_bytes(&bytes));
        // The line that was cut may read as another than it was.
        let lines = bytes[..cut].iter().filter(|&&byte| byte == b'\n').count();
        let part_lines = Found::in_bytes(&story::lines(&bytes)[..lines].concat());
        prop_assert_eq!(&part_lines.events[..], &whole.events[..part_lines.events.len()]);
        prop_assert!(part.events.starts_with(&part_lines.events));
    }

    #[test]
    fn a_salvaged_log_is_whole_and_its_salvage_the_same(bytes in damaged()) {
        let scratch = Scratch::with(&bytes);
        let found = Found::at(&scratch.path);
        let copy = |from: &str, to: &str| {
            let path = |name: &str| scratch.folder.path().join(name);
            let log = Log::find(&path(from)).unwrap();
            let salvaged = salvage(&log, &path(to), story::options(Level::Os)).unwrap();
            (salvaged, std::fs::read(path(to)).unwrap_or_default())
        };
        let (salvaged, once) = copy("log.jsonl", "once.jsonl");
        prop_assert_eq!(salvaged.events, found.events.len() as u64);
        prop_assume!(!once.is_empty());
        let report = verify(&Log::find(&scratch.folder.path().join("once.jsonl")).unwrap(), None);
        let report = report.unwrap();
        prop_assert!(report.is_valid(), "{:?}", report.findings);
        let (again, twice) = copy("once.jsonl", "twice.jsonl");
        prop_assert_eq!((again.changed, again.lost), (0, 0));
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn following_in_pieces_shows_what_reading_shows(bytes in damaged(), step in 1_usize..4000) {
        let scratch = Scratch::new();
        let mut file = std::fs::File::create(&scratch.path).unwrap();
        let mut follower = Follower::new(&scratch.path);
        let mut shown = Found::default();
        for piece in bytes.chunks(step) {
            file.write_all(piece).unwrap();
            let followed = follower.poll(&mut shown).unwrap();
            prop_assert!(!followed.restarted);
        }
        // What has no newline yet is not shown yet.
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let read = Found::in_bytes(&bytes[..end]);
        prop_assert_eq!(shown.events, read.events);
        prop_assert_eq!(shown.damage, read.damage);
    }

    #[test]
    fn any_bytes_can_be_read_and_gone_on_with(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..2000),
        "(\\{\"message_id\":\"m\",|\"agent_id\":\"a\"|\\}|\\n|,\"hash\":\"|[0-9a-f]{64}|\"\\}|\"n\":1,|\0){0,60}"
            .prop_map(String::into_bytes),
    ]) {
        let mut fold = Fold::default();
        read_bytes(&bytes, &mut fold);
        let scratch = Scratch::with(&bytes);
        let id = story::append(&scratch.path, story::EVENTS[2]);
        let found = Found::at(&scratch.path);
        prop_assert_eq!(&found.events.last().unwrap().id, &id);
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn what_is_written_is_read(members in prop::collection::vec(member(), 0..6)) {
        let mut all = vec![b"\"agent_id\":\"a\",\"role\":\"user\"".to_vec()];
        all.extend(members);
        let sent = all.join(&b" ,\n"[..]);
        let draft = Draft::from_bytes(&[b"{", &sent[..], b"}"].concat()).unwrap();

        let scratch = Scratch::new();
        let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
        let ack = writer.append(&draft).unwrap();
        drop(writer);
        prop_assert_eq!(story::lines(&scratch.bytes()).len(), 2, "one line, and one before it");
        let found = Found::at(&scratch.path);
        prop_assert_eq!(found.damage, []);
        let read = &found.events[1];
        prop_assert_eq!(&read.id, ack.message_id.as_str());
        let splits_a_line = read.text.contains(['\u{85}', '\u{2028}', '\u{2029}', '\r']);
        prop_assert!(!splits_a_line);
        let body = read.text.strip_prefix("{\"message_id\":\"msg_001\",").unwrap();
        let body = &body[..body.rfind(",\"timestamp\":\"").unwrap()];
        prop_assert_eq!(tokens(body.as_bytes()), tokens(&sent));

        // What comes out of a log goes in again.
        prop_assert_eq!(Draft::from_bytes(read.text.as_bytes()).is_ok(), true);
    }
}
