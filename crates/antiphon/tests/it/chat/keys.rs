//! The key of a service is never logged and never shown, even if the service repeats it.

use super::done;
use super::service::{Reply, Service};
use crate::home::Home;
use crate::run::Done;

const KEY: &str = "sk-it-is-me-0123456789";

/// A chat with a service that has a key.
fn chat(home: &Home, service: &Service) -> Done {
    let arguments = ["chat", "--model", "openai/m", "--log", "log.jsonl", "--prompt", "Hi"];
    let mut command = home.command(&arguments);
    command.env("OPENAI_BASE_URL", service.url()).env("NO_PROXY", "127.0.0.1");
    command.env("OPENAI_API_KEY", KEY);
    done(command)
}

#[test]
fn in_an_answer() {
    let home = Home::new();
    let service = Service::new(vec![Reply::Says("Your key is sk-it-is-me-0123456789, I see.")]);
    let done = chat(&home, &service);
    assert_eq!(done.out, "Your key is [key], I see.\n", "{done}");
    assert!(!home.text("log.jsonl").contains(KEY));
}

#[test]
fn in_an_answer_that_comes_in_pieces_on_a_connection_that_stays_open() {
    let home = Home::new();
    let pieces = &["Your key is sk-it-", "is-me-01234", "56789, I", " see."];
    let begun = std::time::Instant::now();
    let done = chat(&home, &Service::new(vec![Reply::SaysSlowly(pieces)]));
    assert!(begun.elapsed().as_secs() < 100, "nothing more is waited for");
    assert_eq!(done.out, "Your key is [key], I see.\n", "{done}");
    assert!(!home.text("log.jsonl").contains("is-me"), "{}", home.text("log.jsonl"));
}

#[test]
fn in_an_error_however_long_it_is() {
    // The place where it would be cut is somewhere in between.
    for length in (230..330).step_by(10) {
        let home = Home::new();
        let message = format!("{} wrong key {KEY} of yours", "x".repeat(length));
        let done = chat(&home, &Service::new(vec![Reply::Explains(401, message)]));
        assert_eq!(done.exit, 4, "{done}");
        assert!(!done.err.contains("sk-it-is"), "{length}: {done}");
        assert!(!home.text("log.jsonl").contains("sk-it-is"), "{length}");
    }
}
