//! Every kind of damage to a log, at every place: it is found, located, and costs nothing else.

use antiphon_journal::{Level, Log, Writer, verify};

use crate::story::{self, Found, Scratch};

/// What is appended after damage, to see that the log goes on.
const NEXT: &str = r#"{"agent_id":"agent_001","role":"user","content":"and then?"}"#;

#[test]
fn a_log_cut_at_any_byte_reads_up_to_there_and_goes_on() {
    let whole = story::log_bytes();
    let all = Found::in_bytes(&whole);
    assert_eq!((all.events.len(), all.damage.len()), (story::EVENTS.len(), 0));
    for cut in 0..=whole.len() {
        check_cut(&whole, &all, cut);
    }
}

fn check_cut(whole: &[u8], all: &Found, cut: usize) {
    let scratch = Scratch::with(&whole[..cut]);
    let found = Found::at(&scratch.path);
    let newlines = story::lines(&whole[..cut]).iter().filter(|line| line.ends_with(b"\n")).count();
    let only_newline_lost = whole.get(cut) == Some(&b'\n');
    let kept = newlines + usize::from(only_newline_lost);
    let is_torn = cut > 0 && whole[cut - 1] != b'\n' && !only_newline_lost;
    assert_eq!(found.events, all.events[..kept], "cut at {cut}");
    match (is_torn, only_newline_lost) {
        (true, _) => assert_eq!(found.codes(), [("torn-tail", newlines as u64 + 1)], "at {cut}"),
        (false, true) => assert_eq!(found.codes(), [("unterminated", kept as u64)], "at {cut}"),
        (false, false) => assert_eq!(found.damage, [], "cut at {cut}"),
    }

    let id = story::append(&scratch.path, NEXT);
    assert!(scratch.bytes().starts_with(&whole[..cut]), "cut at {cut}: bytes were rewritten");
    let after = Found::at(&scratch.path);
    assert_eq!(after.events[..kept], all.events[..kept], "cut at {cut}");
    assert_eq!(after.events.last().unwrap().id, id);
    assert_eq!(after.events.iter().filter(|event| event.n.is_none()).count(), 0);
    after.assert_gapless();
    after.assert_ids_unique();
    let news = after.events.len() - kept;
    let wanted = 1 + usize::from(is_torn) + usize::from(kept == 0);
    assert_eq!(news, wanted, "cut at {cut}: {:#?}", after.texts());
    let lines = after.summary.unwrap().lines;
    assert_eq!(lines, (kept + wanted + usize::from(is_torn)) as u64, "cut at {cut}: blank lines");
    if is_torn {
        assert_eq!(after.codes(), [("torn-line", newlines as u64 + 1)], "cut at {cut}");
        let burnt = &all.events[kept].id;
        assert!(!after.ids().contains(&burnt.as_str()), "cut at {cut}: {burnt} is used again");
    } else {
        assert_eq!(after.damage, [], "cut at {cut}");
    }
}

#[test]
fn every_flipped_bit_is_found_on_its_line_and_costs_no_other() {
    let whole = story::log_bytes();
    let lines = story::lines(&whole);
    let mut offset = 0;
    for (at, line) in lines.iter().enumerate() {
        for byte in offset..offset + line.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[byte] ^= 1 << bit;
                check_flip(&lines, &bytes, at, byte, bit);
            }
        }
        offset += line.len();
    }
}

fn check_flip(lines: &[&[u8]], bytes: &[u8], at: usize, byte: usize, bit: u8) {
    let flip = format!("byte {byte}, bit {bit}, line {}", at + 1);
    let found = Found::in_bytes(bytes);
    let newline_lost = lines[at].len() + lines[..at].concat().len() == byte + 1;
    let newline_made = bytes[byte] == b'\n';
    let first = at as u64 + 1;
    let last = first + u64::from(newline_lost || newline_made);
    assert!(!found.errors().is_empty(), "{flip} is not found");
    for damage in &found.damage {
        assert!((first..=last).contains(&damage.line), "{flip} is blamed on {damage:?}");
    }
    // Even the line whose newline is gone stands there whole.
    for (other, line) in lines.iter().enumerate().filter(|&(other, _)| other != at || newline_lost)
    {
        let text = str::from_utf8(line).unwrap().trim_end();
        let count = found.texts().iter().filter(|&&read| read == text).count();
        assert_eq!(count, 1, "{flip}: line {} of {:?}", other + 1, found.damage);
    }
}

