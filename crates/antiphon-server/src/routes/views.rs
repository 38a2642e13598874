//! `GET /api/sessions/{id}/views/{view}`: what `antiphon view VIEW --json` prints.

use std::io::Write;

use antiphon_library::cost_ledger;
use antiphon_model::{Agent, AgentIx, BodyError, EventIx};
use antiphon_views::{
    AgentNotFound, CallStatus, DialogFilter, PerspectiveOptions, Reading, TimelineFilter,
    TimelineKind, calls, causality, context, context_links, cost, delivery, dialog, flow, hooks,
    perspective, phases_of, phases_of_all, span_tree, spans, timeline, trace, trace_forward,
    transcript, tree,
};
use axum::response::Response;
use serde::Serialize;

use crate::answer::{Stopped, json_rows, written};
use crate::app::App;
use crate::call::Call;
use crate::library::Located;
use crate::opened::Folded;
use crate::problem::Problem;
use crate::query::Query;
use crate::redacted::Redacting;

/// What a view is asked for.
type View = fn(&mut Asked<'_>) -> Result<(), Stopped>;

/// The views by their names.
pub(crate) const VIEWS: [(&str, View); 16] = [
    ("tree", |it| it.plain(|it| Ok(tree(it.folded.session(), &it.folded.id())))),
    ("transcript", transcript_of_agent),
    ("dialog", dialog_of_session),
    ("perspective", perspective_of_agent),
    ("context", context_of_agent),
    ("causality", |it| it.plain(|it| causality(&it.reading()).map_err(unread))),
    ("trace", trace_of_message),
    ("delivery", delivery_of_message),
    ("hooks", |it| it.plain(|it| hooks(&it.reading()).map_err(unread))),
    ("flow", |it| it.plain(|it| flow(&it.reading()).map_err(unread))),
    ("timeline", timeline_of_session),
    ("calls", calls_of_session),
    ("phases", phases_of_session),
    ("context-links", |it| it.plain(|it| context_links(&it.reading()).map_err(unread))),
    ("spans", spans_of_session),
    ("cost", cost_of_session),
];

/// A view that is asked for: of what, with what parameters, and where it goes.
pub(crate) struct Asked<'a> {
    app: &'a App,
    at: &'a Located,
    folded: &'a Folded,
    query: Query,
    out: &'a mut dyn Write,
    redacting: Redacting<'a>,
}

pub(crate) async fn view(call: Call) -> Result<Response, Problem> {
    let (id, name) = (call.param("id").to_owned(), call.param("view").to_owned());
    let (query, is_far) = (call.query()?, call.is_far());
    let found = VIEWS.iter().find(|(known, _)| *known == name).map(|(_, view)| *view);
    let view = found.ok_or_else(|| Problem::not_found("there is no such view"))?;
    written(&call.app, &call.headers, "application/json", move |app, out| {
        let at = &app.library.find(&id)?;
        let redacting = Redacting::new(app, is_far);
        app.sessions.with(at, is_far, |folded| {
            view(&mut Asked { app, at, folded, query, out, redacting })
        })?
    })
    .await
}

