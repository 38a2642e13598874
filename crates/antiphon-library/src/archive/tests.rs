use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::Duration;

use antiphon_sources::Member;

use super::copy::{Job, Step};
use super::*;
use crate::storage::{check_session, storage};

struct Scene {
    folder: tempfile::TempDir,
    store: Store,
    source: Source,
}

const ID: &str = "0f0e0d0c-0000-4000-8000-000000000001";

fn line(n: usize) -> String {
    format!(
        "{{\"type\":\"user\",\"sessionId\":\"{ID}\",\"uuid\":\"u{n}\",\"message\":{{\"role\":\"user\",\"content\":\"number {n}\"}}}}\n"
    )
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("projects/p");
        fs::create_dir_all(project.join(ID).join("subagents")).unwrap();
        let file = project.join(format!("{ID}.jsonl"));
        let store = Store::at(folder.path().join("store"));
        let source = Source::new("claude-code", ID.to_owned(), file);
        Self { folder, store, source }
    }

    fn add(&self, name: &str, text: &str) {
        let path = self.folder.path().join("projects/p").join(name);
        let mut options = OpenOptions::new();
        options.append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn main(&self, text: &str) {
        self.add(&format!("{ID}.jsonl"), text);
    }

    fn archive(&self) -> Copied {
        self.store.archive(&self.source, None).unwrap()
    }

    fn copy(&self, name: &str) -> String {
        let folder = self.store.archive_folder("claude-code", &Key::of("claude-code", ID));
        fs::read_to_string(folder.join(name)).unwrap_or_default()
    }

    fn main_copy(&self, generation: u32) -> String {
        self.copy(&format!("{generation:06}/{ID}.jsonl"))
    }
}

#[test]
fn every_byte_is_copied_as_it_comes() {
    let scene = Scene::new();
    assert_eq!(scene.archive(), Copied::All, "a file that is not there yet is no error");
    assert!(scene.store.sessions().is_empty());
    scene.main(&line(1));
    scene.main(&line(2)[..20]);
    assert_eq!(scene.archive(), Copied::All);
    assert_eq!(scene.main_copy(1), line(1) + &line(2)[..20]);
    scene.main(line(2)[20..].trim_end());
    scene.archive();
    assert_eq!(scene.main_copy(1), line(1) + line(2).trim_end(), "a last line without its end");
    scene.main("\n");
    scene.archive();
    scene.archive();
    assert_eq!(scene.main_copy(1), line(1) + &line(2));
    assert_eq!(scene.main_copy(2), "");
    let sessions = scene.store.sessions();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].session_id, ID);
    assert_eq!(sessions[0].format, "claude-code");
}

#[test]
fn sub_agents_come_along_and_other_sessions_do_not() {
    let scene = Scene::new();
    scene.main(&line(1));
    let below = format!("{ID}/subagents");
    scene.add(&format!("{below}/agent-a.jsonl"), &line(7));
    scene.add(&format!("{below}/agent-a.meta.json"), "{\"agentType\":");
    scene.add("agent-b.jsonl", &line(8));
    scene.add("agent-c.jsonl", &line(9).replace(ID, "another"));
    scene.add("another.jsonl", &line(10));
    scene.archive();
    assert_eq!(scene.copy(&format!("000001/{below}/agent-a.jsonl")), line(7));
    let half = scene.copy(&format!("000001/{below}/agent-a.meta.json"));
    assert_eq!(half, "{\"agentType\":", "half a document is better than none");
    assert_eq!(scene.copy("000001/agent-b.jsonl"), line(8));
    assert_eq!(scene.copy("000001/agent-c.jsonl"), "");
    assert_eq!(scene.copy("000001/another.jsonl"), "");
    scene.add(&format!("{below}/agent-a.meta.json"), "\"x\"}");
    scene.archive();
    let document = scene.copy(&format!("000001/{below}/agent-a.meta.json"));
    assert_eq!(document, "{\"agentType\":\"x\"}");
}

#[test]
fn a_file_that_was_cut_or_rewritten_begins_another_generation() {
    let scene = Scene::new();
    let all = |numbers: [usize; 2]| numbers.map(line).concat();
    scene.main(&all([1, 2]));
    scene.archive();
    fs::write(&scene.source.file, line(1)).unwrap();
    scene.archive();
    assert_eq!((scene.main_copy(1), scene.main_copy(2)), (all([1, 2]), line(1)));
    fs::write(&scene.source.file, all([3, 4])).unwrap();
    scene.archive();
    assert_eq!((scene.main_copy(2), scene.main_copy(3)), (line(1), all([3, 4])));
    fs::remove_file(&scene.source.file).unwrap();
    assert_eq!(scene.archive(), Copied::All);
    assert_eq!(scene.main_copy(3), all([3, 4]), "what its agent deletes stays");
    let latest = &scene.store.sessions()[0];
    let opened = crate::open(&latest.path()).unwrap();
    assert_eq!(opened.session.entries().filter(|entry| entry.role().is_some()).count(), 2);
}