#[test]
fn a_flipped_bit_makes_verify_say_no_and_the_log_goes_on_behind_it() {
    let whole = story::log_bytes();
    // Opening costs a few files each time; a stride that is no multiple of anything samples all.
    for bit in (0..whole.len() * 8).step_by(61) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let before = Found::in_bytes(&bytes);
        let scratch = Scratch::with(&bytes);
        let report = verify(&Log::find(&scratch.path).unwrap(), None).unwrap();
        assert!(!report.is_valid(), "bit {bit}");

        let id = story::append(&scratch.path, NEXT);
        let after = Found::at(&scratch.path);
        assert!(scratch.bytes().starts_with(&bytes), "bit {bit}: bytes were rewritten");
        assert_eq!(after.events[..before.events.len()], before.events, "bit {bit}");
        assert_eq!(after.events.last().unwrap().id, id, "bit {bit}");
        assert_eq!(after.errors().len(), before.errors().len(), "bit {bit}: {:?}", after.damage);
        let originals = Found::in_bytes(&whole);
        let used_again =
            after.ids()[before.events.len()..].iter().any(|id| originals.ids().contains(id));
        assert!(!used_again, "bit {bit}: {:?}", after.ids());
    }
}

/// Changes the lines of the story and compares what is found: codes with line numbers, and the
/// lines whose events are read, by their number in the story.
#[track_caller]
fn check_lines(change: impl Fn(&mut Vec<&[u8]>), codes: &[(&str, u64)], read: &[usize]) {
    let whole = story::log_bytes();
    let originals = story::lines(&whole);
    let mut lines = originals.clone();
    change(&mut lines);
    let found = Found::in_bytes(&lines.concat());
    assert_eq!(found.codes(), codes);
    let number = |text: &&str| {
        let same = |line: &&[u8]| str::from_utf8(line).unwrap().trim_end() == *text;
        originals.iter().position(same).map_or(0, |at| at + 1)
    };
    assert_eq!(found.texts().iter().map(number).collect::<Vec<_>>(), read);
}

const LINES: usize = story::EVENTS.len();

#[test]
fn every_deleted_line_but_the_last_is_missed_where_it_stood() {
    for at in 0..LINES - 1 {
        let read: Vec<_> = (1..=LINES).filter(|&line| line != at + 1).collect();
        check_lines(|lines| _ = lines.remove(at), &[("gap", at as u64 + 1)], &read);
    }
}

#[test]
fn every_deleted_range_is_one_gap_with_its_count() {
    let whole = story::log_bytes();
    let lines = story::lines(&whole);
    for from in 0..LINES {
        for to in from + 1..LINES {
            let rest = [&lines[..from], &lines[to..]].concat().concat();
            let found = Found::in_bytes(&rest);
            let missing = (to - from) as u64;
            let gap = antiphon_journal::DamageKind::Gap { missing, from: from as u64 + 1 };
            assert_eq!(found.damage.iter().map(|d| d.kind.clone()).collect::<Vec<_>>(), [gap]);
            assert_eq!(found.events.len(), LINES - (to - from));
        }
    }
}

#[test]
fn a_cut_at_the_end_shows_against_a_head_kept_elsewhere() {
    use antiphon_journal::HeadComparison;
    let whole = story::log_bytes();
    let lines = story::lines(&whole);
    let head = Found::in_bytes(&whole).summary.unwrap().head;
    let half = Found::in_bytes(&lines[..5].concat()).summary.unwrap().head;
    let against = |bytes: &[u8], head| {
        let scratch = Scratch::with(bytes);
        let report = verify(&Log::find(&scratch.path).unwrap(), head).unwrap();
        (report.against, report.is_valid())
    };
    assert_eq!(against(&whole, head), (Some(HeadComparison::Matches { newer: 0 }), true));
    assert_eq!(against(&whole, half), (Some(HeadComparison::Matches { newer: 7 }), true));
    assert_eq!(
        against(&lines[..9].concat(), head),
        (Some(HeadComparison::Cut { missing: 3 }), false)
    );
    assert_eq!(against(b"", head), (Some(HeadComparison::Cut { missing: 12 }), false));
    let other = head.map(|head| antiphon_journal::Head { n: 5, ..head });
    assert_eq!(against(&whole, other), (Some(HeadComparison::Differs), false));
}

