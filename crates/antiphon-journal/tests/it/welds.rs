//! Lines that have grown together, lines of other writers, and what other programs do to a file.

use antiphon_journal::{Level, Log, Writer, verify};

use crate::story::{self, Found, Scratch};

const LINES: usize = story::EVENTS.len();

/// Builds a log from the lines of the story; compares what is wrong with it, line by line, and
/// says which of the lines are read, by their numbers in the story (0 is a line of another's).
#[track_caller]
fn check(build: impl Fn(&[&[u8]]) -> Vec<u8>, codes: &[(&str, u64)], read: &[usize]) {
    let whole = story::log_bytes();
    check_built(&story::lines(&whole), &build(&story::lines(&whole)), codes, read);
}

#[track_caller]
fn check_foreign(build: impl Fn(&[&[u8]]) -> Vec<u8>, codes: &[(&str, u64)], read: &[usize]) {
    let whole = story::foreign_bytes();
    check_built(&story::lines(&whole), &build(&story::lines(&whole)), codes, read);
}

#[track_caller]
fn check_built(lines: &[&[u8]], bytes: &[u8], codes: &[(&str, u64)], read: &[usize]) {
    let found = Found::in_bytes(bytes);
    assert_eq!(found.codes(), codes);
    let number = |text: &&str| {
        let same = |line: &&[u8]| str::from_utf8(line).unwrap().trim_end() == *text;
        lines.iter().position(same).map_or(0, |at| at + 1)
    };
    assert_eq!(found.texts().iter().map(number).collect::<Vec<_>>(), read);

    // Whatever it is, it can be gone on with, and what was read is read.
    let scratch = Scratch::with(bytes);
    story::append(&scratch.path, r#"{"agent_id":"agent_001","role":"user","content":"on"}"#);
    let after = Found::at(&scratch.path);
    assert!(scratch.bytes().starts_with(bytes));
    assert_eq!(after.events[..found.events.len()], found.events);
    assert_eq!(after.errors().len(), found.errors().len(), "{:?}", after.codes());
    after.assert_ids_unique();
}

fn upto(end: usize) -> Vec<usize> {
    (1..=end).collect()
}

fn without_newline(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap()
}

#[test]
fn two_whole_lines_on_one_are_both_read_wherever_they_stand() {
    for at in 0..LINES - 1 {
        let build = |lines: &[&[u8]]| {
            let mut lines = lines.to_vec();
            lines[at] = without_newline(lines[at]);
            lines.concat()
        };
        check(build, &[("welded", at as u64 + 1)], &upto(LINES));
    }
}

#[test]
fn all_lines_on_one_are_all_read() {
    let build = |lines: &[&[u8]]| {
        lines.iter().map(|line| without_newline(line)).collect::<Vec<_>>().concat()
    };
    check(build, &[("welded", 1), ("unterminated", 1)], &upto(LINES));
}

#[test]
fn a_line_is_read_behind_a_stub_of_any_length() {
    let whole = story::log_bytes();
    let line = story::lines(&whole)[8];
    for cut in 1..line.len() - 1 {
        let bytes = [&whole, &line[..cut], line].concat();
        let found = Found::in_bytes(&bytes);
        assert_eq!(found.events.len(), LINES, "stub of {cut}");
        assert_eq!(found.codes(), [("welded", 13), ("repeated", 13)], "stub of {cut}");
    }
}

#[test]
fn stubs_before_between_and_behind_whole_lines_are_passed_over() {
    let build = |lines: &[&[u8]]| {
        let mut lines = lines.to_vec();
        let stub = &lines[4][..40];
        let welded =
            [stub, without_newline(lines[6]), stub, without_newline(lines[7]), stub, b"\n"];
        let welded = welded.concat();
        lines.splice(6..8, [&*welded]);
        lines.concat()
    };
    check(build, &[("welded", 7)], &upto(LINES));
}

#[test]
fn zeros_before_a_whole_line_do_not_hide_it() {
    let build = |lines: &[&[u8]]| {
        let zeros: &[u8] = &[0; 512];
        [&lines[..3], &[zeros], &lines[3..]].concat().concat()
    };
    check(build, &[("welded", 4)], &upto(LINES));
}

#[test]
fn a_byte_order_mark_blank_lines_and_carriage_returns_are_no_damage() {
    check(|lines| [&[&b"\xEF\xBB\xBF"[..]], lines].concat().concat(), &[], &upto(LINES));
    check(|lines| lines.join(&b"\n \n\t\n"[..]), &[], &upto(LINES));
    let crlf = |lines: &[&[u8]]| {
        lines.iter().flat_map(|line| [without_newline(line), b"\r\n"]).collect::<Vec<_>>().concat()
    };
    check(crlf, &[], &upto(LINES));
    check_foreign(crlf, &[], &upto(LINES - 1));
}

#[test]
fn a_sealed_log_with_carriage_returns_still_shows_damage() {
    let whole = story::log_bytes();
    let text = String::from_utf8(whole).unwrap().replace('\n', "\r\n").replace("bloom", "gloom");
    let found = Found::in_bytes(text.as_bytes());
    assert_eq!(found.codes(), [("bad-hash", 7)]);
    assert_eq!(found.summary.unwrap().sealed, LINES as u64 - 1);
}

#[test]
fn a_line_without_a_seal_among_ours_is_read_with_a_warning() {
    let other = b"{\"message_id\":\"x\",\"agent_id\":\"agent_001\",\"role\":\"user\"}\n";
    for at in 1..=LINES {
        let build = |lines: &[&[u8]]| [&lines[..at], &[other], &lines[at..]].concat().concat();
        let mut read = upto(LINES);
        read.insert(at, 0);
        check(build, &[("unchained", at as u64 + 1)], &read);
    }
    let scratch = Scratch::with(&[&story::log_bytes(), &other[..]].concat());
    let report = verify(&Log::find(&scratch.path).unwrap(), None).unwrap();
    assert!(report.is_valid(), "a warning only");
}

#[test]
fn two_lines_with_one_number_are_both_read() {
    let whole = story::log_bytes();
    let cut = story::lines(&whole)[..4].concat();
    let forked = Scratch::with(&cut);
    let content = r#"{"agent_id":"agent_001","role":"user","content":"another way"}"#;
    story::append(&forked.path, content);
    story::append(&forked.path, content);
    let fork = forked.bytes();
    let bytes = [&whole[..], &fork[cut.len()..]].concat();
    let found = Found::in_bytes(&bytes);
    assert_eq!(found.codes(), [("forked", 13), ("forked", 14)]);
    assert_eq!(found.events.len(), LINES + 2);
    let joined = [&fork[..], &whole[cut.len()..]].concat();
    assert_eq!(Found::in_bytes(&joined).events.len(), LINES + 2);
}

#[test]
fn a_foreign_log_is_read_without_a_word_about_seals() {
    check_foreign(|lines| lines.concat(), &[], &upto(LINES - 1));
}

#[test]
fn a_foreign_log_cut_at_any_byte_reads_up_to_there_and_goes_on() {
    let whole = story::foreign_bytes();
    let all = Found::in_bytes(&whole);
    for cut in 1..whole.len() {
        let scratch = Scratch::with(&whole[..cut]);
        let newlines = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
        let kept = newlines + usize::from(whole[cut] == b'\n');
        let torn = whole[cut - 1] != b'\n' && whole[cut] != b'\n';
        let found = Found::at(&scratch.path);
        assert_eq!(found.events, all.events[..kept], "cut at {cut}");
        let codes: &[_] = if torn { &[("torn-tail", newlines as u64 + 1)] } else { &[] };
        assert_eq!(found.codes(), codes, "cut at {cut}");

        let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
        writer.append(&story::draft(story::EVENTS[2])).unwrap();
        writer.close().unwrap();
        let after = Found::at(&scratch.path);
        assert_eq!(after.events[..kept], all.events[..kept], "cut at {cut}");
        after.assert_gapless();
        after.assert_ids_unique();
        // A beginning, what was found torn, and the event.
        assert_eq!(after.events.len(), kept + 2 + usize::from(torn), "cut at {cut}");
    }
}

#[test]
fn foreign_lines_that_have_grown_together_are_told_apart() {
    let joined = |lines: &[&[u8]]| {
        let mut lines = lines.to_vec();
        lines[3] = without_newline(lines[3]);
        lines.concat()
    };
    check_foreign(joined, &[("welded", 4)], &upto(LINES - 1));
    // The stub of one line, and the next one on it.
    let whole = story::foreign_bytes();
    let lines = story::lines(&whole);
    for cut in 20..lines[3].len() - 1 {
        let bytes = [&lines[..3].concat(), &lines[3][..cut], &lines[4..].concat()].concat();
        let found = Found::in_bytes(&bytes);
        let read: Vec<_> = found.ids();
        let wanted = ["msg_002", "msg_003", "msg_004", "msg_006", "msg_007", "msg_008", "msg_009"];
        assert_eq!(read[..7], wanted, "stub of {cut}");
        assert_eq!(found.codes(), [("welded", 4)], "stub of {cut}");
    }
}