#[test]
fn a_copy_that_was_interrupted_goes_on_where_it_stopped() {
    let scene = Scene::new();
    let lines: String = (0..5000).map(line).collect();
    scene.main(&lines);
    let over = Some(Instant::now());
    assert_eq!(scene.store.archive(&scene.source, over).unwrap(), Copied::Unfinished);
    let key = Key::of("claude-code", ID);
    assert_eq!(scene.store.catch_up("claude-code", &key).unwrap(), Copied::All);
    assert_eq!(scene.main_copy(1), lines);
    // As a crash in the middle of a line would leave it.
    let path = scene.store.archive_folder("claude-code", &key).join(format!("000001/{ID}.jsonl"));
    File::options().write(true).open(path).unwrap().set_len(777).unwrap();
    scene.archive();
    assert_eq!((scene.main_copy(1), scene.main_copy(2)), (lines, String::new()));
}

#[test]
fn only_the_agents_own_files_are_copied() {
    let scene = Scene::new();
    scene.main("some notes of mine\n");
    assert_eq!(scene.archive(), Copied::Unread);
    assert_eq!(scene.main_copy(1), "");
}

#[test]
fn who_finds_another_at_it_leaves_and_is_not_forgotten() {
    let scene = Scene::new();
    scene.main(&line(1));
    scene.archive();
    let folder = scene.store.archive_folder("claude-code", &Key::of("claude-code", ID));
    let other = File::open(&folder).unwrap();
    other.lock().unwrap();
    scene.main(&line(2));
    assert_eq!(scene.archive(), Copied::Busy);
    assert!(folder.join("wanted").exists());
    drop(other);
    scene.archive();
    assert_eq!(scene.main_copy(1), line(1) + &line(2));
    assert!(!folder.join("wanted").exists());
}

#[test]
fn with_little_time_files_beside_are_looked_into_once_they_have_changed() {
    let scene = Scene::new();
    scene.main(&line(1));
    scene.add("agent-b.jsonl", &line(2));
    let soon = || Some(Instant::now() + std::time::Duration::from_secs(60));
    let in_time = || scene.store.archive(&scene.source, soon()).unwrap();
    assert_eq!(in_time(), Copied::Unfinished, "there may be more than can be looked into");
    assert_eq!((scene.main_copy(1), scene.copy("000001/agent-b.jsonl")), (line(1), String::new()));
    scene.store.catch_up("claude-code", &Key::of("claude-code", ID)).unwrap();
    assert_eq!(scene.copy("000001/agent-b.jsonl"), line(2));
    scene.add("agent-b.jsonl", &line(3));
    scene.add("agent-c.jsonl", &line(4));
    assert_eq!(in_time(), Copied::All);
    assert_eq!(scene.copy("000001/agent-b.jsonl"), line(2) + &line(3));
    assert_eq!(scene.copy("000001/agent-c.jsonl"), line(4));
    fs::write(&scene.source.file, line(9)).unwrap();
    assert_eq!(in_time(), Copied::Unfinished, "a new generation has none of them yet");
    scene.archive();
    assert_eq!(scene.copy("000002/agent-b.jsonl"), line(2) + &line(3));
}

#[test]
fn a_packed_copy_is_left_to_the_background_by_who_has_no_time() {
    let scene = Scene::new();
    let lines: String = (0..200).map(line).collect();
    scene.main(&lines);
    assert_eq!(
        scene.store.archive_packed(&scene.source, Known::Nothing, false).unwrap().copied,
        Copied::All
    );
    scene.main(&line(200));
    let soon = Instant::now() + Duration::from_secs(60);
    assert_eq!(scene.store.archive(&scene.source, Some(soon)).unwrap(), Copied::Unfinished);
    assert_eq!(scene.archive(), Copied::All);
    let key = Key::of(scene.source.agent, ID);
    let main =
        Copies::at(&scene.store.archive_folder(scene.source.agent, &key)).main_file().unwrap();
    assert_eq!(fs::read_to_string(main).unwrap(), lines + &line(200));
}

