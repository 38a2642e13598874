//! Following a log: an event is never missed, doubled or half shown.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use antiphon_journal::{Follower, Level, Options, Writer};

use crate::story::{self, Found, Scratch};

/// A follower and all that it has shown.
struct Watch {
    follower: Follower,
    shown: Found,
}

impl Watch {
    fn new(path: &Path) -> Self {
        Self { follower: Follower::new(path), shown: Found::default() }
    }

    /// Looks, and returns the texts of what is new.
    fn look(&mut self) -> Vec<String> {
        let before = self.shown.events.len();
        self.follower.poll(&mut self.shown).unwrap();
        self.shown.events[before..].iter().map(|event| event.text.clone()).collect()
    }

    /// That all which a reader finds was shown, in its order, and nothing else.
    #[track_caller]
    fn assert_like(&self, path: &Path) {
        let found = Found::at(path);
        assert_eq!(self.shown.events, found.events);
        assert_eq!(self.shown.damage, found.damage);
    }
}

fn append_bytes(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

fn texts(lines: &[&[u8]]) -> Vec<String> {
    lines
        .iter()
        .map(|line| String::from_utf8(line.to_vec()).unwrap().trim_end().to_owned())
        .collect()
}

#[test]
fn a_line_is_shown_when_its_newline_is_there_and_not_before() {
    for whole in [story::log_bytes(), story::foreign_bytes()] {
        let scratch = Scratch::new();
        let mut watch = Watch::new(&scratch.path);
        assert_eq!(watch.look(), [""; 0], "there is no log yet");
        for line in story::lines(&whole) {
            for byte in &line[..line.len() - 1] {
                append_bytes(&scratch.path, &[*byte]);
                assert_eq!(watch.look(), [""; 0]);
            }
            append_bytes(&scratch.path, b"\n");
            assert_eq!(watch.look(), texts(&[line]));
        }
        watch.assert_like(&scratch.path);
    }
}

#[test]
fn a_log_is_followed_from_segment_to_segment() {
    for (level, every) in [(Level::Os, 1), (Level::Disk, 1), (Level::Os, 4), (Level::Os, 40)] {
        let folder = tempfile::tempdir().unwrap();
        let mut watch = Watch::new(folder.path());
        assert_eq!(watch.look(), [""; 0], "the folder is empty yet");
        let options = Options { segment_bytes_max: 600, ..story::options(level) };
        let writer = Writer::open(folder.path(), options).unwrap();
        for n in 0..40 {
            writer.append(&story::message(&format!("m{n}"), &"z".repeat(n * 13))).unwrap();
            if n % every == 0 {
                watch.look();
            }
        }
        watch.look();
        watch.assert_like(folder.path());
        assert_eq!(watch.shown.events.len(), 41);
    }
}

#[test]
fn a_log_is_followed_while_many_threads_write_it() {
    const THREADS: usize = 4;
    const EACH: usize = 150;
    let folder = tempfile::tempdir().unwrap();
    let options = Options { segment_bytes_max: 20_000, ..story::options(Level::Os) };
    let writer = Writer::open(folder.path(), options).unwrap();
    let mut watch = Watch::new(folder.path());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let writer = &writer;
            scope.spawn(move || {
                for n in 0..EACH {
                    let content = "v".repeat(n * 7);
                    writer.append(&story::message(&format!("{thread}-{n}"), &content)).unwrap();
                }
            });
        }
        while watch.shown.events.len() < THREADS * EACH + 1 {
            watch.look();
        }
    });
    assert_eq!(watch.look(), [""; 0]);
    watch.assert_like(folder.path());
}

#[test]
fn what_a_new_segment_repeats_is_not_shown_again() {
    let whole = story::log_bytes();
    let lines = story::lines(&whole);
    // The second segment takes over from each line on, seen before or after it is there.
    for from in 0..lines.len() {
        for looks_before in [true, false] {
            let scratch = Scratch::new();
            let next = scratch.folder.path().join("log.000002.jsonl");
            let mut watch = Watch::new(&scratch.path);
            append_bytes(&scratch.path, &lines[..9].concat());
            if looks_before {
                assert_eq!(watch.look(), texts(&lines[..9]));
            }
            append_bytes(&next, &lines[from.min(9)..].concat());
            watch.look();
            assert_eq!(watch.shown.texts(), texts(&lines), "from {from}");
            assert_eq!(watch.shown.damage, []);
            assert_eq!(watch.look(), [""; 0]);
            assert_eq!(Found::at(&scratch.path).texts(), texts(&lines));
        }
    }
}

#[test]
fn a_segment_that_took_over_is_shown_in_place_of_what_was_lost_before_it() {
    let whole = story::log_bytes();
    let lines = story::lines(&whole);
    let scratch = Scratch::new();
    // Lines 5 to 7 never reached the disk; line 8 did; 5 to 8 stand in the next segment again.
    let hole = vec![0; lines[4..7].concat().len()];
    append_bytes(&scratch.path, &[&lines[..4].concat(), &hole, lines[7]].concat());
    append_bytes(&scratch.folder.path().join("log.000002.jsonl"), &lines[4..].concat());
    let found = Found::at(&scratch.path);
    assert_eq!(found.texts(), texts(&lines));
    assert_eq!(found.codes(), [("welded", 5)]);
    let mut watch = Watch::new(&scratch.path);
    watch.look();
    watch.assert_like(&scratch.path);
    // Its changed line 6 must not stand in for the good one.
    let mut changed = lines.clone();
    let line = String::from_utf8(lines[5].to_vec()).unwrap().replace("lone", "bone");
    changed[5] = line.as_bytes();
    std::fs::write(&scratch.path, changed[..8].concat()).unwrap();
    assert_eq!(Found::at(&scratch.path).texts(), texts(&lines));
    assert_eq!(Found::at(&scratch.path).codes(), [("bad-hash", 6)]);
}

