//! Days as people write them, in the zone that they are in, and the project that they are in.

use serde_json::Value;

use crate::claude::Claude;
use crate::home::Home;

/// A zone 5:30 east of Greenwich.
const EAST: (&str, &str) = ("TZ", "IST-5:30");

fn ids(home: &Home, folder: &str, words: &[&str]) -> Vec<String> {
    let asked = [&["ls", "--json"], words].concat();
    let mut command = home.command(&asked);
    let done = command.current_dir(home.path(folder)).env(EAST.0, EAST.1).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    let listed: Value = serde_json::from_slice(&done.stdout).unwrap();
    let ids = listed.as_array().unwrap().iter();
    ids.map(|it| it["id"].as_str().unwrap()[..8].to_owned()).collect()
}

fn kept(sessions: &[(u32, &str, &str)]) -> Home {
    let home = Home::new();
    for (number, folder, start) in sessions {
        let folder = home.path(folder);
        let mut session = Claude::new(*number, folder.to_str().unwrap(), start);
        session.prompt("Do it");
        session.say("Done.", [1, 1, 0, 0]);
        session.save(&home);
    }
    home.run("sync");
    home
}

#[test]
fn a_day_begins_where_the_person_is_unless_utc_is_asked_for() {
    // In the zone: 22:30 on 31 October, and 00:15 on 1 November.
    let home = kept(&[(1, "shop", "2026-10-31T17:00:00Z"), (2, "shop", "2026-10-31T18:45:00Z")]);
    let (first, second) = ("00000001", "00000002");
    assert_eq!(ids(&home, "", &["--since", "2026-11-01"]), [second]);
    assert_eq!(ids(&home, "", &["--until", "2026-11-01"]), [first]);
    assert_eq!(ids(&home, "", &["--since", "2026-11-01", "--utc"]), [""; 0]);
    assert_eq!(ids(&home, "", &["--until", "2026-11-01", "--utc"]), [second, first]);
}

#[test]
fn a_word_that_is_no_time_is_refused_with_examples() {
    let home = Home::new();
    for command in ["ls", "changes"] {
        let done = home.run(&format!("{command} --since sometimes"));
        assert_eq!(done.exit, 2, "{command}: {done}");
        assert!(done.err.contains("`sometimes` is not a day or a time"), "{}", done.err);
        assert!(done.err.contains("today"), "{}", done.err);
    }
}

#[test]
fn a_dot_is_the_repository_around_and_no_neighbour_with_a_like_name() {
    let at = "2026-10-31T17:00:00Z";
    let home = kept(&[(1, "code/shop", at), (2, "code/shop-old", at), (3, "code/shop/web", at)]);
    home.write("code/shop/.git/HEAD", "ref: refs/heads/main\n");
    home.write("code/shop/src/x", "x");
    let mut here = ids(&home, "code/shop/src", &["--project", "."]);
    here.sort();
    assert_eq!(here, ["00000001", "00000003"]);
    assert_eq!(ids(&home, "code/shop/src", &["--project", "shop-o"]), ["00000002"]);
}