#[test]
fn every_doubled_line_is_read_once() {
    let read: Vec<_> = (1..=LINES).collect();
    for at in 0..LINES {
        let again = [("repeated", at as u64 + 2)];
        check_lines(|lines| lines.insert(at + 1, lines[at]), &again, &read);
        let at_the_end = [("repeated", LINES as u64 + 1)];
        check_lines(|lines| lines.push(lines[at]), &at_the_end, &read);
    }
}

#[test]
fn every_pair_of_swapped_lines_is_found_and_both_are_read() {
    for at in 0..LINES - 1 {
        let mut read: Vec<_> = (1..=LINES).collect();
        read.swap(at, at + 1);
        let codes = [("gap", at as u64 + 1), ("out-of-order", at as u64 + 2)];
        check_lines(|lines| lines.swap(at, at + 1), &codes, &read);
    }
}

#[test]
fn a_log_turned_round_is_read_whole() {
    let read: Vec<_> = (1..=LINES).rev().collect();
    let mut codes = vec![("gap", 1)];
    codes.extend((2..=LINES as u64).map(|line| ("out-of-order", line)));
    check_lines(|lines| lines.reverse(), &codes, &read);
}

/// Puts `tail` behind the story; it must be found on the last line, and the log must go on.
#[track_caller]
fn check_tail(tail: &[u8], code: &str) {
    let whole = story::log_bytes();
    let bytes = [&whole, tail].concat();
    let scratch = Scratch::with(&bytes);
    let found = Found::at(&scratch.path);
    assert_eq!(found.events.len(), LINES);
    assert_eq!(found.codes(), [(code, LINES as u64 + 1)]);
    let last = found.damage.last().unwrap();
    assert_eq!((last.offset, last.len), (whole.len() as u64, tail.len() as u64));

    let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    writer.append(&story::draft(NEXT)).unwrap();
    writer.close().unwrap();
    let after = Found::at(&scratch.path);
    assert!(scratch.bytes().starts_with(&bytes));
    assert_eq!((after.events.len(), after.errors().len()), (LINES + 2, 1));
    after.assert_gapless();
    after.assert_ids_unique();
}

#[test]
fn zeros_ones_and_a_piece_of_another_line_are_found_at_the_tail() {
    for len in [1, 7, 512, 4096, 300_000] {
        check_tail(&vec![0; len], "nul");
        check_tail(&vec![0xFF; len], "not-json");
    }
    let whole = story::log_bytes();
    let line = story::lines(&whole)[4];
    for from in 1..line.len() - 1 {
        let code = Found::in_bytes(&line[from..line.len() - 1]).damage[0].kind.code();
        check_tail(&line[from..line.len() - 1], code);
    }
    let stub = &line[..line.len() / 2];
    check_tail(&[stub, &[0; 4096]].concat(), "nul");
}

#[test]
fn zeros_in_the_middle_cost_the_lines_that_they_cover() {
    let whole = story::log_bytes();
    let lines = story::lines(&whole);
    let starts: Vec<_> =
        lines.iter().map(|l| l.as_ptr() as usize - whole.as_ptr() as usize).collect();
    for from in (0..whole.len() - 600).step_by(37) {
        let mut bytes = whole.clone();
        bytes[from..from + 600].fill(0);
        let found = Found::in_bytes(&bytes);
        assert!(!found.errors().is_empty());
        for (line, start) in lines.iter().zip(&starts) {
            // A line is whole even if its newline is among the zeros.
            let untouched = start + line.len() - 1 <= from || *start >= from + 600;
            let text = str::from_utf8(line).unwrap().trim_end();
            assert_eq!(found.texts().contains(&text), untouched, "zeros from {from}");
        }
        let scratch = Scratch::with(&bytes);
        story::append(&scratch.path, NEXT);
        assert_eq!(Found::at(&scratch.path).errors().len(), found.errors().len());
    }
}
