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
    assert_eq!(check(Some("small"), tokens, cent), (some("5"), Some(Basis::Priced)));
    assert_eq!(check(Some("other"), tokens, cent), (some("0.01"), Some(Basis::Declared)));
    assert_eq!(check(None, tokens, None), (None, None));
    assert_eq!(check(None, Usage::default(), None), (some("0"), Some(Basis::Priced)));
    assert_eq!(check(None, Usage::default(), cent), (some("0.01"), Some(Basis::Declared)));
}
