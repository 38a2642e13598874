//! `cargo bench -p antiphon-redact`: throughput for text and for JSON.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench talks to a person")]

use std::time::Instant;

use antiphon_redact::{Counts, Redactor, Secrets, StreamRedactor};

fn main() {
    let prose = "a line of code, or what somebody said about it, in some 70 characters\n";
    let dense =
        "the next token of the parser; https://host/path and a password field, a task-list\n";
    let event = r#"{"message_id":"msg_1","agent_id":"a","role":"user","content":"some words\nand others, said by somebody about something","usage":{"input_tokens":12,"output_tokens":9}}
"#;
    let values = [("A_TOKEN".to_owned(), "hjr8Kdl2mNq0".to_owned())];
    for (with, redactor) in [
        ("", Redactor::default()),
        (", one value of the environment", Redactor::new(Secrets::from_env(values.into_iter()))),
    ] {
        let text =
            |redactor: &Redactor, text: &str| redactor.redact(text, &mut Counts::default()).len();
        measure(&format!("text without keywords{with}"), prose, |all| text(&redactor, all));
        measure(&format!("text with many{with}"), dense, |all| text(&redactor, all));
        measure(&format!("JSON lines{with}"), event, |all| {
            let line = |line| redactor.redact_json(line, &mut Counts::default()).len();
            all.lines().map(line).sum()
        });
        measure(&format!("text in pieces of 4 KiB{with}"), prose, |all| {
            let mut stream = StreamRedactor::new(&redactor);
            let pieces = all.as_bytes().chunks(4096);
            let pieces = pieces.map(|piece| stream.push(str::from_utf8(piece).unwrap()).len());
            pieces.sum::<usize>() + stream.finish().len()
        });
    }
}

fn measure(name: &str, line: &str, run: impl Fn(&str) -> usize) {
    let text = line.repeat((32 << 20) / line.len());
    run(&text);
    let best = (0..3).map(|_| {
        let start = Instant::now();
        run(&text);
        start.elapsed().as_secs_f64()
    });
    let best = best.fold(f64::INFINITY, f64::min);
    println!("{name:60} {:7.0} MB/s", text.len() as f64 / best / 1e6);
}
