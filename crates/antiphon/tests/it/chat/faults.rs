//! Services that fail, in both protocols: the session stays whole, and the person is told.

use super::service::{Reply, Service};
use super::{done, events};
use crate::home::Home;
use crate::run::Done;

/// What a service does, what stdout has then, and what the person is told.
struct Case {
    replies: fn() -> Vec<Reply>,
    out: &'static str,
    told: &'static str,
}

const NOW: Reply = Reply::Says("Now.");

const CASES: &[Case] = &[
    Case {
        replies: || vec![Reply::Refuses(429, "Retry-After: 0\r\n"), NOW],
        out: "Now.\n",
        told: "429; trying again in 0.0 s",
    },
    Case {
        replies: || vec![Reply::Refuses(500, "Retry-After: 0\r\n"), NOW],
        out: "Now.\n",
        told: "500; trying again in 0.0 s",
    },
    Case { replies: || vec![Reply::HangsUp("Once"), NOW], out: "Now.\n", told: "cut off" },
    Case { replies: || vec![Reply::Babbles, NOW], out: "Now.\n", told: "malformed" },
    Case { replies: || vec![Reply::Says("")], out: "", told: "" },
    Case { replies: || vec![Reply::Calls("task", "{not JSON"), NOW], out: "Now.\n", told: "" },
    Case { replies: || vec![Reply::Calls("fly", "{}"), NOW], out: "Now.\n", told: "" },
];

fn chat(home: &Home, service: &Service, model: &str) -> Done {
    let arguments = ["chat", "--model", model, "--log", "log.jsonl", "--prompt", "Hi"];
    let mut command = home.command(&arguments);
    let root = service.url().trim_end_matches("/v1");
    command.env("OPENAI_BASE_URL", service.url()).env("ANTHROPIC_BASE_URL", root);
    command.env("NO_PROXY", "127.0.0.1");
    done(command)
}

#[test]
fn a_session_survives_them_and_the_person_is_told() {
    for model in ["openai/m", "anthropic/m"] {
        for (number, case) in CASES.iter().enumerate() {
            let home = Home::new();
            let done = chat(&home, &Service::new((case.replies)()), model);
            let what = format!("{model}, case {number}: {done}");
            assert_eq!((done.exit, &*done.out), (0, case.out), "{what}");
            assert!(done.err.contains(case.told), "{what}");
            assert_eq!(home.run("verify log.jsonl").exit, 0, "{what}");
        }
    }
}

#[test]
fn what_arrived_of_a_cut_answer_is_kept_as_a_fragment() {
    for model in ["openai/m", "anthropic/m"] {
        let home = Home::new();
        chat(&home, &Service::new(vec![Reply::HangsUp("Once upon"), NOW]), model);
        let events = events(&home, "log.jsonl");
        let fragment = events.iter().find(|event| event["event_type"] == "fragment").unwrap();
        assert_eq!(fragment["content"], "Once upon", "{model}");
    }
}

#[test]
fn a_very_long_answer_is_whole() {
    let words: &'static str = "All work and no play. ".repeat(100_000).leak();
    for model in ["openai/m", "anthropic/m"] {
        let home = Home::new();
        let done = chat(&home, &Service::new(vec![Reply::Says(words)]), model);
        assert_eq!(done.exit, 0, "{model}");
        assert_eq!(done.out.trim_end().len(), words.trim_end().len(), "{model}");
    }
}
