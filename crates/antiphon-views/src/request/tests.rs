use super::*;
use crate::fixture::{agent, fold, spent};

fn prices() -> Prices {
    let table = r#"{"source":"a test","date":"2026-01-01","currency":"USD","unit":"per million tokens","models":[
        {"model":"small","prices":[{"input":1,"output":5}]}]}"#;
    Prices::parse(table).unwrap()
}

#[test]
fn a_request_without_a_model_asked_its_agents() {
    let created = agent("a", None).replace('}', r#","language_model":"small"}"#);
    let session = fold(&[created, spent("1", "a", r#""output":1000000"#, "")].join("\n"));
    let request = requests(&session).next().unwrap();
    assert_eq!(request.model, Some("small"));
    let prices = prices();
    assert_eq!(Pricing::new(&prices).of(&request).amount().unwrap().to_string(), "5");
}

#[test]
fn a_price_counts_before_a_declaration_and_a_declaration_before_nothing() {
    let prices = prices();
    let mut pricing = Pricing::new(&prices);
    let tokens = Usage { output: 1_000_000, ..Usage::default() };
    let cent = Usd::from_f64(0.01);
    let mut check = |model: Option<&str>, usage, declared| {
        let cost = pricing.cost(model, None, usage, declared);
        (cost.amount().map(|amount| amount.to_string()), cost.basis())
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(check(Some("small"), tokens, cent), (some("5"), Some(CostBasis::Priced)));
    assert_eq!(check(Some("other"), tokens, cent), (some("0.01"), Some(CostBasis::Declared)));
    assert_eq!(check(None, tokens, None), (None, None));
    assert_eq!(check(None, Usage::default(), None), (some("0"), Some(CostBasis::Priced)));
    assert_eq!(check(None, Usage::default(), cent), (some("0.01"), Some(CostBasis::Declared)));
}

/// A message as a reader makes it from a line that has no id.
fn by_line(file: &str) -> String {
    spent(&format!("{file}:2"), "a", r#""output":7"#, r#","timestamp":"2026-01-01T00:00:01Z""#)
}

#[test]
fn a_copy_of_a_file_under_another_name_holds_the_same_requests() {
    let started = r#"{"message_id":"s","event_type":"session_started","session_id":"one"}"#;
    let session = |file: &str| fold(&[started.to_owned(), by_line(file)].join("\n"));
    let (here, there) = (session("rollout.jsonl"), session("copy/of:it.jsonl"));
    let identity = |session| requests(session).next().map(|it| format!("{:?}", it.identity));
    assert!(identity(&here).is_some());
    assert_eq!(identity(&here), identity(&there));
}
