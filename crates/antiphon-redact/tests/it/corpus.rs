//! Many secrets of every kind, in the places where agents meet them.

use antiphon_redact::{Counts, Redactor, StreamRedactor};

use crate::kinds::{self, Chance, Instance, Kind};

/// How many of each kind are generated.
const INSTANCES: usize = 200;

/// The text around a secret that is recognised by its own form.
const SHAPES: &[(&str, &str)] = &[
    ("prose", "Here it is, keep it safe: {}\nThank you."),
    ("environment", "export SOME_NAME={}\n"),
    ("JSON", "{\"name\": \"x\", \"value\": \"{}\", \"n\": 1}"),
    ("YAML", "  - name: x\n    value: {}\n"),
    ("command", "$ run --with {} \\\n  --more\n"),
    ("header", "X-Something: {}\r\nHost: x\r\n"),
    ("tool output", "     1\tok\n     2\t'{}'\n     3\tok\n"),
    ("address", "https://app.internal/v1/x?k={}&y=1"),
    ("code", "const k = `{}`;"),
    ("prose in quotes", "I set it to \"{}\".\nThen"),
    ("diff", "+  {}\n"),
];

/// The text around a secret that is recognised by its context: a line of its own, in several
/// places.
const LINES: &[(&str, &str)] = &[
    ("prose", "Use this:\n\n{}\n\nand no other."),
    ("command", "$ cd x\n{}\n"),
    ("tool output", "ok\n{}\nok\n"),
];

fn place(kind: &Kind, number: usize, instance: &Instance) -> (&'static str, String) {
    let shapes = if kind.is_token { SHAPES } else { LINES };
    let (name, shape) = shapes[number % shapes.len()];
    (name, shape.replace("{}", &instance.text))
}

/// The text itself, as an event's content, or as a call's arguments.
fn redacted(redactor: &Redactor, text: &str, way: usize) -> String {
    let mut counts = Counts::default();
    let json = |text: &str| serde_json::to_string(text).unwrap();
    match way {
        0 => redactor.redact(text, &mut counts).into_owned(),
        1 => {
            let event = format!("{{\"role\":\"tool\",\"content\":{}}}", json(text));
            let clean = redactor.redact_json(&event, &mut counts).into_owned();
            let event: serde_json::Value = serde_json::from_str(&clean).unwrap();
            event["content"].as_str().unwrap().to_owned()
        }
        _ => {
            let input = format!("{{\"command\":{},\"timeout\":1}}", json(text));
            let call = format!("{{\"id\":\"c1\",\"arguments\":{}}}", json(&input));
            let clean = redactor.redact_json(&call, &mut counts).into_owned();
            let call: serde_json::Value = serde_json::from_str(&clean).unwrap();
            let input: serde_json::Value =
                serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            input["command"].as_str().unwrap().to_owned()
        }
    }
}

#[test]
fn ninety_nine_of_a_hundred_secrets_are_found_wherever_they_stand() {
    let redactor = Redactor::default();
    let (mut made, mut found, mut poor) = (0, 0, Vec::new());
    for (seed, kind) in (1..).zip(kinds::all()) {
        let mut chance = Chance(seed);
        let (mut of_kind, mut example) = (0, None);
        for number in 0..INSTANCES {
            let instance = kind.make(&mut chance);
            let (_, text) = place(kind, number, &instance);
            let clean = redacted(&redactor, &text, number / 7 % 3);
            match instance.leaked_in(&clean) {
                None => of_kind += 1,
                Some(_) => example = example.or(Some(clean)),
            }
        }
        println!("{:40} {of_kind:4} of {INSTANCES}", kind.name);
        if let Some(example) = example {
            println!("    missed: {example:?}");
        }
        made += INSTANCES;
        found += of_kind;
        if of_kind * 100 < INSTANCES * 95 {
            poor.push(kind.name);
        }
    }
    println!("{found} of {made} found, {} kinds", kinds::all().count());
    assert!(kinds::all().count() >= 120);
    assert!(poor.is_empty(), "below 95 of 100: {poor:?}");
    assert!(found * 1000 >= made * 990, "{found} of {made}");
}

#[test]
fn a_secret_cut_by_the_borders_of_pieces_is_found() {
    let redactor = Redactor::default();
    let mut missed = Vec::new();
    for (seed, kind) in (1000..).zip(kinds::all()) {
        let instance = kind.make(&mut Chance(seed));
        let (_, text) = place(kind, 0, &instance);
        let whole = redactor.redact(&text, &mut Counts::default()).into_owned();
        for size in [1, 2, 3, 7, 16, 33, 64] {
            let mut stream = StreamRedactor::new(&redactor);
            let pieces = text.as_bytes().chunks(size).map(|piece| str::from_utf8(piece).unwrap());
            let mut clean: String = pieces.map(|piece| stream.push(piece)).collect();
            clean.push_str(&stream.finish());
            assert_eq!(clean, whole, "in pieces of {size}");
        }
        if instance.leaked_in(&whole).is_some() {
            missed.push(whole);
        }
    }
    assert!(missed.len() * 50 <= kinds::all().count(), "{missed:#?}");
}
