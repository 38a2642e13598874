//! A service that others made: LiteLLM's proxy, with mocked answers and in front of a service of
//! ours, in both protocols. `make test-net` installs it.

use std::path::PathBuf;
use std::process::Command;

use super::service::{Reply, Service};
use super::started::{Started, installed};
use super::{done, events};
use crate::home::Home;
use crate::run::Done;

/// The proxy wants a key that looks like one.
const KEY: &str = "sk-0123456789abcdef-of-a-test-that-stays-here";

/// The proxy.
struct Proxy(Started);

impl Proxy {
    fn start(home: &Home, program: &PathBuf, behind: &Service) -> Self {
        let mock = "mock_response: Hello from the proxy.";
        let relayed = format!("api_base: {}", behind.url());
        let model = |name: &str, more: &str| {
            let params = "litellm_params:\n      model: openai/gpt-4o-mini\n      api_key: none";
            format!("  - model_name: {name}\n    {params}\n      {more}\n")
        };
        let models = model("mocked", mock) + &model("relayed", &relayed);
        // The service behind it speaks chat completions; the proxy would ask for responses.
        let settings = "litellm_settings:\n  use_chat_completions_url_for_anthropic_messages: true";
        home.write("config.yaml", &format!("model_list:\n{models}{settings}\n"));
        let mut command = Command::new(program);
        command.args(["--config", "config.yaml"]).current_dir(home.path(""));
        command.env("LITELLM_MASTER_KEY", KEY).env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
        Self(Started::new(command))
    }

    fn chat(&self, home: &Home, model: &str, log: &str) -> Done {
        let words = ["chat", "--system", "You host.", "--model", model, "--log", log];
        let mut command = home.command(&[&words[..], &["--prompt", "Is Ann there?"]].concat());
        let url = self.0.url();
        command.env("OPENAI_BASE_URL", format!("{url}/v1")).env("OPENAI_API_KEY", KEY);
        command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", KEY);
        command.env("NO_PROXY", "127.0.0.1");
        done(command)
    }
}

#[test]
fn a_proxy_that_others_made_is_understood_in_both_protocols() {
    let Some(program) = installed("ANTIPHON_LITELLM") else { return };
    let home = Home::new();
    let makes = || Reply::Calls("task", "{\"name\": \"Ann\", \"system_prompt\": \"You are A.\"}");
    let behind = Service::new(vec![makes(), Reply::Says("Now."), makes(), Reply::Says("Now.")]);
    let proxy = Proxy::start(&home, &program, &behind);
    for service in ["openai", "anthropic"] {
        let log = format!("{service}-mocked.jsonl");
        let done = proxy.chat(&home, &format!("{service}/mocked"), &log);
        assert_eq!((done.exit, &*done.out), (0, "Hello from the proxy.\n"), "{done}");
        let answers = events(&home, &log);
        let answer = answers.iter().find(|event| event["role"] == "assistant").unwrap();
        assert!(answer["usage"]["output"].as_u64() > Some(0), "{answer}");

        let log = format!("{service}-relayed.jsonl");
        let done = proxy.chat(&home, &format!("{service}/relayed"), &log);
        assert_eq!((done.exit, &*done.out), (0, "Now.\n"), "{service}: {done}");
        let events = events(&home, &log);
        let result = events.iter().find(|event| event["role"] == "tool");
        let result = result.unwrap();
        assert_eq!(result["content"], "Created subagent: Ann", "{service}");
        assert!(!home.text(&log).contains(KEY), "{service}: keys are never logged");
    }
}
