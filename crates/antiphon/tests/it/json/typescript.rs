//! The TypeScript types, as the compiler sees them. It comes over the network, so that this runs
//! with `make test-net` only.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::files;
use crate::run::{antiphon, command, folder, workspace};

/// The compiler, if it is there.
#[expect(clippy::print_stdout, reason = "it says that a test is skipped")]
fn compiler() -> Option<PathBuf> {
    let found = std::env::var_os("ANTIPHON_TYPESCRIPT").map(PathBuf::from);
    if found.is_none() {
        println!("skipped: the TypeScript compiler is not there; `make test-net` fetches it");
    }
    found.map(|path| workspace().join(path).canonicalize().unwrap())
}

/// Compiles constants of the types of documents; gives what is wrong with them.
fn compile(compiler: &Path, constants: &[(&str, String)]) -> Vec<String> {
    let folder = folder();
    let types = workspace().join("docs/schema/json/antiphon.d.ts");
    std::fs::copy(types, folder.path().join("antiphon.d.ts")).unwrap();
    let mut text = "import type { Documents } from './antiphon';\n".to_owned();
    for (number, (document, json)) in constants.iter().enumerate() {
        writeln!(text, "export const c{number}: Documents[{document:?}] = {json};").unwrap();
    }
    let constants = folder.path().join("constants.ts");
    std::fs::write(&constants, text).unwrap();
    let done = Command::new("node")
        .arg(workspace().join("crates/antiphon/tests/it/json/check.js"))
        .arg(compiler)
        .args([folder.path().join("antiphon.d.ts"), constants])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn documents_are_of_their_types() {
    let Some(compiler) = compiler() else { return };
    let mut constants = Vec::new();
    let of_a_session = [
        ("resume", "resume"),
        ("show", "show"),
        ("stats", "stats --by day"),
        ("verify", "verify"),
        ("view calls", "view calls"),
        ("view causality", "view causality"),
        ("view context-links", "view context-links"),
        ("view cost", "view cost"),
        ("view cost --ledger", "view cost --ledger"),
        ("view delivery", "view delivery"),
        ("view dialog", "view dialog"),
        ("view flow", "view flow"),
        ("view hooks", "view hooks"),
        ("view phases", "view phases"),
        ("view spans", "view spans"),
        ("view spans --tree", "view spans --tree"),
        ("view timeline", "view timeline"),
        ("view tree", "view tree"),
    ];
    let fixture = workspace().join("crates/antiphon-formats/fixtures/claude-code/full/input.jsonl");
    let sessions: Vec<PathBuf> =
        files(&workspace().join("samples"), "jsonl").into_iter().chain([fixture]).collect();
    for session in &sessions {
        for (document, asked) in of_a_session {
            let words = asked.split(' ');
            let done = command().args(words).arg(session).arg("--json").output().unwrap();
            constants.push((document, String::from_utf8(done.stdout).unwrap()));
        }
    }
    for asked in ["formats", "scan samples", "validate crates/antiphon-documents/fixtures"] {
        let document = asked.split(' ').next().unwrap();
        constants.push((document, antiphon(&format!("{asked} --json")).out));
    }
    let problems = compile(&compiler, &constants);
    println!("{} documents", constants.len());
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn what_is_not_of_a_type_is_not_accepted() {
    let wrong = [
        ("view tree", "{ session_id: 'a' }".to_owned()),
        ("view tree", "{ session_id: 'a', agents: [], more: 1 }".to_owned()),
        ("resume", "{ session_id: 'a', ended: 'no', last_complete: null, events_after: 0, open_calls: [] }".to_owned()),
    ];
    let Some(compiler) = compiler() else { return };
    let problems = compile(&compiler, &wrong);
    assert_eq!(problems.len(), 3, "{problems:#?}");
}
