use super::*;

#[test]
fn samples_are_what_their_drafts_and_casts_make() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let folder = tempfile::tempdir().unwrap();
    let names = write(&samples, folder.path()).unwrap();
    assert_eq!(names.len(), files(&samples, "jsonl").unwrap().len());
    for name in names {
        let same =
            fs::read(folder.path().join(&name)).unwrap() == fs::read(samples.join(&name)).unwrap();
        assert!(same, "run `cargo xtask samples`: {name} is not what it would write");
    }
}
