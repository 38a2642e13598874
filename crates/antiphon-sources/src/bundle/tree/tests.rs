pub(crate) mod storage;

use std::fs;

use crate::Bundle;
use crate::open::open;
use storage::{check_session, storage, write};

use super::*;

fn check(main: &Path) {
    let opened = open(main).unwrap();
    check_session((opened.format, &opened.name), &opened.session);
}

#[test]
fn a_session_is_found_in_the_folders_that_all_share() {
    for is_old in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        check(&storage(&folder.path().join("storage"), is_old));
    }
}

#[test]
fn names_are_below_the_root() {
    for is_old in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let file = storage(&folder.path().join("storage"), is_old);
        let (format, members) = Bundle::members(&file, Siblings::All).unwrap().unwrap();
        assert_eq!((format, members.len()), ("opencode", 2 + 3 + 3));
        assert!(members.iter().all(|member| !member.name.contains("..")));
        assert!(!members[0].name.starts_with('/') && members[0].name.ends_with("/ses_main.json"));
    }
}

#[test]
fn what_a_file_says_is_never_a_way_out_of_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a/storage");
    let main = storage(&root, false);
    write(&folder.path().join("a"), "secret/x.json", r#"{"role": "user", "id": "x"}"#);
    let text = fs::read_to_string(&main).unwrap().replace("\"ses_main\"", "\"../../secret\"");
    fs::write(&main, text).unwrap();
    let (_, members) = Bundle::members(&main, Siblings::All).unwrap().unwrap();
    let root = root.canonicalize().unwrap();
    assert!(members.iter().all(|it| it.path.canonicalize().unwrap().starts_with(&root)));
}
