use super::*;

fn parse(text: &str) -> Result<Query, String> {
    Query::parse(text, Timestamp::from_millis(0), &Zone::utc())
}

#[test]
fn words_phrases_and_patterns_are_told_apart() {
    let check = |text: &str, words: &[&str], patterns: &[&str]| {
        let query = parse(text).unwrap();
        let patterns: Vec<Pattern> = patterns.iter().map(|it| Pattern::new(it).unwrap()).collect();
        assert_eq!(
            (query.words, query.patterns),
            (words.iter().map(|&it| it.to_owned()).collect(), patterns),
            "{text}"
        );
    };
    check("one Two", &["one", "two"], &[]);
    check("\"a Phrase\" word", &["a phrase", "word"], &[]);
    check("\"note:this", &["note:this"], &[]);
    check(r"/timed? ?out after \d+ s/ word", &["word"], &[r"timed? ?out after \d+ s"]);
    check("/one/ /two/", &[], &["one", "two"]);
    check("/a\\/b/", &[], &["a\\/b"]);
    check("/src/.*rs/", &[], &["src/.*rs"]);
    check("/usr/bin/env", &["/usr/bin/env"], &[]);
    check("/etc/hosts and /tmp", &["/etc/hosts", "and", "/tmp"], &[]);
    check("/ /", &["/", "/"], &[]);
    check("/", &["/"], &[]);
    check("//", &["//"], &[]);
    check("/open", &["/open"], &[]);
    check(r"re:timed\sout now", &["now"], &[r"timed\sout"]);
    check("re:\"two words\" now", &["now"], &["two words"]);
    check("re:", &["re:"], &[]);
}

#[test]
fn a_colon_makes_a_filter_or_belongs_to_a_word() {
    let words = [
        "std::net",
        "http://x",
        "https://a/b:c",
        "main.rs:7",
        "localhost:8080",
        "c:\\x",
        "Note:x",
        "error:",
    ];
    for word in words {
        assert_eq!(parse(word).unwrap().words, [word.to_lowercase()], "{word}");
    }
    assert_eq!(parse("session:00000001").unwrap().session.as_deref(), Some("00000001"));
    assert_eq!(parse("session::new").unwrap().words, ["session::new"]);
    let query = parse("session:0f0e tool:Bash file:/srv/x.rs project:/srv is:error word").unwrap();
    assert_eq!(query.session.as_deref(), Some("0f0e"));
    assert_eq!(query.tool.as_deref(), Some("bash"));
    assert_eq!(query.file.as_deref(), Some("/srv/x.rs"));
    assert_eq!(query.project.as_deref(), Some("/srv"));
    assert!(query.is_error);
    assert_eq!(query.words, ["word"]);
    for wrong in ["colour:red", "is:red", "/(/", "re:[a", "since:soon", "/(?:a{1000}){1000}/"] {
        let error = parse(wrong).unwrap_err();
        assert!(!error.contains('\n') && !error.is_empty(), "{wrong}: {error}");
    }
    let error = parse("colour:red").unwrap_err();
    for known in ["colour:red", "tool:", "role:", "since:", "session:", "is:error", "re:"] {
        assert!(error.contains(known), "{error}");
    }
}