/// Copies files of which nothing else is known, as `archive` does.
struct Bench {
    folder: tempfile::TempDir,
    known: std::collections::BTreeMap<String, state::FileCopy>,
    is_doubted: bool,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("copies")).unwrap();
        Self { folder, known: std::collections::BTreeMap::new(), is_doubted: false }
    }

    fn source(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn copies(&self) -> Folder {
        Folder::new(self.folder.path().join("copies"))
    }

    fn copy(&self, name: &str) -> PathBuf {
        self.folder.path().join("copies").join(name)
    }

    fn run(&mut self, name: &str, bytes: &[u8]) -> Step {
        fs::write(self.source(name), bytes).unwrap();
        self.run_again(name)
    }

    fn run_again(&mut self, name: &str) -> Step {
        let stored = name.strip_suffix(".zst").unwrap_or(name);
        let member = Member { name: stored.to_owned(), path: self.source(name), document: None };
        let mut job = Job {
            member: &member,
            bytes: &self.copies(),
            name: stored,
            within: self.folder.path(),
            deadline: None,
            form: Form::Growing,
            is_doubted: self.is_doubted,
            known: self.known.get(name).cloned(),
            is_mended: false,
            opened: None,
        };
        let step = job.run().unwrap();
        self.known.extend(job.known.map(|known| (name.to_owned(), known)));
        step
    }

    /// What the copy holds, packed or not.
    fn kept(&self, name: &str) -> String {
        let stored = self.copy(name);
        let bytes = antiphon_sources::read_bytes(&if stored.exists() {
            stored
        } else {
            pack::packed(&stored)
        });
        String::from_utf8(bytes.unwrap_or_default()).unwrap()
    }

    fn age(&self, name: &str) {
        let file = File::options().write(true).open(self.source(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
}

#[test]
fn a_document_of_any_kind_is_replaced_by_one_that_is_as_long() {
    let mut bench = Bench::new();
    let mut copy = |name: &str, text: &str| {
        let step = bench.run(name, text.as_bytes());
        (step, bench.kept(name))
    };
    assert_eq!(copy("notes.md", "# One"), (Step::New(b"# One".to_vec()), "# One".to_owned()));
    assert_eq!(copy("notes.md", "# Two"), (Step::New(b"# Two".to_vec()), "# Two".to_owned()));
    assert_eq!(copy("notes.md", "#"), (Step::Rewritten, "# Two".to_owned()));
    assert_eq!(copy("a.json", "\u{feff}{}").1, "\u{feff}{}");
    assert_eq!(copy("a.json", "{\"a\":1"), (Step::Half, "\u{feff}{}".to_owned()));
    assert_eq!(copy("a.json", "{\"a\":1}").1, "{\"a\":1}");
    assert_eq!(copy("a.json", "{}"), (Step::Rewritten, "{\"a\":1}".to_owned()));
}

#[test]
fn half_a_document_that_stays_half_is_kept_beside_the_whole_one() {
    let mut bench = Bench::new();
    bench.run("a.json", b"{}");
    assert_eq!(bench.run("a.json", b"{\"a\":1"), Step::Half, "the rest may come");
    bench.age("a.json");
    assert_eq!(bench.run_again("a.json"), Step::Rewritten);
}

#[test]
fn what_an_agent_has_packed_never_replaces_more_than_it_holds() {
    let mut bench = Bench::new();
    let text: String = (0..300).map(line).collect();
    // Copied while it was growing, and then packed by its agent.
    fs::write(bench.copy("r.jsonl"), &text[..1000]).unwrap();
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    assert_eq!(bench.run("r.jsonl.zst", &packed), Step::Done);
    assert!(bench.kept("r.jsonl") == text && !bench.copy("r.jsonl").exists());
    assert_eq!(bench.run("r.jsonl.zst", &packed[..packed.len() / 2]), Step::Half);
    assert!(bench.kept("r.jsonl") == text, "half of it");
    let shorter = zstd::encode_all(&text.as_bytes()[..5000], 3).unwrap();
    assert_eq!(bench.run("r.jsonl.zst", &shorter), Step::Rewritten);
    assert!(bench.kept("r.jsonl") == text);
    fs::write(bench.copy("r.jsonl.zst"), &packed[..packed.len() / 2]).unwrap();
    assert_eq!(bench.run("r.jsonl.zst", &packed), Step::Done);
    assert!(bench.kept("r.jsonl") == text, "after a crash had cut the copy");
}

#[test]
fn a_damaged_copy_is_written_again_from_a_source_that_begins_with_what_it_was() {
    let text: String = (0..300).map(line).collect();
    let (whole, more) = (text.as_bytes(), text.clone() + &line(300));
    let packed_copy = |bench: &Bench| {
        let sums = &bench.known["s.jsonl"].sums;
        pack::pack(&bench.copies(), "s.jsonl", Some(sums)).unwrap();
        pack::packed(&bench.copy("s.jsonl"))
    };
    for is_packed in [false, true] {
        for grown in [text.clone(), more.clone()] {
            let mut bench = Bench::new();
            bench.run("s.jsonl", whole);
            let stored = if is_packed { packed_copy(&bench) } else { bench.copy("s.jsonl") };
            let good = fs::read(&stored).unwrap();
            for at in (0..good.len()).step_by(good.len() / 40 + 1).chain([good.len() - 1]) {
                let mut bad = good.clone();
                bad[at] ^= 0x10;
                fs::remove_file(bench.copy("s.jsonl")).ok();
                fs::write(&stored, bad).unwrap();
                let known = bench.known.clone();
                let damage = check::damage(&bench.copies(), "s.jsonl", &known["s.jsonl"]);
                // A match that was moved may be one with the same text.
                assert!(damage.is_some() || bench.kept("s.jsonl") == text, "{at}");
                bench.is_doubted = true;
                let step = bench.run("s.jsonl", grown.as_bytes());
                assert_eq!(step, Step::Done, "packed: {is_packed}, byte {at}");
                assert!(bench.kept("s.jsonl") == grown, "packed: {is_packed}, byte {at}");
                let known = std::mem::replace(&mut bench.known, known);
                let damage = check::damage(&bench.copies(), "s.jsonl", &known["s.jsonl"]);
                assert_eq!(damage, None);
            }
            // A source that is another one begins another generation; nothing is overwritten.
            let mut bad = good.clone();
            bad[good.len() / 2] ^= 1;
            fs::remove_file(bench.copy("s.jsonl")).ok();
            fs::write(&stored, &bad).unwrap();
            assert_eq!(bench.run("s.jsonl", line(9).as_bytes()), Step::Rewritten);
            assert_eq!(fs::read(&stored).unwrap(), bad);
        }
    }
}

#[test]
fn a_copy_that_is_damaged_is_not_packed() {
    let mut bench = Bench::new();
    let text: String = (0..300).map(line).collect();
    bench.run("s.jsonl", text.as_bytes());
    fs::write(bench.copy("s.jsonl"), text.replacen("number", "mumber", 1)).unwrap();
    let sums = &bench.known["s.jsonl"].sums;
    assert!(pack::pack(&bench.copies(), "s.jsonl", Some(sums)).is_err());
    assert!(bench.copy("s.jsonl").exists() && !pack::packed(&bench.copy("s.jsonl")).exists());
}

#[test]
fn a_session_whose_record_is_damaged_or_gone_is_still_one() {
    let scene = Scene::new();
    scene.main(&line(1));
    scene.add(&format!("{ID}/subagents/agent-a.jsonl"), &line(7));
    scene.archive();
    let key = Key::of("claude-code", ID);
    let folder = scene.store.archive_folder("claude-code", &key);
    let record = folder.join(STATE_FILE);
    let good = fs::read(&record).unwrap();
    for bad in [&b""[..], b"{\"session_id", &good.iter().map(|it| it ^ 1).collect::<Vec<_>>()] {
        fs::write(&record, bad).unwrap();
        assert_eq!(scene.store.sessions().len(), 1, "{}", String::from_utf8_lossy(bad));
        assert_eq!(
            Copies::at(&folder).main_file(),
            Some(folder.join(format!("000001/{ID}.jsonl")))
        );
        assert_eq!(damages(&folder, Depth::All).len(), 1);
        assert_eq!(scene.archive(), Copied::All);
        assert!(damages(&folder, Depth::All).is_empty());
    }
    fs::remove_file(&record).unwrap();
    assert!(scene.store.sessions().is_empty(), "it may be being copied just now");
    File::open(&folder).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(scene.store.sessions().len(), 1, "gone");
    assert_eq!(scene.store.catch_up("claude-code", &key).unwrap(), Copied::All);
    scene.archive();
    assert_eq!(Copies::at(&folder).state().unwrap().source, scene.source.file);
}

fn check_shared(main: &Path) {
    let opened = crate::open(main).unwrap();
    check_session((opened.format, &opened.name), &opened.session);
}

#[test]
fn a_copy_of_what_lies_in_folders_that_all_share_is_the_same_session() {
    for is_old in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let file = storage(&folder.path().join("storage"), is_old);
        let store = Store::at(folder.path().join("store"));
        let source = Source::new("opencode", "ses_main".to_owned(), file);
        store.archive(&source, None).unwrap();
        let kept = store.archive_folder("opencode", &Key::of("opencode", "ses_main"));
        fs::remove_dir_all(folder.path().join("storage")).unwrap();
        check_shared(&Copies::at(&kept).main_file().unwrap());
    }
}
