use super::*;

/// A table with these models and nothing else.
fn table(models: &str) -> String {
    format!(
        r#"{{"source":"a test","date":"2026-01-01","currency":"USD","unit":"per million tokens","models":[{models}]}}"#
    )
}

fn prices(models: &str) -> Prices {
    Prices::parse(&table(models)).unwrap()
}

fn at(day: &str) -> Option<Timestamp> {
    Some(Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap())
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

#[test]
fn every_kind_of_token_has_its_price() {
    let prices = prices(
        r#"{"model":"m","prices":[{"input":3,"output":15,"reasoning":20,"cache_read":0.3,"cache_write":3.75,"cache_write_1h":6}]}"#,
    );
    let cost = |usage| prices.price("m", None, usage).unwrap().to_string();
    assert_eq!(cost(usage(1_000_000, 0)), "3");
    assert_eq!(cost(usage(0, 1_000_000)), "15");
    assert_eq!(cost(Usage { reasoning: 1_000_000, ..usage(0, 2_000_000) }), "35");
    assert_eq!(cost(Usage { cache_read: 1, ..Usage::default() }), "0.0000003");
    let write = Usage { cache_write: 1_000_000, ..Usage::default() };
    assert_eq!(cost(write), "3.75");
    assert_eq!(cost(Usage { cache_write_1h: 400_000, ..write }), "4.65");
    // A part that is larger than its whole counts as the whole.
    assert_eq!(cost(Usage { cache_write_1h: 9_000_000, ..write }), "6");
    assert_eq!(cost(Usage { reasoning: 9, ..usage(0, 1) }), "0.00002");
    let most = Usage { input: u64::MAX, output: u64::MAX, ..write };
    assert_eq!(cost(most), "332041393326775.67907");
}

#[test]
fn what_is_left_out_follows_from_what_is_said() {
    let prices = prices(r#"{"model":"m","prices":[{"input":2,"output":8}]}"#);
    let all = Usage {
        input: 1,
        output: 1,
        reasoning: 1,
        cache_read: 1,
        cache_write: 2,
        cache_write_1h: 1,
    };
    // Cached or not, it is input; reasoning or not, it is output.
    assert_eq!(prices.price("m", None, all).unwrap().to_string(), "0.000016");
}

#[test]
fn above_a_number_of_tokens_all_of_the_request_is_dearer() {
    let prices = prices(
        r#"{"model":"m","prices":[{"input":1,"output":10,"cache_read":0.1,"above":[
            {"input_tokens":100,"input":2,"output":20},
            {"input_tokens":1000,"input":4,"cache_read":0.5}]}]}"#,
    );
    let picos = |input, cache_read, cache_write| {
        let usage = Usage { cache_read, cache_write, ..usage(input, 1) };
        prices.price("m", None, usage).unwrap().as_picos()
    };
    let million = 1_000_000;
    assert_eq!(picos(100, 0, 0), (100 + 10) * million);
    assert_eq!(picos(101, 0, 0), (2 * 101 + 20) * million);
    // Cache reads and writes are input, too.
    assert_eq!(picos(0, 100, 0), (10 + 10) * million);
    assert_eq!(picos(0, 90, 11), (9 + 2 * 11 + 20) * million);
    // A step replaces what it names and keeps the rest of the base.
    assert_eq!(picos(1, 1000, 0), (4 + 500 + 10) * million);
}

#[test]
fn the_price_of_the_day_of_the_request_holds() {
    let prices = prices(
        r#"{"model":"m","prices":[
            {"input":3,"output":0,"until":"2025-03-01"},
            {"from":"2025-03-01","input":2,"output":0},
            {"from":"2025-06-10","until":"2025-12-01","input":1,"output":0}]}"#,
    );
    let check = |at| prices.price("m", at, usage(1_000_000, 0)).map(|usd| usd.to_string());
    let exactly = |text| Some(Timestamp::parse(text).unwrap());
    assert_eq!(check(at("2020-01-01")).as_deref(), Some("3"));
    assert_eq!(check(exactly("2025-02-28T23:59:59.999Z")).as_deref(), Some("3"));
    assert_eq!(check(exactly("2025-03-01T00:00:00.000Z")).as_deref(), Some("2"));
    assert_eq!(check(at("2025-06-09")).as_deref(), Some("2"));
    assert_eq!(check(at("2025-06-10")).as_deref(), Some("1"));
    // A discount has ended, and the price before it applies again.
    assert_eq!(check(at("2025-12-01")).as_deref(), Some("2"));
    assert_eq!(check(None).as_deref(), Some("1"));
}

