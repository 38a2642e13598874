use super::*;

/// Runs one rule over one file and returns what it says.
fn findings(rule: Rule, path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    rule(&Source::new(path, text), &mut findings);
    findings.sort();
    findings.iter().map(Finding::to_string).collect()
}

/// The rule finds something on exactly these lines.
#[track_caller]
fn check(rule: Rule, path: &str, text: &str, lines: &[usize]) {
    let found = findings(rule, path, text);
    let prefixes: Vec<String> = lines.iter().map(|line| format!("{path}:{line}: ")).collect();
    let fits = found.len() == prefixes.len()
        && found.iter().zip(&prefixes).all(|(found, prefix)| found.starts_with(prefix));
    assert!(fits, "expected lines {lines:?}, found {found:#?}");
}

const JOURNAL: &str = "crates/antiphon-journal/src/writer.rs";
const VIEW: &str = "crates/antiphon-views/src/tree.rs";

#[test]
fn a_finding_says_where_and_what_to_do() {
    let found = findings(words::check, JOURNAL, "fn f() {\n    dbg!(1);\n}\n");
    assert_eq!(found, [format!("{JOURNAL}:2: `dbg!(`; remove it, or assert what you looked for")]);
}

#[test]
fn a_file_has_at_most_800_lines() {
    check(size::check, JOURNAL, &"\n".repeat(800), &[]);
    check(size::check, JOURNAL, &"\n".repeat(801), &[801]);
    check(size::check, "crates/antiphon/tests/it/main.rs", &"\n".repeat(801), &[]);
    check(size::check, "crates/antiphon-model/src/event/tests.rs", &"\n".repeat(801), &[]);
    check(size::check, "docs/format.md", &"\n".repeat(801), &[]);
}

#[test]
fn a_line_has_at_most_100_columns_without_its_literals() {
    check(size::check, JOURNAL, &"x".repeat(100), &[]);
    check(size::check, JOURNAL, &format!("ok\n// {}\n", "x".repeat(100)), &[2]);
    check(size::check, JOURNAL, &"é".repeat(100), &[]);
    check(size::check, JOURNAL, &format!("let a = \"{}\";", "x".repeat(200)), &[]);
    check(size::check, JOURNAL, &format!("let a = r#\"\n{}\n\"#;", "x".repeat(200)), &[]);
}

#[test]
fn tabs_and_trailing_white_space_are_found() {
    check(whitespace::check, JOURNAL, "a\n\tb\nc \nd\r\n", &[2, 3, 4]);
    check(whitespace::check, "README.md", "a\n\n  b\n", &[]);
    check(whitespace::check, "Makefile", "a:\n\tb\n", &[]);
}

#[test]
fn banned_words_are_found_in_code_alone() {
    check(words::check, JOURNAL, "todo!(); unimplemented!();\n#[ignore]\nfn f() {}\n", &[1, 1, 2]);
    check(words::check, JOURNAL, "#[cfg(test)]\nmod tests { fn f() { dbg!(1); } }\n", &[2]);
    check(words::check, JOURNAL, "// `dbg!(` and todo!() are banned.\nlet a = \"todo!()\";\n", &[]);
    check(words::check, JOURNAL, "// FIXME: later\nlet a = \"FIXME\";\n", &[1]);
}

#[test]
fn the_journal_buffers_no_lines() {
    check(words::check, JOURNAL, "use std::io::BufWriter;\n", &[1]);
    check(words::check, "crates/antiphon/src/main.rs", "use std::io::BufWriter;\n", &[]);
}

#[test]
fn only_the_terminal_prints() {
    let text = "fn f() {\n    println!();\n    eprintln!();\n}\n";
    check(words::check, "crates/antiphon/src/commands/show.rs", text, &[2, 3]);
    check(words::check, "crates/antiphon/src/terminal/page.rs", text, &[]);
    check(words::check, "crates/antiphon/src/terminal.rs", text, &[]);
    check(words::check, "crates/antiphon-journal/benches/append.rs", text, &[]);
    check(words::check, "crates/antiphon/tests/it/show.rs", text, &[]);
    check(words::check, JOURNAL, "#[cfg(test)]\nmod tests {\n    fn f() { println!(); }\n}\n", &[]);
}

#[test]
fn pure_crates_touch_nothing_outside() {
    check(purity::check, VIEW, "use std::fs;\nlet a = std::env::args();\n", &[1, 2]);
    check(purity::check, VIEW, "use std::{fmt, net::TcpStream};\n", &[1]);
    check(purity::check, VIEW, "use std::{\n    fmt,\n    fs,\n};\n", &[3]);
    check(purity::check, VIEW, "use std::collections::{BTreeMap, HashMap};\n", &[1]);
    check(purity::check, VIEW, "use std::time::Instant;\nlet now = Timestamp::now();\n", &[1, 2]);
    check(purity::check, VIEW, "use std::{fmt, io::{self, fs_like}};\n", &[]);
    check(purity::check, VIEW, "struct Instantaneous;\n// No HashMap here.\n", &[]);
    check(purity::check, JOURNAL, "use std::fs;\n", &[]);
}