/// Cuts the log after `kept` lines and half of the next, lets another writer go on, and looks
/// whenever `looks` says so. Lines that were not there before must be shown, once.
fn check_cut(whole: &[u8], kept: usize, cut_bytes: usize, looks: bool) {
    let lines = story::lines(whole);
    let scratch = Scratch::with(whole);
    let mut watch = Watch::new(&scratch.path);
    watch.look();
    let file = OpenOptions::new().write(true).open(&scratch.path).unwrap();
    let len = lines[..kept].concat().len() + cut_bytes;
    file.set_len(len as u64).unwrap();
    if looks {
        assert_eq!(watch.look(), [""; 0], "nothing is new in what is left");
    }
    let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    for n in 0..20 {
        writer.append(&story::message(&format!("new-{n}"), "after the cut")).unwrap();
    }
    drop(writer);
    let new: Vec<_> =
        Found::at(&scratch.path).texts()[kept..].iter().map(|&t| t.to_owned()).collect();
    assert_eq!(watch.look(), new, "{kept} lines and {cut_bytes} bytes");
    assert_eq!(watch.look(), [""; 0]);
}

#[test]
fn a_log_that_is_cut_and_grows_again_shows_what_is_new_and_only_that() {
    for whole in [story::log_bytes(), story::foreign_bytes()] {
        for kept in 0..story::EVENTS.len() - 1 {
            for cut_bytes in [0, 1, 30] {
                check_cut(&whole, kept, cut_bytes, true);
                check_cut(&whole, kept, cut_bytes, false);
            }
        }
    }
}

#[test]
fn a_log_that_is_copied_over_itself_shows_nothing_twice() {
    for whole in [story::log_bytes(), story::foreign_bytes()] {
        let scratch = Scratch::with(&whole);
        let mut watch = Watch::new(&scratch.path);
        watch.look();
        for piece in [1, 100, 999] {
            File::create(&scratch.path).unwrap();
            assert_eq!(watch.look(), [""; 0]);
            for bytes in whole.chunks(piece) {
                append_bytes(&scratch.path, bytes);
                if piece > 1 {
                    assert_eq!(watch.look(), [""; 0]);
                }
            }
            assert_eq!(watch.look(), [""; 0]);
        }
        watch.assert_like(&scratch.path);
    }
}

#[test]
fn another_log_in_its_place_is_shown_from_its_beginning() {
    let (ours, theirs) = (story::log_bytes(), story::foreign_bytes());
    for (old, new) in [(&ours, &theirs), (&theirs, &ours)] {
        for rename in [true, false] {
            let scratch = Scratch::with(old);
            let mut watch = Watch::new(&scratch.path);
            watch.look();
            if rename {
                let other = scratch.folder.path().join("other");
                std::fs::write(&other, new).unwrap();
                std::fs::rename(&other, &scratch.path).unwrap();
            } else {
                std::fs::write(&scratch.path, new).unwrap();
            }
            let followed = watch.follower.poll(&mut watch.shown).unwrap();
            assert!(followed.restarted);
            let wanted = [texts(&story::lines(old)), texts(&story::lines(new))].concat();
            assert_eq!(watch.shown.texts(), wanted);
            assert_eq!(watch.shown.damage, []);
        }
    }
}

#[test]
fn another_log_is_shown_whole_also_where_it_says_the_same() {
    let line = |id, content| {
        format!(
            "{{\"message_id\":\"{id}\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"{content}\"}}\n"
        )
    };
    let log = |title| [line("m1", title), line("m2", "same"), line("m3", "same")].concat();
    let scratch = Scratch::with(log("one").as_bytes());
    let mut watch = Watch::new(&scratch.path);
    assert_eq!(watch.look().len(), 3);
    // Of another length, so that a look is enough to see it.
    std::fs::write(&scratch.path, log("another")).unwrap();
    assert_eq!(watch.look().len(), 3);
}

#[test]
fn another_log_in_place_of_one_with_segments_is_shown_from_its_beginning() {
    let scratch = Scratch::new();
    let folder = scratch.folder.path().join("log");
    let write = |title: &str, segment_bytes_max, count| {
        std::fs::create_dir(&folder).unwrap();
        let options = Options { segment_bytes_max, ..story::options(Level::Os) };
        let writer = Writer::open(&folder, options).unwrap();
        let first = format!(r#"{{"event_type":"session_started","title":"{title}"}}"#);
        writer.append(&story::draft(&first)).unwrap();
        for n in 0..count {
            writer.append(&story::message(&format!("{title}{n}"), title)).unwrap();
        }
    };
    for (segment_bytes_max, count) in [(400, 5), (400, 30), (u64::MAX, 5)] {
        write("old", 400, 10);
        let mut watch = Watch::new(&folder);
        assert_eq!(watch.look().len(), 11);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(watch.look(), [""; 0]);
        write("new", segment_bytes_max, count);
        watch.look();
        assert_eq!(watch.shown.events[11..], Found::at(&folder).events);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
