//! `export --as html` and `--as markdown`: a session to share.

use serde_json::json;

use crate::claude::Claude;
use crate::home::Home;

const USED: [u64; 4] = [10, 50, 1000, 100];

/// A session with a secret in every kind of text, an edit, and a command that failed.
fn shared(home: &Home) -> (String, String) {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let folder = home.path("shop").display().to_string();
    let mut session = Claude::new(7, &folder, "2026-10-31T17:00:00Z");
    session.prompt(&format!("Use {secret} <script>alert(1)</script>"));
    let new = json!({ "file_path": format!("{folder}/notes.txt"), "content": format!("one\n{secret}\n") });
    session.call("Write", &new, ("File created successfully at: notes.txt", false), 1, USED);
    let output = format!("{}{secret}{}", "x ".repeat(8_175), " y".repeat(20_000));
    session.bash(&format!("make TOKEN={secret}"), (&output, true), 2);
    session.say("The **file** is there.", USED);
    session.save(home);
    home.run("sync");
    (session.id().to_owned(), secret)
}

#[test]
fn a_page_and_markdown_have_the_conversation_and_no_secret() {
    let home = Home::new();
    let (id, secret) = shared(&home);
    for (format, wanted) in [
        ("html", ["<ins>+one", "&lt;script&gt;", "<strong>file</strong>", "Failed calls"]),
        ("markdown", ["\n+one", "&lt;script>", "The **file** is there.", "Failed calls"]),
    ] {
        let done = home.run(&format!("export {id} --as {format}"));
        assert_eq!(done.exit, 0, "{}", done.err);
        for part in wanted {
            assert!(done.out.contains(part), "{format}: {part}\n{}", done.out);
        }
        assert!(!done.out.contains(&secret), "{format}");
        // Nor a part of it, where an output was shortened.
        assert!(!done.out.contains(&secret[..12]), "{format}");
        assert!(done.out.contains("[redacted:github-token]"), "{format}");
        assert!(!done.out.contains("<script"), "{format}");
        assert!(
            done.err.starts_with("redacted: ") && done.err.contains("github-token"),
            "{}",
            done.err
        );
        let whole = home.run(&format!("export {id} --as {format} --no-redact"));
        assert!(whole.out.contains(&secret) && whole.out.contains("not"), "{format}");
    }
}

#[test]
fn a_file_is_the_same_as_what_is_printed_and_none_is_overwritten() {
    let home = Home::new();
    let (id, _) = shared(&home);
    let printed = home.run(&format!("export {id} --as html"));
    home.run(&format!("export {id} --as html -o page.html"));
    assert_eq!(home.text("page.html"), printed.out);
    let again = home.run(&format!("export {id} --as html -o page.html"));
    assert_eq!(again.exit, 4, "{again}");
}

#[test]
fn pictures_belong_to_pages_only() {
    let home = Home::new();
    let (id, _) = shared(&home);
    let done = home.run(&format!("export {id} --as otlp --images"));
    assert_eq!(done.exit, 2, "{done}");
    assert!(done.err.contains("--as html"), "{done}");
}