#[test]
fn the_tests_of_pure_crates_are_free() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\nuse std::net;\n";
    check(purity::check, VIEW, text, &[6]);
    check(purity::check, VIEW, "#[cfg(test)]\nmod tests;\nuse std::fs;\n", &[3]);
    check(purity::check, "crates/antiphon-views/src/tree/tests.rs", "use std::fs;\n", &[]);
    check(purity::check, "crates/antiphon-views/tests/all.rs", "use std::fs;\n", &[]);
}

#[test]
fn a_file_is_named_after_what_it_holds() {
    check(names::check, "crates/antiphon/src/utils.rs", "", &[1]);
    check(names::check, "crates/antiphon/src/common.rs", "", &[1]);
    check(names::check, "crates/antiphon/src/place.rs", "", &[]);
}

#[test]
fn a_module_begins_with_what_it_is() {
    check(header::check, VIEW, "use std::fmt;\n", &[1]);
    check(header::check, VIEW, "", &[1]);
    check(header::check, VIEW, "//! Who made whom.\n", &[]);
    check(header::check, "crates/antiphon-views/src/tree/tests.rs", "", &[]);
    check(header::check, "crates/antiphon-views/examples/tree.rs", "", &[]);
    check(header::check, "crates/antiphon/build.rs", "", &[]);
    check(header::check, "README.md", "", &[]);
}

#[test]
fn the_walls_between_crates_stand() {
    let manifest = "crates/antiphon-views/Cargo.toml";
    let fine = "[dependencies]\nantiphon-model.workspace = true\nserde = \"1\"\n";
    check(walls::check, manifest, fine, &[]);
    check(walls::check, "crates/antiphon-model/Cargo.toml", fine, &[2]);
    check(walls::check, "crates/antiphon-server/Cargo.toml", fine, &[]);
    let keeps = "[dependencies]\nantiphon-library.workspace = true\n";
    check(walls::check, "crates/antiphon-sources/Cargo.toml", keeps, &[2]);
    let opens = "[dependencies]\nantiphon-sources.workspace = true\n";
    check(walls::check, "crates/antiphon-catalog/Cargo.toml", opens, &[2]);
    check(walls::check, "crates/antiphon-library/Cargo.toml", opens, &[]);

    check(walls::check, manifest, "[dependencies]\nantiphon-journal = { path = \"x\" }\n", &[2]);
    check(walls::check, manifest, "[dependencies.antiphon-journal]\npath = \"x\"\n", &[1]);
    check(walls::check, manifest, "[build-dependencies]\nantiphon.workspace = true\n", &[2]);
    let of_target = "[target.'cfg(unix)'.dependencies]\nantiphon-journal.workspace = true\n";
    check(walls::check, manifest, of_target, &[2]);
    let renamed = "[dependencies]\nlog = { path = \"x\", package = \"antiphon-journal\" }\n";
    check(walls::check, manifest, renamed, &[2]);
    let for_tests = "[dev-dependencies]\nantiphon-journal.workspace = true\n";
    check(walls::check, manifest, for_tests, &[]);
}

