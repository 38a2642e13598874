//! Completions and manual pages.

use std::process::Command;

use crate::home::Home;
use crate::run::antiphon;

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn every_shell_has_completions_that_it_can_read() {
    let home = Home::new();
    let shells = [
        ("bash", vec!["bash", "-n"]),
        ("zsh", vec!["zsh", "-n"]),
        ("fish", vec!["fish", "-n"]),
        ("nushell", vec!["nu", "--ide-check", "9"]),
    ];
    for (shell, check) in shells {
        let done = antiphon(&format!("completions {shell}"));
        assert!(done.exit == 0 && done.out.contains("blame"), "{done}");
        home.write(shell, &done.out);
        if is_installed(check[0]) {
            let checked = Command::new(check[0]).args(&check[1..]).arg(home.path(shell)).output();
            let checked = checked.unwrap();
            assert!(checked.status.success() && checked.stderr.is_empty(), "{shell}: {checked:?}");
        }
    }
    assert_eq!(antiphon("completions csh").exit, 2);
}

#[test]
fn every_command_has_a_manual_page() {
    let home = Home::new();
    assert_eq!(home.run("man -o man").exit, 0);
    let pages = home.list("man");
    for name in ["antiphon.1", "antiphon-blame.1", "antiphon-view-cost.1", "antiphon-config.1"] {
        assert!(pages.contains(&name.to_owned()), "{pages:?}");
    }
    let hidden = ["antiphon-lead.1", "antiphon-scribe.1", "antiphon-help.1"];
    assert!(!pages.iter().any(|page| hidden.contains(&&**page)), "{pages:?}");
    assert!(home.text("man/antiphon-search.1").contains("regular expression"));
    assert_eq!(antiphon("man").out, home.text("man/antiphon.1"));
    if is_installed("groff") {
        for page in &pages {
            let path = home.path(&format!("man/{page}"));
            let set = Command::new("groff").args(["-man", "-Tutf8", "-ww"]).arg(path).output();
            let set = set.unwrap();
            let errors = String::from_utf8_lossy(&set.stderr).into_owned();
            assert!(errors.is_empty() && set.stdout.len() > 200, "{page}: {errors}");
        }
    }
    home.write("file", "");
    assert_eq!(home.run("man -o file/x").exit, 4);
}
