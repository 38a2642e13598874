//! Small sessions lie together in packs: they are listed, shown, searched, given back, grow, are
//! forgotten and repaired like those that have folders of their own.

use std::fs;
use std::path::{Path, PathBuf};

use crate::kept::{line, session};
use crate::library::{antiphon, json};
use crate::run::folder;

const SESSIONS: usize = 40;

fn id(n: usize) -> String {
    format!("session-{n:04}")
}

/// A home with some small sessions that are kept; the main file of each.
fn kept(at: &Path) -> Vec<PathBuf> {
    let mains = (0..SESSIONS).map(|n| session(at, &id(n), 3 + n)).collect();
    let synced = antiphon(at, &["sync"]);
    assert_eq!((synced.exit, synced.err.as_str()), (0, ""), "{synced}");
    mains
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

fn packs(at: &Path) -> Vec<PathBuf> {
    let mut packs = files(&at.join("store/packs"));
    packs.retain(|path| path.extension().is_some_and(|ending| ending == "zst"));
    packs
}

/// Whether any file of the store holds a text, compressed or not.
fn holds(at: &Path, text: &str) -> bool {
    files(&at.join("store")).iter().any(|path| {
        let raw = fs::read(path).unwrap();
        let all = zstd::decode_all(&*raw).unwrap_or_default();
        [raw, all].iter().any(|it| it.windows(text.len()).any(|it| it == text.as_bytes()))
    })
}

fn all_come_back(at: &Path, mains: &[PathBuf]) {
    for main in mains {
        let id = main.file_stem().unwrap().to_str().unwrap();
        let native = antiphon(at, &["export", id, "--as", "native"]);
        assert_eq!((native.exit, native.out), (0, fs::read_to_string(main).unwrap()), "{id}");
    }
}

#[test]
fn many_small_sessions_are_one_file_and_every_command_knows_them() {
    let folder = folder();
    let at = folder.path();
    let mains = kept(at);
    assert_eq!(packs(at).len(), 1);
    assert!(!at.join("store/archive").exists(), "no session has a folder");
    all_come_back(at, &mains);
    let again = json(at, &["sync", "--json"]);
    assert_eq!((&again["found"], &again["copied"]), (&SESSIONS.into(), &0.into()));
    let listed = json(at, &["ls", "--json", "--limit", "100"]);
    assert_eq!(listed.as_array().unwrap().len(), SESSIONS);
    for remake in [false, true] {
        if remake {
            assert_eq!(antiphon(at, &["reindex"]).exit, 0);
        }
        let found = json(at, &["search", "\"number 41\"", "--json"]);
        assert_eq!(found.as_array().unwrap().len(), 1);
        assert_eq!(found[0]["session"], id(39));
        let path = found[0]["path"].as_str().unwrap();
        assert_eq!(json(at, &["show", path, "--json"])["session_id"], id(39));
    }
    let shown = json(at, &["show", &id(7), "--json"]);
    assert_eq!((&shown["session_id"], &shown["problems"]), (&id(7).into(), &serde_json::json!([])));
    assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0);
    fs::remove_file(at.join("store/catalog.sqlite")).unwrap();
    assert_eq!(json(at, &["show", "latest", "--json"])["format"], "claude-code");
    // Every file of one, under its own name.
    let out = at.join("out");
    fs::create_dir(&out).unwrap();
    antiphon(at, &["export", &id(3), "--as", "native", "-o", out.to_str().unwrap()]);
    let name = format!("{}.jsonl", id(3));
    assert_eq!(fs::read(out.join(name)).unwrap(), fs::read(&mains[3]).unwrap());
}

#[test]
fn a_session_that_grows_gets_a_folder_and_comes_back_when_it_is_quiet() {
    let folder = folder();
    let at = folder.path();
    let mains = kept(at);
    let text = fs::read_to_string(&mains[5]).unwrap() + &line(&id(5), 77);
    fs::write(&mains[5], &text).unwrap();
    assert_eq!(json(at, &["sync", "--json"])["copied"], 1);
    assert_eq!(fs::read_dir(at.join("store/archive/claude-code")).unwrap().count(), 1);
    all_come_back(at, &mains);
    assert_eq!(json(at, &["ls", "--json", "--limit", "100"]).as_array().unwrap().len(), SESSIONS);
    // As if nothing had come for ten minutes.
    let source = fs::File::options().write(true).open(&mains[5]).unwrap();
    source.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(json(at, &["sync", "--json"])["copied"], 1);
    assert_eq!(fs::read_dir(at.join("store/archive/claude-code")).unwrap().count(), 0);
    all_come_back(at, &mains);
    assert_eq!(json(at, &["sync", "--json"])["copied"], 0);
    // One that was cut keeps what it was, in its own folder.
    fs::write(&mains[6], line(&id(6), 0)).unwrap();
    assert_eq!(json(at, &["sync", "--json"])["copied"], 1);
    all_come_back(at, &mains);
    assert!(holds(at, &format!("{}-8", id(6))), "the longer one is kept");
    assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0);
}

