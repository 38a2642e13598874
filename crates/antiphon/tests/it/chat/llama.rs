//! A service that others made: the server of llama.cpp, with a model of random weights, in both of
//! the protocols that it speaks. `make test-net` builds it.

use std::process::Command;

use super::started::{Started, installed};
use super::{done, events};
use crate::home::Home;

#[test]
fn a_server_of_llama_cpp_is_understood_in_both_protocols() {
    let Some(program) = installed("ANTIPHON_LLAMA") else { return };
    let home = Home::new();
    let mut command = Command::new(&program);
    // An answer of at most so many tokens; what the server is asked for counts as well.
    command.arg("--model").arg(program.with_file_name("tiny.gguf")).args(["--predict", "24"]);
    let server = Started::new(command);
    for service in ["openai", "anthropic"] {
        let (model, log) = (format!("{service}/tiny"), format!("{service}.jsonl"));
        let prompts = ["--prompt", "Hello?", "--prompt", "And?"];
        let words = ["chat", "--system", "You talk.", "--model", &model, "--log", &log];
        let mut command = home.command(&[&words[..], &prompts].concat());
        command.env("OPENAI_BASE_URL", format!("{}/v1", server.url()));
        command.env("ANTHROPIC_BASE_URL", server.url()).env("NO_PROXY", "127.0.0.1");
        let done = done(command);
        assert_eq!(done.exit, 0, "{service}: {done}");
        let events = events(&home, &log);
        let answers: Vec<_> = events.iter().filter(|it| it["role"] == "assistant").collect();
        assert_eq!(answers.len(), 2, "{service}");
        for answer in answers {
            assert_ne!(answer["content"], "", "{service}: {answer}");
            assert!(answer["usage"]["output"].as_u64() > Some(0), "{service}: {answer}");
        }
        assert_eq!(home.run(&format!("verify {log}")).exit, 0);
    }
}
