//! The samples verify, and every view of them is as it was. Whether they are what their drafts and
//! casts make, a test of `xtask` says.

use crate::run::{antiphon, folder, workspace};

const SAMPLES: [&str; 6] =
    ["debate", "inner-monologue", "jack-and-jill", "resource-hook", "socratic-lesson", "watcher"];

#[test]
fn samples_verify() {
    for name in SAMPLES {
        let done = antiphon(&format!("verify samples/{name}.jsonl"));
        assert_eq!(done.exit, 0, "{done}");
        assert!(done.out.starts_with("ok"), "{done}");
    }
}

#[test]
fn the_picture_in_the_readme_is_the_one_that_is_drawn() {
    let drawn = antiphon("view flow samples/jack-and-jill.jsonl --svg").out;
    let path = workspace().join("docs/jack-and-jill.svg");
    let same = std::fs::read_to_string(path).unwrap() == drawn;
    assert!(same, "run `antiphon view flow samples/jack-and-jill.jsonl --svg` into docs/");
}

#[test]
fn the_demo_shows_the_samples_and_names_its_picture() {
    let folder = folder();
    let picture = folder.path().join("picture.svg");
    let done = antiphon(&format!("demo -o {}", picture.display()));
    assert_eq!(done.exit, 0, "{done}");
    for expected in [
        "Excuse me, is this chair taken?",
        "name-in-open-call",
        "Inner [Said]",
        "DENY",
        "unknown price",
    ] {
        assert!(done.out.contains(expected), "{expected}\n{done}");
    }
    let drawn = std::fs::read_to_string(picture).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.trim_end().ends_with("</svg>"));
}
