use std::io::Write;

use super::*;

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
        let source = Source { agent: "claude-code", session_id: ID.to_owned(), file };
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
fn whole_lines_are_copied_as_they_come() {
    let scene = Scene::new();
    assert_eq!(scene.archive(), Copied::All, "a file that is not there yet is no error");
    assert!(scene.store.sessions().is_empty());
    scene.main(&line(1));
    scene.main(&line(2)[..20]);
    assert_eq!(scene.archive(), Copied::All);
    assert_eq!(scene.main_copy(1), line(1));
    scene.main(&line(2)[20..]);
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
fn a_line_of_any_length_is_waited_for() {
    let scene = Scene::new();
    scene.main(&line(1));
    scene.main(&"x".repeat(100_000));
    scene.archive();
    assert_eq!(scene.main_copy(1), line(1));
    scene.main("\n");
    scene.archive();
    assert_eq!(scene.main_copy(1).len(), line(1).len() + 100_001);
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
    assert_eq!(scene.copy(&format!("000001/{below}/agent-a.meta.json")), "", "half a document");
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
        scene.store.archive_packed(&scene.source, Known::Nothing).unwrap().copied,
        Copied::All
    );
    scene.main(&line(200));
    let soon = Instant::now() + Duration::from_secs(60);
    assert_eq!(scene.store.archive(&scene.source, Some(soon)).unwrap(), Copied::Unfinished);
    assert_eq!(scene.archive(), Copied::All);
    let key = Key::of(scene.source.agent, ID);
    let main = main_file(&scene.store.archive_folder(scene.source.agent, &key)).unwrap();
    assert_eq!(fs::read_to_string(main).unwrap(), lines + &line(200));
}

#[test]
fn a_document_of_any_kind_is_replaced_by_one_that_is_as_long() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("a"), folder.path().join("copies"));
    fs::create_dir(&to).unwrap();
    let copy = |name: &str, text: &str| {
        let path = from.with_file_name(name);
        fs::write(&path, text).unwrap();
        let member = Member::file(name.to_owned(), path);
        let step = copy::member(&member, &to.join(name), None, false).unwrap();
        (step, fs::read_to_string(to.join(name)).unwrap_or_default())
    };
    assert_eq!(copy("notes.md", "# One"), (Step::New(b"# One".to_vec()), "# One".to_owned()));
    assert_eq!(copy("notes.md", "# Two"), (Step::New(b"# Two".to_vec()), "# Two".to_owned()));
    assert_eq!(copy("notes.md", "#"), (Step::Rewritten, "# Two".to_owned()));
    assert_eq!(copy("a.json", "\u{feff}{}").1, "\u{feff}{}");
    assert_eq!(copy("a.json", "{\"a\":1").1, "\u{feff}{}", "half of one");
    assert_eq!(copy("a.json", "{\"a\":1}").1, "{\"a\":1}");
    assert_eq!(copy("a.json", "{}"), (Step::Rewritten, "{\"a\":1}".to_owned()));
}

#[test]
fn what_an_agent_has_packed_never_replaces_more_than_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("r.jsonl.zst");
    let to = folder.path().join("copies/r.jsonl");
    fs::create_dir(to.parent().unwrap()).unwrap();
    let text: String = (0..300).map(line).collect();
    let copy = |bytes: &[u8]| {
        fs::write(&from, bytes).unwrap();
        let member = Member::file("r.jsonl".to_owned(), from.clone());
        copy::member(&member, &to, None, false).unwrap()
    };
    let kept = || {
        let packed = pack::packed(&to);
        let bytes = crate::read_bytes(if to.exists() { &to } else { &packed });
        String::from_utf8(bytes.unwrap_or_default()).unwrap()
    };
    // Copied while it was growing, and then packed by its agent.
    fs::write(&to, &text[..1000]).unwrap();
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    assert_eq!(copy(&packed), Step::Done);
    assert!(kept() == text && !to.exists());
    assert_eq!(copy(&packed[..packed.len() / 2]), Step::Done);
    assert!(kept() == text, "half of it");
    assert_eq!(copy(&zstd::encode_all(&text.as_bytes()[..5000], 3).unwrap()), Step::Rewritten);
    assert!(kept() == text);
    fs::write(pack::packed(&to), &packed[..packed.len() / 2]).unwrap();
    assert_eq!(copy(&packed), Step::Done);
    assert!(kept() == text, "after a crash had cut the copy");
}
