//! Hooks: what the system asked an agent, what it answered, and what that stopped.

use std::collections::BTreeSet;

use antiphon_model::{
    BodyError, CallIx, Entry, EntryKind, EventIx, LinkKind, MessageRef, Role, Source,
};
use serde::Serialize;

use crate::Reading;
use crate::causality::rule_of;

/// One intervention: a notice, and as much of what followed as the log shows.
#[derive(Debug, Default, Serialize)]
pub struct HookEpisode {
    /// The agent that was asked.
    pub hook: Option<String>,
    pub hook_name: Option<String>,
    pub notice: Option<String>,
    pub notice_text: Option<String>,
    pub verdict: Option<String>,
    pub verdict_text: Option<String>,
    /// The call in question.
    pub call_id: Option<String>,
    pub tool_name: Option<String>,
    pub call_text: Option<String>,
    pub caller: Option<String>,
    pub caller_name: Option<String>,
    pub result: Option<String>,
    pub result_text: Option<String>,
    /// Whether the result says that the call was stopped.
    pub blocked: bool,
    /// `inferred` where the notice does not name the call.
    pub basis: Option<&'static str>,
    pub rule: Option<&'static str>,
}

/// All interventions, in the order of the log.
pub fn hooks(reading: &Reading<'_>) -> Result<Vec<HookEpisode>, BodyError> {
    let session = reading.session;
    let links = session.links(reading.bodies)?;
    let mut episodes = Vec::new();
    let mut explained: BTreeSet<EventIx> = BTreeSet::new();
    for entry in session.entries() {
        if is_notice(reading, entry)? {
            let link = reading.links_to(&links, entry).find(|link| link.kind == LinkKind::Notice);
            let about = match link.map(|link| link.from) {
                Some(MessageRef::Event(from)) => open_call(session.entry(from), entry.ix()),
                Some(MessageRef::Dangling(_)) | None => None,
            };
            let mut episode = asked(reading, entry)?;
            if let Some(call) = about {
                explained.extend(fill_call(reading, &mut episode, call)?);
                episode.basis = Some("inferred");
                episode.rule = link.and_then(|link| rule_of(link.basis));
            }
            episodes.push((entry.ix(), episode));
        }
        // A result may say that a hook stopped it, where no notice was logged.
        if let Some(call) = blocked_call(reading, entry)?
            && !explained.contains(&entry.ix())
        {
            let mut episode = HookEpisode::default();
            fill_call(reading, &mut episode, call)?;
            episodes.push((entry.ix(), episode));
        }
    }
    episodes.sort_by_key(|(at, _)| *at);
    Ok(episodes.into_iter().map(|(_, episode)| episode).collect())
}

/// A user message from the system; in one dialect it is only marked in its text.
fn is_notice(reading: &Reading<'_>, entry: Entry<'_>) -> Result<bool, BodyError> {
    if entry.kind() != EntryKind::Message(Role::User) {
        return Ok(false);
    }
    Ok(match entry.source() {
        Source::System => true,
        Source::Own => reading.text(entry)?.trim_start().starts_with("<system>"),
        Source::Agent(_) | Source::External => false,
    })
}

/// The call of `maker` that was open when the notice came.
fn open_call(maker: Entry<'_>, notice: EventIx) -> Option<CallIx> {
    let mut calls = maker.calls();
    calls.find(|(_, call)| call.first_result().is_none_or(|r| r > notice)).map(|(ix, _)| ix)
}

fn asked(reading: &Reading<'_>, notice: Entry<'_>) -> Result<HookEpisode, BodyError> {
    let session = reading.session;
    let mut episode = HookEpisode {
        notice: Some(notice.id().to_owned()),
        notice_text: Some(reading.text(notice)?),
        ..HookEpisode::default()
    };
    let Some(hook) = notice.agent() else { return Ok(episode) };
    episode.hook = Some(session.agent_id(hook).to_owned());
    episode.hook_name = Some(session.agent_name(hook).to_owned());
    let mut later = session.agent(hook).transcript().filter(|&event| event > notice.ix());
    if let Some(verdict) = later.find(|&event| session.entry(event).is_utterance()) {
        let verdict = session.entry(verdict);
        episode.verdict = Some(verdict.id().to_owned());
        episode.verdict_text = Some(reading.text(verdict)?);
    }
    Ok(episode)
}

/// Adds the call and its result; returns the result.
fn fill_call(
    reading: &Reading<'_>,
    episode: &mut HookEpisode,
    ix: CallIx,
) -> Result<Option<EventIx>, BodyError> {
    let session = reading.session;
    let call = session.call(ix);
    episode.call_id = Some(session.call_id(ix).to_owned());
    episode.tool_name = Some(session.tool_name(ix).to_owned());
    episode.call_text = Some(reading.call_text(session.tool_name(ix), call)?);
    episode.caller = Some(session.agent_id(call.agent).to_owned());
    episode.caller_name = Some(session.agent_name(call.agent).to_owned());
    if let Some(result) = call.first_result() {
        let result = session.entry(result);
        episode.result = Some(result.id().to_owned());
        episode.result_text = Some(reading.text(result)?);
        episode.blocked = blocked_call(reading, result)?.is_some();
    }
    Ok(call.first_result())
}

/// The call whose result says that a hook stopped it.
fn blocked_call(reading: &Reading<'_>, entry: Entry<'_>) -> Result<Option<CallIx>, BodyError> {
    if entry.role() != Some(Role::Tool) {
        return Ok(None);
    }
    let text = reading.text(entry)?.to_lowercase();
    let says_so = text.contains("blocked by hook") || text.contains("blocked by a hook");
    Ok(entry.call().filter(|_| says_so || (entry.is_error() && text.contains("blocked"))))
}
