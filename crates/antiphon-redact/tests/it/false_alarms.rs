//! The repository's own source holds no secrets: whatever is found in it is a false alarm.

use std::fs;
use std::path::{Path, PathBuf};

use antiphon_redact::Redactor;

/// Made to be found.
const OWN_EXAMPLES: &[&str] =
    &["antiphon-redact/src/rules/examples.rs", "antiphon-redact/tests/it/", "tests/it/redact"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            if !name.starts_with('.') && name != "target" && name != "corpus" {
                files(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

#[test]
fn at_most_one_line_of_ten_thousand_is_a_false_alarm() {
    let mut all = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut all);
    all.sort();
    let redactor = Redactor::default();
    let (mut lines, mut alarms) = (0, Vec::new());
    for path in all {
        let name = path.to_string_lossy().into_owned();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if OWN_EXAMPLES.iter().any(|own| name.contains(own)) {
            continue;
        }
        lines += text.lines().count();
        let mut seen = redactor.find(&text);
        if name.ends_with(".jsonl") {
            for line in text.lines() {
                seen.extend(redactor.find_json(line));
            }
        }
        for finding in seen {
            let text = text.get(finding.range.clone()).unwrap_or_default();
            alarms.push(format!("{name}: {} {text:?}", finding.rule));
        }
    }
    println!("{} alarms in {lines} lines", alarms.len());
    assert!(lines > 10_000, "{lines} lines are too few to tell");
    assert!(alarms.len() * 10_000 <= lines, "{alarms:#?}");
}