impl<'a> Asked<'a> {
    fn reading(&self) -> Reading<'a> {
        self.folded.reading()
    }

    /// Refuses parameters that nobody has taken.
    fn finish(&mut self) -> Result<(), Problem> {
        std::mem::take(&mut self.query).finish()
    }

    fn write<T: Serialize>(&mut self, document: &T) -> Result<(), Stopped> {
        self.redacting.write(self.out, document)
    }

    /// For a view without parameters.
    fn plain<T: Serialize>(
        &mut self,
        make: impl FnOnce(&Self) -> Result<T, Problem>,
    ) -> Result<(), Stopped> {
        self.finish()?;
        let document = make(self)?;
        self.write(&document)
    }

    fn agent(&self, wanted: &str) -> Result<AgentIx, Problem> {
        self.reading().agent(wanted).map_err(|error| match error {
            AgentNotFound::Unknown { .. } => Problem::not_found("there is no such agent"),
            AgentNotFound::Ambiguous { ids } => {
                Problem::bad_request(format!("{} agents have that name", ids.len()))
            }
        })
    }

    /// The agent that is named; without a name the one that made all the others.
    fn agent_or_root(&mut self) -> Result<AgentIx, Problem> {
        if let Some(wanted) = self.query.one("agent")? {
            return self.agent(&wanted);
        }
        let is_root = |(_, agent): &(AgentIx, &Agent)| agent.parent.agent().is_none();
        let mut roots = self.folded.session().agents().filter(is_root);
        match (roots.next(), roots.next()) {
            (Some((root, _)), None) => Ok(root),
            _ => Err(Problem::bad_request("choose an agent with `agent`")),
        }
    }

    fn event(&self, message_id: &str) -> Result<EventIx, Problem> {
        let found = self.folded.session().find(message_id).map(|entry| entry.ix());
        found.ok_or_else(|| Problem::not_found("there is no such message"))
    }

    /// The event that a parameter names.
    fn event_at(&mut self, name: &str) -> Result<Option<EventIx>, Problem> {
        let id = self.query.one(name)?;
        id.map(|id| self.event(&id)).transpose()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
pub(crate) fn unread(error: BodyError) -> Problem {
    Problem::failed("the session cannot be read", &error)
}

fn transcript_of_agent(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let agent = asked.agent_or_root()?;
    asked.finish()?;
    let entries = transcript(&asked.reading(), agent).map_err(unread)?;
    let lines: Vec<_> = entries.iter().map(|(_, line)| line).collect();
    asked.write(&lines)
}

fn dialog_of_session(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let names = asked.query.all("agent");
    let speakers = names.iter().map(|name| asked.agent(name)).collect::<Result<_, _>>()?;
    let heard_by = asked.query.one("heard_by")?;
    let heard_by = heard_by.map(|name| asked.agent(&name)).transpose()?;
    asked.plain(|it| dialog(&it.reading(), &DialogFilter { speakers, heard_by }).map_err(unread))
}

fn perspective_of_agent(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let agent = asked.agent_or_root()?;
    let (at, inner) = (asked.event_at("at")?, asked.query.flag("inner")?);
    let options = PerspectiveOptions { agent, at, inner };
    asked.plain(|it| perspective(&it.reading(), &options).map_err(unread))
}

fn context_of_agent(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let agent = asked.agent_or_root()?;
    let at = asked.event_at("at")?;
    asked.plain(|it| context(&it.reading(), agent, at).map_err(unread))
}

fn trace_of_message(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let message = asked.event_at("message")?;
    let message = message.ok_or_else(|| Problem::bad_request("`message` is missing"))?;
    let forward = asked.query.flag("forward")?;
    asked.plain(|it| {
        let steps = match forward {
            true => trace_forward(&it.reading(), message),
            false => trace(&it.reading(), message),
        };
        steps.map_err(unread)
    })
}

fn delivery_of_message(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let message = asked.query.one("message")?;
    asked.plain(|it| {
        let rows = delivery(&it.reading(), message.as_deref()).map_err(unread)?;
        match message.is_some() && rows.is_empty() {
            true => Err(Problem::not_found("the message was not delivered to any agent")),
            false => Ok(rows),
        }
    })
}

fn timeline_of_session(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let names = asked.query.all("agent");
    let agents = names.iter().map(|name| asked.agent(name)).collect::<Result<_, _>>()?;
    let roles = asked.query.all("role");
    if let Some(other) = roles.iter().find(|it| !ROLES.contains(&it.as_str())) {
        let what = format!("`{}` is not a role", other.escape_debug());
        return Err(Problem::bad_request(what).into());
    }
    let sources = asked.query.all("source").into_iter().map(|source| match source.as_str() {
        "external" | "system" => Ok(source),
        agent => asked.agent(agent).map(|it| asked.folded.session().agent_id(it).to_owned()),
    });
    let sources = sources.collect::<Result<_, _>>()?;
    let kinds = asked.query.all("kind").into_iter().map(|word| {
        TimelineKind::from_word(&word).ok_or_else(|| Problem::bad_request("an unknown kind"))
    });
    let kinds = kinds.collect::<Result<_, _>>()?;
    let tools = asked.query.all("tool");
    asked.finish()?;
    let filter = TimelineFilter { agents, roles, sources, kinds, tools };
    let rows = timeline(asked.reading(), &filter);
    json_rows(asked.out, &asked.redacting, rows)
}

const ROLES: [&str; 4] = ["user", "assistant", "tool", "system"];

fn calls_of_session(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let (failed, tool) = (asked.query.flag("failed")?, asked.query.one("tool")?);
    asked.plain(|it| {
        let mut rows = calls(&it.reading()).map_err(unread)?;
        rows.retain(|row| !failed || row.status == CallStatus::Failed);
        rows.retain(|row| tool.as_ref().is_none_or(|tool| row.tool_name == *tool));
        Ok(rows)
    })
}

fn phases_of_session(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let (agent, all) = (asked.query.one("agent")?, asked.query.flag("all")?);
    if all && agent.is_some() {
        return Err(Problem::bad_request("`all` and `agent` exclude each other").into());
    }
    let agent = agent.map(|name| asked.agent(&name)).transpose()?;
    asked.plain(|it| {
        let rows = match agent {
            Some(agent) => phases_of(&it.reading(), agent),
            None => phases_of_all(&it.reading()),
        };
        rows.map_err(unread)
    })
}

fn spans_of_session(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let is_tree = asked.query.flag("tree")?;
    asked.finish()?;
    let found = spans(&asked.reading(), &asked.folded.id(), &asked.app.prices).map_err(unread)?;
    match is_tree {
        true => asked.write(&span_tree(&found)),
        false => asked.write(&found),
    }
}

fn cost_of_session(asked: &mut Asked<'_>) -> Result<(), Stopped> {
    let is_ledger = asked.query.flag("ledger")?;
    asked.finish()?;
    let (folded, prices) = (asked.folded, &asked.app.prices);
    if is_ledger {
        let files = folded.streams(asked.at);
        let book = cost_ledger(folded.session(), &files, folded.duplicates(), prices);
        return asked.write(&book);
    }
    asked.write(&cost(folded.session(), &folded.id(), prices))
}