#[test]
fn a_note_about_a_packed_session_stays_with_it() {
    let folder = folder();
    let at = folder.path();
    let mains = kept(at);
    let noted = antiphon(at, &["annotate", &id(4), "--note", "worth a look"]);
    assert_eq!(noted.exit, 0, "{noted}");
    for _ in 0..2 {
        let exported = antiphon(at, &["export", &id(4), "--as", "antiphon", "-o", "-"]);
        let shown = antiphon(at, &["view", "phases", &id(4), "--json"]);
        assert!(exported.out.contains("worth a look") || shown.out.contains("worth a look"));
        antiphon(at, &["sync"]);
    }
    all_come_back(at, &mains);
}

#[test]
fn of_a_forgotten_session_no_byte_remains_though_it_was_packed_with_others() {
    let folder = folder();
    let at = folder.path();
    let mut mains = kept(at);
    assert!(holds(at, &id(9)));
    // As one that was killed while it wrote a pack would leave it.
    let half = at.join("store/packs/000002.zst.4711.new");
    fs::copy(&packs(at)[0], &half).unwrap();
    // And one that was killed while it wrote down what was to be forgotten.
    fs::create_dir(at.join("store/forgotten")).unwrap();
    let key = antiphon_catalog::Key::of("", &id(9));
    fs::write(at.join(format!("store/forgotten/{key}.pending.4711.new")), id(9)).unwrap();
    let before = fs::read(&packs(at)[0]).unwrap();
    let forgotten = antiphon(at, &["forget", &id(9), "--yes"]);
    assert_eq!(forgotten.exit, 0, "{forgotten}");
    assert!(!holds(at, &id(9)) && !half.exists());
    fs::remove_file(mains.remove(9)).unwrap();
    all_come_back(at, &mains);
    // As it is left by one that was killed before it had removed the old pack.
    let key = fs::read_dir(at.join("store/forgotten")).unwrap();
    let keys: Vec<String> = key.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    let pending: String = keys.iter().map(|key| format!("archive/claude-code/{key}\n")).collect();
    fs::write(at.join("store/packs/000001.zst"), before).unwrap();
    fs::write(at.join("store/forgotten/x.pending"), format!("{}\n{pending}", id(9))).unwrap();
    let again = antiphon(at, &["forget", &id(9), "--yes"]);
    assert_eq!(again.exit, 0, "{again}");
    assert!(!holds(at, &id(9)));
    all_come_back(at, &mains);
    assert_eq!(json(at, &["ls", "--json", "--limit", "100"]).as_array().unwrap().len(), 39);
}

