//! `antiphon statusline`: one line about a running session, for an agent's status line.
//!
//! The agent runs it all the time and shows whatever comes: it never fails, never waits, and writes
//! nothing to the store.

use std::io::Read as _;

use antiphon_journal::{Clock as _, SystemClock};
use antiphon_library::{Environment, Store, UsageNow};
use antiphon_views::{Totals, Usd};
use clap::Args;
use serde_json::Value;

use crate::failure::Outcome;
use crate::range::local_zone;
use crate::terminal::{Page, clip, duration, escape_line};

#[derive(Debug, Args)]
#[command(after_help = "\
It reads the JSON that Claude Code passes to a status line on stdin, and prints one line. In
Claude Code's settings.json:
  \"statusLine\": { \"type\": \"command\", \"command\": \"antiphon statusline\" }

Today and the five-hour block are those of the kept sessions; `antiphon install claude-code` keeps
them up to date.")]
pub(crate) struct StatuslineArgs {}

/// More input than this is not a status.
const INPUT_MAX: u64 = 1 << 20;

/// The widest name of a model that is shown.
const NAME_WIDTH: usize = 40;

pub(crate) fn run(_: &StatuslineArgs) -> anyhow::Result<Outcome> {
    let mut input = Vec::new();
    // Whatever could be read is enough.
    let _ = std::io::stdin().take(INPUT_MAX).read_to_end(&mut input);
    let given: Value = serde_json::from_slice(&input).unwrap_or_default();
    let session = given.get("session_id").and_then(Value::as_str).unwrap_or_default();
    let store = Store::open_default(&Environment::of_process()).ok();
    let used = store.and_then(|it| it.usage_now(SystemClock.now(), &local_zone(), session));
    let line = line(&given, used.as_ref());
    if !line.is_empty() {
        let mut page = Page::live();
        page.plain(&line).end()?;
        page.finish()?;
    }
    Ok(Outcome::Done)
}

/// What is known, in one line; empty if nothing is.
fn line(given: &Value, used: Option<&UsageNow>) -> String {
    let text = |path: &str| given.pointer(path).and_then(Value::as_str);
    let number = |path: &str| given.pointer(path).and_then(Value::as_f64);
    let mut parts = Vec::new();
    if let Some(model) = text("/model/display_name").or_else(|| text("/model/id")) {
        parts.push(clip(&escape_line(model), NAME_WIDTH));
    }
    let stated = number("/cost/total_cost_usd").and_then(Usd::from_f64);
    let kept = used.map(|used| used.session).filter(|session| session.requests > 0);
    if let Some(cost) = stated.or_else(|| kept.and_then(|session| session.cost())) {
        parts.push(format!("${cost:.2}"));
    }
    if let Some(used) = used {
        // What the session has spent since it was last kept was spent just now.
        let known = used.session.known();
        let since = stated.map_or(Usd::ZERO, |stated| stated.saturating_sub(known));
        if let Some(today) = sum(&used.today, since) {
            parts.push(format!("today {today}"));
        }
        if let Some((block, left)) = &used.block {
            let cost = sum(block, since).map(|cost| format!("{cost}, ")).unwrap_or_default();
            parts.push(format!("block {cost}{} left", duration(*left)));
        }
    }
    let percent = number("/context_window/used_percentage").filter(|it| (0.0..=100.0).contains(it));
    if let Some(percent) = percent {
        parts.push(format!("context {percent:.0} %"));
    } else if given.pointer("/exceeds_200k_tokens").and_then(Value::as_bool) == Some(true) {
        parts.push("context over 200 k".to_owned());
    }
    parts.join(" · ")
}

/// A sum of money with what came since; nothing, if there is none.
fn sum(totals: &Totals, since: Usd) -> Option<String> {
    let cost: Usd = [totals.known(), since].into_iter().sum();
    let sign = if totals.unpriced > 0 { "≥ " } else { "" };
    (cost > Usd::ZERO || totals.requests > 0).then(|| format!("{sign}${cost:.2}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_known_is_said_in_one_line() {
        let given = json!({
            "model": { "display_name": "Sonnet 4.5" }, "cost": { "total_cost_usd": 1.25 },
            "context_window": { "used_percentage": 42.4 },
        });
        assert_eq!(line(&given, None), "Sonnet 4.5 · $1.25 · context 42 %");
        let dollars = |amount: f64| Totals {
            requests: 1,
            priced: Usd::from_f64(amount).unwrap(),
            ..Totals::default()
        };
        let used = UsageNow {
            today: dollars(3.0),
            block: Some((dollars(2.0), 7_500_000)),
            session: dollars(1.0),
        };
        assert_eq!(
            line(&given, Some(&used)),
            "Sonnet 4.5 · $1.25 · today $3.25 · block $2.25, 2 h 05 min left · context 42 %"
        );
        assert_eq!(
            line(&json!({}), Some(&used)),
            "$1.00 · today $3.00 · block $2.00, 2 h 05 min left"
        );
    }

    #[test]
    fn junk_says_nothing_and_a_hostile_name_stays_one_line() {
        for junk in
            [json!(null), json!(7), json!([]), json!({"model": 7, "cost": {"total_cost_usd": "x"}})]
        {
            assert_eq!(line(&junk, None), "");
        }
        let hostile = json!({ "model": { "display_name": "a\n\u{1b}[31m" }, "cost": { "total_cost_usd": -1 } });
        let line = line(&hostile, None);
        assert!(!line.contains('\n') && !line.contains('\u{1b}'), "{line:?}");
    }
}