#[test]
fn paths_of_one_machine_are_found() {
    let text = |folder: &str| format!("cd here\ncd /{folder}/x\n");
    for folder in ["work", "home", "root"] {
        check(home::check, "docs/format.md", &text(folder), &[2]);
    }
    check(home::check, "a.jsonl", &format!(r#"{{"content":"in\n/{}/x"}}"#, "home"), &[1]);
    check(home::check, "docs/format.md", &format!("file:///{}/x", "home"), &[1]);
    check(home::check, "docs/format.md", &text("usr"), &[]);
    check(home::check, "docs/format.md", &format!("crates/{}/x", "home"), &[]);
}

/// The places outside the formats that name an agent; two are known, and one format has no agent.
fn named(others: &[(&str, &str)]) -> Vec<String> {
    let format = |name: &str, layout: &str| {
        let path = format!("crates/antiphon-formats/src/{name}.rs");
        Source::new(path, format!("const FORMAT: X = X {{ name: \"{name}\", {layout} }};\n"))
    };
    let mut files = vec![
        format("demo-code", "kept: Some(Kept { variable: \"DEMO_HOME\" })"),
        format("pi", "kept: Some(KEPT)"),
        format("trace", "kept: None"),
    ];
    files.extend(others.iter().map(|(path, text)| Source::new(*path, *text)));
    let mut found = Vec::new();
    agents::check(&files, &mut found);
    found.iter().map(|finding| format!("{}:{}", finding.path, finding.line)).collect()
}

#[test]
fn only_the_formats_name_an_agent() {
    let is_named = |text: &str| !named(&[(VIEW, text)]).is_empty();
    for text in ["\"demo-code\"", "\"~/.demo/x\"", "\"DEMO_HOME\"", "r\"Demo Code\"", "\"pi\""] {
        assert!(is_named(text), "{text}");
    }
    assert!(is_named("\"aDemo\"") && is_named("\"demoCode\""));
    for text in ["\"trace\"", "\"democracy\"", "\"API pipe\"", "// \"demo\"", "struct Demo;"] {
        assert!(!is_named(text), "{text}");
    }
    let text = "fn f() {}\nconst A: &str =\n    \"demo\";\n";
    assert_eq!(named(&[(VIEW, text), (JOURNAL, "")]), [format!("{VIEW}:3")]);
}

#[test]
fn tests_examples_of_the_help_and_xtask_may_name_agents() {
    let text = "const A: &str = \"demo\";\n";
    for path in [
        "crates/antiphon-views/src/tree/tests.rs",
        "crates/antiphon-views/tests/it/main.rs",
        "crates/antiphon-views/benches/tree.rs",
        "xtask/src/tidy.rs",
        "docs/demo.md",
    ] {
        assert_eq!(named(&[(path, text)]), [""; 0], "{path}");
    }
    let help = "const HELP: &str = \"\\\nExamples:\n  antiphon install demo\n  demo\";\n";
    assert_eq!(named(&[(VIEW, help)]), [format!("{VIEW}:4")], "not what people type");
    let unit = format!("#[cfg(test)]\nmod tests {{\n    {text}}}\n{text}");
    assert_eq!(named(&[(VIEW, &unit)]), [format!("{VIEW}:5")]);
    let modules = [
        (
            "crates/antiphon-views/src/lib.rs",
            "#[cfg(test)]\nmod a;\n#[cfg(test)]\npub mod b;\nmod c;",
        ),
        ("crates/antiphon-views/src/c.rs", "#[cfg(test)]\nmod d;\n"),
        ("crates/antiphon-views/src/a.rs", text),
        ("crates/antiphon-views/src/b/below.rs", text),
        ("crates/antiphon-views/src/c/d.rs", text),
        ("crates/antiphon-views/src/c/e.rs", text),
    ];
    assert_eq!(named(&modules), ["crates/antiphon-views/src/c/e.rs:1"]);
}

#[test]
fn documents_that_are_missing_are_named() {
    let paths = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut files: Vec<Source> =
        paths.into_iter().chain(["docs/format.md"]).map(|path| Source::new(path, "")).collect();
    let mut found = Vec::new();
    docs::check(&files, &mut found);
    assert_eq!(found.iter().map(|finding| &*finding.path).collect::<Vec<_>>(), ["docs/json.md"]);

    files.push(Source::new("docs/json.md", ""));
    found.clear();
    docs::check(&files, &mut found);
    assert_eq!(found, []);
}

#[test]
fn the_map_names_every_crate_and_only_files_that_exist() {
    let map =
        "| `antiphon` | the binary: `cli.rs` | `main.rs` |\n\n`gone.rs`, `commands/<verb>.rs`\n";
    let files = [
        Source::new("ARCHITECTURE.md", map),
        Source::new("crates/antiphon/src/main.rs", ""),
        Source::new("crates/antiphon/src/cli.rs", ""),
        Source::new("crates/antiphon-new/src/lib.rs", ""),
    ];
    let mut found = Vec::new();
    docs::check(&files, &mut found);
    found.retain(|finding| finding.path == "ARCHITECTURE.md");
    let found: Vec<_> = found.iter().map(|finding| (finding.line, &*finding.what)).collect();
    let expected = [
        (3, "`gone.rs` does not exist"),
        (1, "the crate `antiphon-new` is not in the table of crates"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn code_is_distinguished_from_comments_and_literals() {
    let code = |text: &str| Source::new("a.rs", text).code();
    for (text, expected) in [
        ("a // b", "a     "),
        ("a /* b /* c */ d */ e", "a                   e"),
        (r#"f("a\"b", c)"#, r#"f("    ", c)"#),
        (r##"r#"a"b"# c"##, r##"r#"   "# c"##),
        (r#"br"a\" c"#, r#"br"  " c"#),
        (r#"('"', 'a')"#, r#"(' ', ' ')"#),
        (r"('\'', b'\\')", r"('  ', b'  ')"),
        ("&'a str, 'b: loop", "&'a str, 'b: loop"),
        (r#""" + "//" // é"#, r#""" + "  "      "#),
        ("'é' \"open", "'  ' \"    "),
        ("let r#type = 1; // \"", "let r#type = 1;     "),
    ] {
        assert_eq!(code(text), expected, "of {text}");
    }
}