#[test]
fn wherever_a_bit_of_a_pack_flips_it_is_named_or_does_no_harm_and_is_repaired() {
    let folder = folder();
    let at = folder.path();
    let mains = kept(at);
    // What has not changed lately is packed again at once.
    for main in &mains {
        let source = fs::File::options().write(true).open(main).unwrap();
        source.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    antiphon(at, &["sync"]);
    for (round, part) in [2, 5, 9, 13, 20, 50].iter().enumerate() {
        let pack = packs(at)[0].clone();
        let (mut bytes, changed) =
            (fs::read(&pack).unwrap(), fs::metadata(&pack).unwrap().modified().unwrap());
        let place = bytes.len() - bytes.len() / part;
        bytes[place] ^= 0x10;
        fs::write(&pack, bytes).unwrap();
        // As a disk does it, which tells nobody; then `doctor` finds it. Otherwise `sync` does.
        if round % 2 == 0 {
            fs::File::options().write(true).open(&pack).unwrap().set_modified(changed).unwrap();
        }
        let mut does_no_harm = true;
        for main in &mains {
            let id = main.file_stem().unwrap().to_str().unwrap();
            let native = antiphon(at, &["export", id, "--as", "native"]);
            let is_right = native.out == fs::read_to_string(main).unwrap();
            assert!(is_right || native.exit != 0, "{place}: {native}");
            does_no_harm &= is_right;
        }
        if round % 2 == 0 {
            // Of a session that is in a later pack, too, the older copy does not count any more.
            let deep = antiphon(at, &["doctor", "--deep"]);
            assert!(deep.exit == 3 || does_no_harm && deep.exit == 0, "{place}: {deep}");
        }
        let synced = antiphon(at, &["sync"]);
        assert_eq!((synced.exit, synced.err.as_str()), (0, ""), "{place}: {synced}");
        assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0, "{place}");
        all_come_back(at, &mains);
    }
    // Half of it is gone, and so are some sources: what is left is given back, the rest is named.
    let pack = packs(at)[0].clone();
    let len = fs::metadata(&pack).unwrap().len();
    fs::File::options().write(true).open(&pack).unwrap().set_len(len / 3).unwrap();
    let listed = antiphon(at, &["ls"]);
    assert!(listed.exit == 3 && listed.err.contains("packs/"), "{listed}");
    antiphon(at, &["sync"]);
    all_come_back(at, &mains);
}

#[test]
fn a_store_of_a_newer_version_is_refused_in_a_sentence_and_an_older_one_is_read() {
    let folder = folder();
    let at = folder.path();
    let mains = kept(at);
    assert_eq!(fs::read_to_string(at.join("store/version")).unwrap(), "2\n");
    fs::write(at.join("store/version"), "3\n").unwrap();
    for words in [&["ls"][..], &["sync"], &["show", "latest"], &["search", "cobalt"], &["doctor"]] {
        let told = antiphon(at, words);
        assert_eq!(told.exit, 4, "{words:?}: {told}");
        let what = "was written by a newer version of antiphon (store version 3";
        assert!(told.err.contains(what) && told.out.is_empty(), "{words:?}: {told}");
    }
    fs::remove_file(at.join("store/version")).unwrap();
    all_come_back(at, &mains[..2]);
}

#[test]
fn two_syncs_at_once_pack_every_session_once() {
    let folder = folder();
    let at = folder.path();
    let mains: Vec<PathBuf> = (0..200).map(|n| session(at, &id(n), 5)).collect();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(antiphon(at, &["sync"]).exit, 0));
        }
    });
    all_come_back(at, &mains[..20]);
    assert_eq!(json(at, &["ls", "--json", "--limit", "999"]).as_array().unwrap().len(), 200);
    assert_eq!(json(at, &["sync", "--json"])["copied"], 0);
    let all: usize = packs(at)
        .iter()
        .map(|path| {
            let all = zstd::decode_all(fs::File::open(path).unwrap()).unwrap();
            String::from_utf8_lossy(&all).matches("session-0007-4\"").count()
        })
        .sum();
    assert_eq!(all, 1, "its last line is there once");
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let path = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(file, path).unwrap();
    }
}

/// `tests/stores/version-1` is what the last version without packs wrote: a session of two blocks
/// with a table of the old form, one of one block, and one that is not compressed.
#[test]
fn a_store_of_the_version_before_gives_back_every_byte_and_goes_on() {
    let folder = folder();
    let at = folder.path();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/version-1");
    copy(&fixture, &at.join("store"));
    fs::create_dir(at.join("home")).unwrap();
    let sessions = [("old-small", 3), ("old-middle", 100), ("old-large", 8000)];
    let text = |id: &str, lines: usize| (0..lines).map(|n| line(id, n)).collect::<String>();
    assert_eq!(json(at, &["ls", "--json"]).as_array().unwrap().len(), 3);
    assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0);
    for (id, lines) in sessions {
        let native = antiphon(at, &["export", id, "--as", "native"]);
        assert!(native.exit == 0 && native.out == text(id, lines), "{id}");
    }
    let found = json(at, &["search", "\"number 7654\"", "--json"]);
    assert_eq!(found[0]["session"], "old-large");
    let mains: Vec<PathBuf> =
        sessions.iter().map(|(id, lines)| session(at, id, lines + 1)).collect();
    assert_eq!(json(at, &["sync", "--json"])["copied"], 3);
    all_come_back(at, &mains);
    assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0);
    antiphon(at, &["forget", "old-middle", "--yes"]);
    assert!(!holds(at, "old-middle"));
}
