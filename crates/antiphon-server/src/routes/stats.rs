//! `antiphon stats --json`: tokens, cost and calls over many sessions.

use antiphon_catalog::SessionQuery;
use antiphon_journal::{Clock as _, SystemClock};
use antiphon_model::{TimeRange, Zone};
use antiphon_views::{CallGroup, CallStatsQuery, Group, StatsQuery};
use axum::response::Response;

use super::many::unlisted;
use super::sessions::{moment, project_query};
use crate::answer::json;
use crate::call::Call;
use crate::problem::Problem;

/// The sums that a grouping is one of.
#[derive(Debug, Clone, Copy)]
enum Grouping {
    Usage(Group),
    Calls(CallGroup),
}

const GROUPINGS: [(&str, Grouping); 13] = [
    ("model", Grouping::Usage(Group::Model)),
    ("agent", Grouping::Usage(Group::Agent)),
    ("sub-agent", Grouping::Usage(Group::SubAgent)),
    ("hour", Grouping::Usage(Group::Hour)),
    ("day", Grouping::Usage(Group::Day)),
    ("week", Grouping::Usage(Group::Week)),
    ("month", Grouping::Usage(Group::Month)),
    ("block", Grouping::Usage(Group::Block)),
    ("project", Grouping::Usage(Group::Project)),
    ("session", Grouping::Usage(Group::Session)),
    ("tool", Grouping::Calls(CallGroup::Tool)),
    ("command", Grouping::Calls(CallGroup::Command)),
    ("error", Grouping::Calls(CallGroup::Error)),
];

pub(crate) async fn stats(call: Call) -> Result<Response, Problem> {
    let mut query = call.query()?;
    let grouping = query.choice("by", &GROUPINGS)?.unwrap_or(Grouping::Usage(Group::Model));
    let lower = |text: Option<String>| text.map(|text| text.to_lowercase());
    let project = query.one("project")?;
    let wanted = SessionQuery {
        agent: lower(query.one("agent")?),
        project: project.as_deref().map(project_query),
        ..SessionQuery::default()
    };
    let model = lower(query.one("model")?);
    let (now, is_utc) = (SystemClock.now(), query.flag("utc")?);
    let zone = if is_utc { Zone::utc() } else { call.app.zone.clone() };
    let since = moment(&mut query, "since", now, &zone)?;
    let until = moment(&mut query, "until", now, &zone)?;
    query.finish()?;
    let range = TimeRange { since, until };
    match grouping {
        Grouping::Usage(group) => {
            let query = StatsQuery { group, zone, range, model, now };
            json(&call, move |app| {
                let prices = app.own_prices.then_some(&app.prices);
                let report = app.library.store()?.stats(&wanted, &query, prices, &|_, _| {});
                report.map_err(|error| unlisted(&error))
            })
            .await
        }
        Grouping::Calls(group) => {
            let query = CallStatsQuery { group, range, model };
            json(&call, move |app| {
                let report = app.library.store()?.call_stats(&wanted, &query, &|_, _| {});
                report.map_err(|error| unlisted(&error))
            })
            .await
        }
    }
}
