use super::{Scope, TokenError, Tokens};

#[test]
fn a_token_counts_at_once_and_until_it_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let (maker, server) = (Tokens::at(folder.path()), Tokens::at(folder.path()));
    assert!(server.find("anything").is_none());
    let word = maker.create(Some("one"), Scope::Read, None).unwrap();
    assert_eq!(server.find(&word).unwrap().scope, Scope::Read);
    assert!(server.find(&word[..63]).is_none());
    assert!(matches!(maker.create(Some("one"), Scope::Read, None), Err(TokenError::Taken(_))));
    maker.revoke("one").unwrap();
    assert!(server.find(&word).is_none());
    assert!(matches!(maker.revoke("one"), Err(TokenError::Unknown(_))));
}

#[test]
fn the_file_has_no_token_and_only_its_owner_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::at(folder.path());
    let word = tokens.create(None, Scope::Admin, Some(60_000)).unwrap();
    let text = std::fs::read_to_string(folder.path().join("tokens.json")).unwrap();
    assert!(!text.contains(&word) && text.contains("token-1"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(folder.path().join("tokens.json")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}

#[test]
fn a_token_that_is_over_is_none_and_its_name_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::at(folder.path());
    let word = tokens.create(Some("short"), Scope::Admin, Some(0)).unwrap();
    assert!(tokens.find(&word).is_none());
    assert_eq!(tokens.list().unwrap(), []);
    tokens.create(Some("short"), Scope::Admin, None).unwrap();
}

#[test]
fn who_made_a_session_is_remembered_by_another_server() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::at(folder.path());
    let mine = tokens.create(Some("mine"), Scope::Write, None).unwrap();
    let other = tokens.create(Some("other"), Scope::Write, None).unwrap();
    let (mine, other) = (tokens.find(&mine).unwrap(), tokens.find(&other).unwrap());
    tokens.remember("key", &mine).unwrap();
    let again = Tokens::at(folder.path());
    assert!(again.has_made("key", &mine) && !again.has_made("key", &other));
}
