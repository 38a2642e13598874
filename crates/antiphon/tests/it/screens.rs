//! What a person sees on a terminal: tables fit, colours and the pager obey.

use std::io::Read as _;

use pty_process::blocking::Command;
use unicode_width::UnicodeWidthStr as _;

use crate::claude::Claude;
use crate::home::Home;

/// What a command prints on a terminal of that width, with its escape sequences.
fn on_a_terminal(home: &Home, arguments: &str, columns: u16) -> String {
    let (mut pty, pts) = pty_process::blocking::open().unwrap();
    pty.resize(pty_process::Size::new(40, columns)).unwrap();
    let command = Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .args(arguments.split_whitespace())
        .env_clear()
        .env("HOME", home.path(""))
        .env("ANTIPHON_HOME", home.path("store"))
        .env("TERM", "xterm-256color")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("PAGER", "sed s/^/paged:/")
        .current_dir(home.path(""));
    let mut child = command.spawn(pts).unwrap();
    let mut printed = Vec::new();
    let mut buffer = [0; 4096];
    // On Linux reading ends with an error when the other end is closed.
    while let Ok(len @ 1..) = pty.read(&mut buffer) {
        printed.extend_from_slice(&buffer[..len]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(printed).unwrap().replace("\r\n", "\n")
}

fn home() -> Home {
    let home = Home::new();
    let long = ["a title that goes on and on ".repeat(6), "修正登录错误并且添加测试".repeat(8)];
    for (number, title) in (1..).zip(long.iter().map(String::as_str).chain(["🦓 emoji", "short"]))
    {
        let folder = format!("/w/{}", "a_long_folder_name/".repeat(6));
        let mut session = Claude::new(number, &folder, "2026-11-01T10:00:00Z");
        session.wait(i64::from(number) * 60);
        session.prompt(title);
        let command = format!("cargo test --package {}", "x".repeat(120));
        session.bash(&command, (&"y".repeat(200), true), 2);
        session.say(&"z".repeat(300), [10, 50, 1000, 100]);
        session.save(&home);
    }
    home.run("sync");
    home
}

#[test]
fn tables_fit_the_terminal_and_a_row_is_a_line() {
    let home = home();
    for words in ["", "ls", "view calls latest", "view cost latest"] {
        for columns in [80, 200] {
            let arguments = format!("{words} --color never --no-pager");
            let screen = on_a_terminal(&home, &arguments, columns);
            for line in screen.lines() {
                assert!(line.width() <= usize::from(columns), "{words}, {columns}: {line}");
            }
            for number in 1..=4 {
                let id = format!("0000000{number}");
                let rows = screen.lines().filter(|line| line.contains(&id)).count();
                assert_eq!(rows, usize::from(words == "ls"), "{words}\n{screen}");
            }
        }
    }
    let head = on_a_terminal(&home, "ls --color never --no-pager", 80);
    assert!(head.starts_with("WHEN "), "{head}");
    assert!(!head.contains("PROJECT"), "no room for it:\n{head}");
    assert!(on_a_terminal(&home, "ls --no-pager", 200).contains("PROJECT"));
}

#[test]
fn colours_and_the_pager_are_chosen() {
    let home = home();
    let paged = on_a_terminal(&home, "ls", 80);
    assert!(paged.starts_with("paged:") && paged.contains("\u{1b}["), "{paged}");
    let plain = on_a_terminal(&home, "ls --no-pager --color never", 80);
    assert!(!plain.contains("paged:") && !plain.contains('\u{1b}'), "{plain}");
    assert!(!home.run("ls").out.contains('\u{1b}'), "not into a pipe");
    assert!(home.run("ls --color always").out.contains("\u{1b}["), "unless that is asked for");
    let wrong = home.run("ls --color sometimes");
    assert_eq!(wrong.exit, 2, "{wrong}");
}