#[test]
fn a_time_for_which_the_table_has_no_price_is_unpriced() {
    let prices = prices(
        r#"{"model":"m","prices":[{"from":"2025-03-01","until":"2025-04-01","input":3,"output":9}]}"#,
    );
    assert_eq!(prices.price("m", at("2025-02-28"), usage(1, 1)), None);
    assert!(prices.price("m", at("2025-03-31"), usage(1, 1)).is_some());
    assert_eq!(prices.price("m", at("2025-04-01"), usage(1, 1)), None);
}

#[test]
fn a_model_is_known_by_its_names_and_by_no_part_of_them() {
    let prices = Prices::bundled();
    let known = |name: &str| prices.model(name).map_or("unpriced", ModelPrices::name).to_owned();
    let sonnet = "claude-sonnet-4-5";
    for (name, expected) in [
        ("claude-sonnet-4-5", sonnet),
        ("Claude-Sonnet-4-5 ", sonnet),
        ("claude-sonnet-4-5-20250929", sonnet),
        ("claude-sonnet-4-5@20250929", sonnet),
        ("claude-sonnet-4-5[1m]", sonnet),
        ("claude-sonnet-4-5-20250929[1m]", sonnet),
        ("claude-sonnet-4.5", sonnet),
        ("claude-4.5-sonnet", sonnet),
        ("anthropic/claude-sonnet-4-5", sonnet),
        ("openrouter/anthropic/claude-sonnet-4.5", sonnet),
        ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", sonnet),
        ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", sonnet),
        ("us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("vertex_ai/claude-sonnet-4-5@20250929", sonnet),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-opus-4-1-20250805", "claude-opus-4-1"),
        ("openai/gpt-4o-mini", "gpt-4o-mini"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        // A dated name that has its own price.
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-5.1-codex-mini", "gpt-5.1-codex-mini"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("moonshot-ai/kimi-k2.7-code", "kimi-k2.7-code"),
        ("MiniMax-M2", "minimax-m2"),
        ("mistral-large-latest", "mistral-large-latest"),
        ("deepseek-v4-pro", "deepseek-v4-pro"),
    ] {
        assert_eq!(known(name), expected, "{name}");
    }
    for name in [
        "gpt-5-unknown-x",
        "gpt-5x",
        "xgpt-5",
        "gpt-",
        "",
        "-latest",
        "/gpt-5",
        "claude",
        "sonnet",
        "<synthetic>",
        "claude-sonnet-4-5-2025",
        "claude-sonnet-4-5-v1:0",
        // Another provider, another price.
        "groq/deepseek-r1",
        "fireworks_ai/kimi-k2.5",
        "ollama/gpt-4o",
        "deepseek-r1:70b",
        "日本語-20250929",
    ] {
        assert_eq!(known(name), "unpriced", "{name}");
    }
}

#[test]
fn the_bundled_table_has_no_free_model_and_dearer_steps() {
    let prices = Prices::bundled();
    assert_eq!(prices.date(), "2026-11-09");
    assert!(prices.source().contains("litellm"), "{}", prices.source());
    assert!(prices.models().len() > 200, "{}", prices.models().len());
    for model in prices.models() {
        assert_eq!(model.periods[0].from, None, "{}: a request before the table", model.name());
        for period in &model.periods {
            let Rates { input, output, cache_read, cache_write, cache_write_1h, .. } = period.rates;
            assert!(input > 0 && output > 0 && cache_read > 0, "{} is free", model.name());
            assert!(cache_read <= input && input <= cache_write, "{}", model.name());
            assert!(cache_write <= cache_write_1h, "{}", model.name());
            for (_, above) in &period.above {
                assert!(above.input > input && above.output > output, "{}", model.name());
            }
        }
        if model.name().starts_with("claude-") && model.name() != "claude-3-sonnet" {
            let rates = model.periods[0].rates;
            assert_eq!(rates.cache_write_1h, 2 * rates.input, "{}", model.name());
        }
    }
}

#[test]
fn known_prices_of_known_days() {
    let prices = Prices::bundled();
    let check = |model, day, input| {
        prices.price(model, at(day), usage(input, 1_000_000)).unwrap().to_string()
    };
    assert_eq!(check("o3", "2025-06-09", 1_000_000), "50");
    assert_eq!(check("o3", "2025-06-10", 1_000_000), "10");
    assert_eq!(check("claude-opus-4-6", "2026-03-01", 300_000), "40.5");
    assert_eq!(check("claude-opus-4-6", "2026-03-13", 300_000), "26.5");
    assert_eq!(check("gemini-2.5-pro", "2025-08-01", 200_000), "10.25");
    assert_eq!(check("gemini-2.5-pro", "2025-08-01", 200_001), "15.5000025");
}

#[test]
fn what_is_wrong_in_a_table_is_named_by_its_place() {
    let error = |json: &str| {
        let error = Prices::parse(json).unwrap_err();
        let cause = std::error::Error::source(&error);
        cause.map_or(String::new(), |cause| format!("{cause}; ")) + &error.to_string()
    };
    let form = "the price table does not have the expected structure";
    assert_eq!(error("{"), format!("EOF while parsing an object at line 1 column 1; {form}"));
    assert_eq!(
        error(r#"{"source":1}"#),
        format!("invalid type: integer `1`, expected a string at line 1 column 11; {form}")
    );
    assert_eq!(
        error(&table("").replace("USD", "EUR")),
        "price table, currency: only `USD` is supported"
    );
    assert_eq!(
        error(&table("").replace("2026-01-01", "2026-02-30")),
        "price table, date: not a date of the form YYYY-MM-DD"
    );
    let model = |prices: &str| error(&table(&format!(r#"{{"model":"m","prices":[{prices}]}}"#)));
    let ok = r#"{"input":1,"output":2}"#;
    for (prices, expected) in [
        ("", "models[0].prices: the model has no prices"),
        (r#"{"input":1}"#, "models[0].prices[0].output: the price is missing"),
        (
            r#"{"input":1,"output":-2}"#,
            "models[0].prices[0].output: not a number of dollars with at most six decimals",
        ),
        (
            r#"{"input":0.0000001,"output":2}"#,
            "models[0].prices[0].input: not a number of dollars with at most six decimals",
        ),
        (
            r#"{"input":1e3,"output":2}"#,
            "models[0].prices[0].input: not a number of dollars with at most six decimals",
        ),
        (
            r#"{"input":"1","output":2}"#,
            "models[0].prices[0].input: not a number of dollars with at most six decimals",
        ),
        (
            r#"{"input":1,"output":2,"cache_wrte":3}"#,
            "models[0].prices[0].cache_wrte: unknown field",
        ),
        (
            &format!(r#"{ok},{{"from":"today","input":1,"output":2}}"#),
            "models[0].prices[1].from: not a date of the form YYYY-MM-DD",
        ),
        (&format!("{ok},{ok}"), "models[0].prices[1].from: prices must be in the order of `from`"),
        (
            r#"{"from":"2026-01-02","until":"2026-01-01","input":1,"output":2}"#,
            "models[0].prices[0].until: the period ends before it begins",
        ),
        (
            r#"{"input":1,"output":2,"above":[{"input":3}]}"#,
            "models[0].prices[0].above[0].input_tokens: not a number of tokens above the previous one",
        ),
        (r#"{"input":1,"output":2,"above":3}"#, "models[0].prices[0].above: not a list of steps"),
    ] {
        assert_eq!(model(prices), format!("price table, {expected}"));
    }
    let twice = table(&format!(
        r#"{{"model":"m","prices":[{ok}]}},{{"model":"n","aliases":["x","M"],"prices":[{ok}]}}"#
    ));
    assert_eq!(
        error(&twice),
        "price table, models[1].aliases[1]: the name is already in the table"
    );
}
