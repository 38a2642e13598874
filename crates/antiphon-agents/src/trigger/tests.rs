use super::*;

#[test]
fn a_file_that_changes_or_appears_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    let trigger = Trigger { what: TriggerKind::File(path.clone()), to: "Watcher".to_owned() };
    let mut triggers = Triggers::new(&[trigger]);
    assert!(triggers.due().is_empty());
    std::fs::write(&path, "{}").unwrap();
    let told = ("Watcher".to_owned(), "File changed: prices.json".to_owned());
    assert_eq!(triggers.due(), std::slice::from_ref(&told));
    assert!(triggers.due().is_empty());
    std::fs::write(&path, "{\"tea\": 5}").unwrap();
    assert_eq!(triggers.due(), [told]);
}
