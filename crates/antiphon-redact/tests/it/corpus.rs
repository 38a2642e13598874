//! Sixty secrets in the places where agents meet them.

use antiphon_redact::{Counts, Redactor, StreamRedactor};

/// A generator with a fixed seed: the same secrets on each run, and none of them in this file.
struct Chance(u64);

impl Chance {
    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet = alphabet.as_bytes();
        let mut next = || {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            usize::try_from(self.0 >> 33).unwrap()
        };
        (0..length).map(|_| char::from(alphabet[next() % alphabet.len()])).collect()
    }
}

const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The kinds: a text with a hole, and what goes into it.
const KINDS: &[(&str, &str, usize)] = &[
    ("sk-ant-api03-{}", ALNUM, 93),
    ("sk-proj-{}", ALNUM, 120),
    ("sk-{}", ALNUM, 48),
    ("AKIA{}", UPPER, 16),
    ("aws_secret_access_key={}", BASE64, 40),
    ("ghp_{}", ALNUM, 36),
    ("ghs_{}", ALNUM, 36),
    ("github_pat_{}", ALNUM, 82),
    ("glpat-{}", ALNUM, 20),
    ("xoxb-123456789012-123456789012-{}", ALNUM, 24),
    ("https://hooks.slack.com/services/T01234567/B01234567/{}", ALNUM, 24),
    ("sk_live_{}", ALNUM, 24),
    ("rk_live_{}", ALNUM, 24),
    ("AIza{}", ALNUM, 35),
    ("GOCSPX-{}", ALNUM, 28),
    ("hf_{}", ALNUM, 34),
    ("npm_{}", ALNUM, 36),
    ("pypi-AgEIcHlwaS5vcmc{}", ALNUM, 100),
    ("SG.abcdefghijklmnopqrstuv.{}", ALNUM, 43),
    ("SK{}", HEX, 32),
    ("key-{}", HEX, 32),
    ("dop_v1_{}", HEX, 64),
    ("AccountName=x;AccountKey={}==;Suffix=y", BASE64, 86),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}", ALNUM, 43),
    ("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", BASE64, 64),
    ("postgres://app:{}@db.internal:5432/app", ALNUM, 16),
    ("Authorization: Bearer {}", ALNUM, 40),
    ("Authorization: token {}", HEX, 40),
    ("DB_PASSWORD={}", ALNUM, 16),
    ("api_key: {}", HEX, 32),
    ("987654321:AA{}", ALNUM, 33),
    ("MTE4OTk1NTYxNjE0NjU3NTM2.GhYkLm.{}", ALNUM, 38),
    ("dapi{}", HEX, 32),
    ("shpat_{}", HEX, 32),
    ("sq0atp-{}", ALNUM, 22),
    ("lin_api_{}", ALNUM, 40),
    ("ntn_{}", ALNUM, 46),
    ("secret_{}", ALNUM, 43),
    ("hvs.{}", ALNUM, 90),
    ("AGE-SECRET-KEY-1{}", UPPER, 58),
    ("machine api.host login joe password {}", ALNUM, 14),
    ("CLOUDFLARE_API_TOKEN={}", ALNUM, 40),
];

/// Sixty texts, each with what must not be in it any more.
fn corpus() -> Vec<(String, String)> {
    let mut chance = Chance(42);
    let kinds = KINDS.iter().cycle().take(60);
    kinds
        .map(|&(form, alphabet, length)| {
            let hole = chance.text(alphabet, length);
            (form.replace("{}", &hole), hole)
        })
        .collect()
}

/// The secret in prose, in a tool's input and output, and in a shell's command.
fn places(secret: &str) -> [(&'static str, String, bool); 5] {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let input = json(&format!("{{\"command\":{},\"timeout\":1}}", json(secret)));
    [
        ("prose", format!("Here it is, keep it safe:\n{secret}\nThank you."), false),
        ("command", format!("$ export X=1 && run \\\n  {secret}\n"), false),
        ("tool output", format!("     1\tok\n     2\t{secret}\n     3\tok\n"), false),
        ("tool input", format!("{{\"id\":\"c1\",\"function\":{{\"arguments\":{input}}}}}"), true),
        ("event", format!("{{\"role\":\"tool\",\"content\":{}}}", json(secret)), true),
    ]
}

#[test]
fn of_sixty_secrets_at_least_fifty_nine_are_found_wherever_they_stand() {
    let redactor = Redactor::default();
    for place in 0..5 {
        let mut missed = Vec::new();
        for (secret, hole) in corpus() {
            let (name, text, is_json) = &places(&secret)[place];
            let mut counts = Counts::default();
            let clean = match is_json {
                true => redactor.redact_json(text, &mut counts),
                false => redactor.redact(text, &mut counts),
            };
            if clean.contains(&hole) || counts.is_empty() {
                missed.push(format!("{name}: {clean}"));
            }
            if *is_json {
                serde_json::from_str::<serde_json::Value>(&clean).unwrap();
            }
        }
        println!("{} of 60 found, {}", 60 - missed.len(), places("")[place].0);
        assert!(missed.len() <= 1, "{missed:#?}");
    }
}

#[test]
fn a_secret_cut_by_the_borders_of_pieces_is_found() {
    let redactor = Redactor::default();
    let mut missed = Vec::new();
    for (secret, hole) in corpus() {
        let (_, text, _) = &places(&secret)[0];
        let whole = redactor.redact(text, &mut Counts::default()).into_owned();
        for size in [1, 2, 3, 7, 16, 33, 64] {
            let mut stream = StreamRedactor::new(&redactor);
            let pieces = text.as_bytes().chunks(size).map(|piece| str::from_utf8(piece).unwrap());
            let mut clean: String = pieces.map(|piece| stream.push(piece)).collect();
            clean.push_str(&stream.finish());
            assert_eq!(clean, whole, "in pieces of {size}");
            if clean.contains(&hole) {
                missed.push(clean);
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
