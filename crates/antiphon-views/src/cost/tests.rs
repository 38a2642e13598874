use antiphon_model::Usage;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::Cost;
use crate::fixture::{agent, fold, spent};

fn prices() -> Prices {
    let table = r#"{"source":"a test","date":"2026-01-01","currency":"USD","unit":"per million tokens","models":[
        {"model":"large","prices":[{"input":3,"output":15,"cache_read":0.3,"cache_write":3.75,"cache_write_1h":6}]},
        {"model":"small","prices":[{"input":1,"output":5,"cache_read":0.1,"cache_write":1.25,"cache_write_1h":2}]}]}"#;
    Prices::parse(table).unwrap()
}

fn log(lines: &[String]) -> Session {
    fold(&lines.join("\n"))
}

const TURN: &str = r#""input":10,"output":40,"cache_read":1000,"cache_write":100"#;

#[test]
fn each_agent_at_its_own_models_price() {
    let large = r#","model":"large""#;
    let session = log(&[
        agent("root", None),
        spent("1", "root", TURN, large),
        agent("a", Some("root")),
        spent("2", "a", TURN, r#","model":"small""#),
        agent("b", Some("a")),
        spent("3", "b", r#""input":1000000"#, large),
        spent("4", "root", r#""output":60,"reasoning":9"#, large),
        agent("other", None),
    ]);
    let tree = serde_json::to_value(cost(&session, "s", &prices())).unwrap();
    let sums = |input: u64,
                output,
                reasoning,
                cache_read,
                cache_write,
                requests: u64,
                cost: f64| {
        let mut sums = json!({
            "input": input, "output": output, "reasoning": reasoning, "cache_read": cache_read,
            "cache_write": cache_write, "cache_write_1h": 0, "requests": requests, "cost_usd": cost,
        });
        if requests > 0 {
            sums["basis"] = json!("priced");
        }
        sums
    };
    let b = sums(1_000_000, 0, 0, 0, 0, 1, 3.0);
    assert_eq!(
        tree,
        json!({
            "session_id": "s",
            "tree": [
                {
                    "agent_id": "root", "name": "Agent root", "requests": 2, "models": ["large"],
                    "own": sums(10, 100, 9, 1000, 100, 2, 0.002205),
                    "total": sums(1_000_020, 140, 9, 2000, 200, 4, 3.00264),
                    "children": [{
                        "agent_id": "a", "name": "Agent a", "requests": 1, "models": ["small"],
                        "own": sums(10, 40, 0, 1000, 100, 1, 0.000435),
                        "total": sums(1_000_010, 40, 0, 1000, 100, 2, 3.000435),
                        "children": [{
                            "agent_id": "b", "name": "Agent b", "requests": 1, "models": ["large"],
                            "own": b, "total": b, "children": [],
                        }],
                    }],
                },
                {
                    "agent_id": "other", "name": "Agent other", "requests": 0, "models": [],
                    "own": sums(0, 0, 0, 0, 0, 0, 0.0), "total": sums(0, 0, 0, 0, 0, 0, 0.0),
                    "children": [],
                },
            ],
            "total": sums(1_000_020, 140, 9, 2000, 200, 4, 3.00264),
            "unpriced": [],
            "prices_date": "2026-01-01",
        })
    );
}

#[test]
fn an_unpriced_model_is_named_and_never_free() {
    let session = log(&[
        agent("root", None),
        spent("1", "root", TURN, r#","model":"large""#),
        agent("a", Some("root")),
        spent("2", "a", TURN, r#","model":"somebody's""#),
        spent("3", "a", TURN, ""),
        // Made up by a program; there is nothing to price.
        spent("4", "a", "", r#","model":"<synthetic>""#),
    ]);
    let tree = serde_json::to_value(cost(&session, "s", &prices())).unwrap();
    assert_eq!(tree["unpriced"], json!(["somebody's", "unknown"]));
    let shown =
        |node: &Value, part: &str| (node[part]["cost_usd"].clone(), node[part]["partial"].clone());
    let root = &tree["tree"][0];
    assert_eq!(shown(root, "own"), (json!(0.001305), Value::Null));
    assert_eq!(shown(root, "total"), (json!(0.001305), json!(true)));
    assert_eq!(shown(&root["children"][0], "own"), (Value::Null, json!(true)));
    assert_eq!(root["total"]["input"], 30);
}

#[test]
fn a_request_that_names_no_model_asked_its_agents() {
    let created = agent("root", None).replace('}', r#","language_model":"small"}"#);
    let session = log(&[created, spent("1", "root", r#""output":1000000"#, "")]);
    let tree = cost(&session, "s", &prices());
    assert_eq!(tree.total.cost().unwrap().to_string(), "5");
    assert_eq!(tree.tree[0].models, ["small"]);
}

#[test]
fn a_declared_cost_counts_where_there_is_no_price_and_is_shown_beside_one() {
    let session = log(&[
        agent("root", None),
        spent("1", "root", TURN, r#","model":"large","cost_usd":0.5"#),
        agent("a", Some("root")),
        spent("2", "a", TURN, r#","model":"somebody's","cost_usd":0.15"#),
        // Without token counts.
        r#"{"message_id":"3","agent_id":"a","role":"assistant","content":"x","cost_usd":0.05}"#
            .to_owned(),
        spent("4", "a", TURN, r#","model":"somebody's","cost_usd":-1"#),
    ]);
    let tree = serde_json::to_value(cost(&session, "s", &prices())).unwrap();
    let shown = |node: &Value, part: &str| -> Vec<Value> {
        let names = ["requests", "cost_usd", "basis", "declared_usd", "partial"];
        names.iter().map(|name| node[part][name].clone()).collect()
    };
    let root = &tree["tree"][0];
    assert_eq!(
        shown(root, "own"),
        [json!(1), json!(0.001305), json!("priced"), json!(0.5), Value::Null]
    );
    let below = [json!(3), json!(0.2), json!("declared"), json!(0.2), json!(true)];
    assert_eq!(shown(&root["children"][0], "own"), below);
    assert_eq!(
        shown(root, "total"),
        [json!(4), json!(0.201305), json!("mixed"), json!(0.7), json!(true)]
    );
    assert_eq!(tree["unpriced"], json!(["somebody's"]), "one says nothing that can be believed");
    let rows = serde_json::to_value(ledger(&session, &prices())).unwrap();
    let row = |at: usize| (rows[at]["cost_usd"].clone(), rows[at]["basis"].clone());
    assert_eq!(row(0), (json!(0.001305), json!("priced")));
    assert_eq!(row(1), (json!(0.15), json!("declared")));
    assert_eq!(row(2), (json!(0.05), json!("declared")));
    assert_eq!(row(3), (Value::Null, Value::Null));
    assert_eq!(session.find("3").unwrap().usage(), None, "nothing is made up");
}

#[test]
fn a_request_with_partial_tokens_makes_every_sum_partial() {
    let session = log(&[
        agent("root", None),
        spent("1", "root", TURN, r#","model":"large","usage_partial":true"#),
    ]);
    let tree = serde_json::to_value(cost(&session, "s", &prices())).unwrap();
    assert_eq!(
        (&tree["total"]["cost_usd"], &tree["total"]["partial"]),
        (&json!(0.001305), &json!(true))
    );
    assert_eq!(tree["unpriced"], json!([]));
    let rows = serde_json::to_value(ledger(&session, &prices())).unwrap();
    assert_eq!(rows[0]["partial"], json!(true));
}

#[test]
fn the_ledger_names_every_request_and_its_place() {
    let session = log(&[
        agent("root", None),
        spent("1", "root", TURN, r#","model":"large","timestamp":"2026-01-02T03:04:05.678Z""#),
        spent("2", "root", TURN, r#","model":"somebody's""#),
    ]);
    let rows = serde_json::to_value(ledger(&session, &prices())).unwrap();
    let row = |id: &str, model: &str, line: u64, cost: Value| {
        json!({
            "message_id": id, "agent_id": "root", "name": "Agent root", "model": model,
            "input": 10, "output": 40, "reasoning": 0, "cache_read": 1000, "cache_write": 100,
            "cache_write_1h": 0, "cost_usd": cost, "stream": 0, "line": line,
        })
    };
    let mut first = row("1", "large", 2, json!(0.001305));
    first["timestamp"] = json!("2026-01-02T03:04:05.678Z");
    first["basis"] = json!("priced");
    assert_eq!(rows, json!([first, row("2", "somebody's", 3, Value::Null)]));
}

#[test]
fn a_chain_of_agents_as_long_as_the_log_is_bounded_and_adds_up() {
    let mut lines = vec![agent("0", None)];
    for n in 1..300 {
        lines.push(agent(&n.to_string(), Some(&(n - 1).to_string())));
    }
    lines.extend(
        (0..300).map(|n| spent(&format!("m{n}"), &n.to_string(), TURN, r#","model":"large""#)),
    );
    let tree = cost(&log(&lines), "s", &prices());
    assert_eq!(tree.total, tree.tree[0].total);
    assert_eq!(tree.total.requests, 300);
    let (mut depth, mut node) = (1, &tree.tree[0]);
    while let Some(child) = node.children.first() {
        (depth, node) = (depth + 1, child);
    }
    assert_eq!(depth, crate::outline::DEPTH_MAX + 1);
}

/// Adds up `own` of all nodes, as a reader of the JSON would.
fn owns(nodes: &Value, sums: &mut Sums) {
    for node in nodes.as_array().unwrap() {
        sums.tokens += node["own"]["output"].as_u64().unwrap();
        sums.cost += node["own"]["cost_usd"].as_f64().unwrap_or_default();
        owns(&node["children"], sums);
    }
}

#[derive(Default)]
struct Sums {
    tokens: u64,
    cost: f64,
}

proptest! {
    #[test]
    fn the_leaves_sum_to_the_root_and_so_does_the_ledger(
        parents in prop::collection::vec(0_usize..1000, 1..12),
        requests in prop::collection::vec(
            (0_usize..99, 0_u64..300_000, 0_u64..50_000, 0_u64..2_000_000, 0_u64..90_000, 0_u8..3),
            0..40,
        ),
    ) {
        let mut lines = vec![agent("0", None)];
        for (n, parent) in (1..).zip(&parents) {
            // One in ten is another root.
            let parent = (parent % 10 != 0).then(|| (parent % n).to_string());
            lines.push(agent(&n.to_string(), parent.as_deref()));
        }
        for (n, (agent, input, output, read, write, model)) in requests.iter().enumerate() {
            let usage = format!(
                r#""input":{input},"output":{output},"cache_read":{read},"cache_write":{write},"cache_write_1h":{}"#,
                write / 3
            );
            let model = ["large", "small", "somebody's"][usize::from(*model)];
            let agent = (agent % (parents.len() + 1)).to_string();
            lines.push(spent(&format!("m{n}"), &agent, &usage, &format!(r#","model":"{model}""#)));
        }
        let session = log(&lines);
        let tree = cost(&session, "s", &prices());

        let mut roots = Totals::default();
        tree.tree.iter().for_each(|root| roots += root.total);
        prop_assert_eq!(roots, tree.total);
        prop_assert_eq!(tree.total.usage, session.usage());

        let mut rows = Totals::default();
        let mut usage = Usage::default();
        for row in ledger(&session, &prices()) {
            usage += row.usage;
            let cost = Cost { priced: row.cost.cost_usd, declared: None };
            rows.add(row.usage, cost, row.cost.partial);
        }
        prop_assert_eq!(rows, tree.total);
        prop_assert_eq!(usage, session.usage());

        let shown = serde_json::to_value(&tree).unwrap();
        let mut sums = Sums::default();
        owns(&shown["tree"], &mut sums);
        let total = &shown["total"];
        prop_assert_eq!(sums.tokens, total["output"].as_u64().unwrap());
        let billionths = |usd: f64| (usd * 1e9).round();
        let total_cost = total["cost_usd"].as_f64().unwrap_or_default();
        prop_assert_eq!(billionths(sums.cost), billionths(total_cost));
    }
}
