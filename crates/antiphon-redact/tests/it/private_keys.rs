//! Private keys: complete or in part, and in listings of files.

use antiphon_redact::{Counts, Redactor, StreamRedactor};

use crate::kinds::Chance;

const LABEL: &str = "RSA PRIVATE KEY";

fn body(lines: usize) -> Vec<String> {
    let mut chance = Chance(7);
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (0..lines).map(|_| chance.text(alphabet, 64)).collect()
}

fn key(body: &[String]) -> Vec<String> {
    let (first, last) = (format!("-----BEGIN {LABEL}-----"), format!("-----END {LABEL}-----"));
    [first].into_iter().chain(body.iter().cloned()).chain([last]).collect()
}

/// Checks that nothing of the key is left, that what is around it is, and that a stream gives the
/// same.
fn assert_gone(name: &str, text: &str, body: &[String]) {
    let redactor = Redactor::default();
    let clean = redactor.redact(text, &mut Counts::default()).into_owned();
    for line in body {
        let pieces = (8..=line.len()).map(|end| &line[end - 8..end]);
        let left: Vec<&str> = pieces.filter(|piece| clean.contains(piece)).collect();
        assert!(left.is_empty(), "{name}: {left:?} in\n{clean}");
    }
    assert!(clean.starts_with("before\n") && clean.ends_with("after\n"), "{name}:\n{clean}");
    assert_eq!(redactor.redact(&clean, &mut Counts::default()), clean, "{name}, twice");
    // Each piece of a long key is scanned again until its end is there, so large pieces are used.
    let sizes: &[usize] = if text.len() > 10_000 { &[4099, 50_000] } else { &[1, 64, 100] };
    for &size in sizes {
        let mut stream = StreamRedactor::new(&redactor);
        let (mut out, mut from) = (String::new(), 0);
        while from < text.len() {
            let to = text.ceil_char_boundary(from + size);
            out.push_str(&stream.push(&text[from..to]));
            from = to;
        }
        out.push_str(&stream.finish());
        assert_eq!(out, clean, "{name}, in pieces of {size}");
    }
}

/// A name, what precedes a line by its number, and what follows it.
type Listing = (&'static str, fn(usize) -> String, &'static str);

/// What tools write around a line.
fn listings() -> Vec<Listing> {
    vec![
        ("as it is", |_| String::new(), ""),
        ("cat -n", |n| format!("{n:6}\t"), ""),
        ("a tool's arrow", |n| format!("{n:6}→"), ""),
        ("arrow alone", |n| format!("{n}→"), ""),
        ("diff, added", |_| "+".to_owned(), ""),
        ("diff, removed", |_| "-".to_owned(), ""),
        ("quoted", |_| "> ".to_owned(), ""),
        ("indented", |_| "    ".to_owned(), ""),
        ("grep -n", |n| format!("{n}:"), ""),
        ("grep with file", |n| format!("etc/key.pem:{n}:"), ""),
        ("grep, context", |n| format!("{n}-"), ""),
        ("comment", |_| "# ".to_owned(), ""),
        ("comment, slashes", |_| "// ".to_owned(), ""),
        ("joined strings", |_| "  \"".to_owned(), "\\n\" +"),
        ("list of strings", |_| "    '".to_owned(), "',"),
        ("numbers with a letter", |n| format!("L{n}: "), ""),
        ("colours", |_| "\u{1b}[32m".to_owned(), "\u{1b}[0m"),
        ("table", |_| "| ".to_owned(), " |"),
        ("windows", |_| String::new(), "\r"),
    ]
}

fn listed(lines: &[String], before: fn(usize) -> String, behind: &str) -> String {
    let numbered = lines.iter().zip(1..).map(|(line, n)| format!("{}{line}{behind}\n", before(n)));
    format!("before\n{}after\n", numbered.collect::<String>())
}

#[test]
fn a_listed_key_goes_whole_or_without_its_ends() {
    let body = body(12);
    let all = key(&body);
    for (name, before, behind) in listings() {
        assert_gone(name, &listed(&all, before, behind), &body);
        assert_gone(&format!("{name}, no end"), &listed(&all[..13], before, behind), &body);
        assert_gone(&format!("{name}, no start"), &listed(&all[5..], before, behind), &body[4..]);
    }
}

#[test]
fn a_cut_in_a_line_leaves_nothing_of_it() {
    let body = body(6);
    let all = key(&body);
    for cut in 1..64 {
        let mut lines = all[..7].to_vec();
        lines[6].truncate(cut);
        let text = format!("before\n{}", lines.join("\n"));
        let clean = Redactor::default().redact(&text, &mut Counts::default()).into_owned();
        let left = clean.rsplit(']').next().unwrap();
        assert!(left.len() < 4, "{cut}: {clean}");
    }
}

#[test]
fn keys_of_other_programs_go() {
    let body = body(12);
    let ssh2 = |word: &str| format!("---- {word} SSH2 ENCRYPTED PRIVATE KEY ----");
    let text = format!("before\n{}\n{}\n{}\nafter\n", ssh2("BEGIN"), body.join("\n"), ssh2("END"));
    assert_gone("SSH2", &text, &body);
    let text = format!("before\n{}\n{}\nafter\n", ssh2("BEGIN"), body.join("\n"));
    assert_gone("SSH2, no end", &text, &body);
    let head = "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: x\nPrivate-Lines: 12";
    let text = format!("before\n{head}\n{}\nPrivate-MAC: 0123\nafter\n", body.join("\n"));
    assert_gone("PuTTY", &text, &body);
    let head =
        format!("-----BEGIN {LABEL}-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,01AB\n");
    let text = format!("before\n{head}\n{}\nafter\n", body.join("\n"));
    assert_gone("encrypted, no end", &text, &body);
}

#[test]
fn a_key_of_any_length_goes() {
    for lines in [1500, 4000] {
        let body = body(lines);
        let text = format!("before\n{}\nafter\n", key(&body).join("\n"));
        assert_gone("long", &text, &body);
        let text = format!("before\n{}\nafter\n", key(&body)[..=lines].join("\n"));
        assert_gone("long, no end", &text, &body);
    }
}

#[test]
fn a_certificate_stays_beside_a_key() {
    let body = body(12).join("\n");
    let certificate = format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n");
    let clean = Redactor::default().redact(&certificate, &mut Counts::default()).into_owned();
    assert_eq!(clean, certificate);
    let both = format!("{certificate}-----BEGIN {LABEL}-----\n{body}\n-----END {LABEL}-----\n");
    let clean = Redactor::default().redact(&both, &mut Counts::default()).into_owned();
    assert_eq!(clean, format!("{certificate}[redacted:private-key]\n"));
}
