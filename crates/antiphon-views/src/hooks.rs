//! Hooks: what the system asked an agent, what it answered, and what that stopped.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{
    AgentIx, BodyError, CallIx, Entry, EntryKind, EventIx, LinkKind, MessageRef, Role, Rule,
    Session, Source,
};
use serde::Serialize;

use crate::basis::rule_of;
use crate::delivery::Answers;
use crate::{FactBasis, Reading};

/// One intervention: a notice, and as much of what followed as the log shows.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookEpisode {
    /// The id of the agent that was asked.
    pub hook: Option<String>,
    /// The name of that agent.
    pub hook_name: Option<String>,
    /// The id of the message that asked it.
    pub notice: Option<String>,
    /// What it was asked.
    pub notice_text: Option<String>,
    /// The id of its answer.
    pub verdict: Option<String>,
    /// What it answered.
    pub verdict_text: Option<String>,
    /// The id of the call in question.
    pub call_id: Option<String>,
    /// The tool that was to be called.
    pub tool_name: Option<String>,
    /// The call, in words: the tool and its main arguments.
    pub call_text: Option<String>,
    /// The id of the agent that made the call, or said what was checked.
    pub caller: Option<String>,
    /// The name of that agent.
    pub caller_name: Option<String>,
    /// The id of the answer in question, if the hook checked what an agent said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utterance: Option<String>,
    /// That answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utterance_text: Option<String>,
    /// The id of the call's result, or of what the agent was told about its answer.
    pub result: Option<String>,
    /// The text of that message.
    pub result_text: Option<String>,
    /// Whether the call was blocked, or the answer rejected.
    pub blocked: bool,
    /// `inferred` if the notice does not name the call.
    pub basis: Option<FactBasis>,
    /// The rule by which the call was inferred.
    pub rule: Option<Rule>,
}

/// All interventions, in the order of the log.
pub fn hooks(reading: &Reading<'_>) -> Result<Vec<HookEpisode>, BodyError> {
    let session = reading.session;
    let links = session.links(reading.bodies)?;
    let mut episodes = Vec::new();
    let mut explained: BTreeSet<EventIx> = BTreeSet::new();
    // For each hook: until when it is at work, so that what it receives meanwhile asks nothing new.
    let mut busy: BTreeMap<AgentIx, Option<EventIx>> = BTreeMap::new();
    let answers = Answers::of(reading);
    let has_roles = session.agents().any(|(agent, _)| is_hook(session, agent));
    for entry in session.entries() {
        match system_message(reading, entry, has_roles)? {
            Some(SystemMessage::Asked) => {
                let Some(hook) = entry.agent() else { continue };
                let until = busy.get(&hook).filter(|_| is_hook(session, hook));
                if until.is_some_and(|until| until.is_none_or(|until| entry.ix() < until)) {
                    continue;
                }
                let link =
                    reading.links_to(&links, entry).find(|link| link.kind == LinkKind::Notice);
                let about = match link.map(|link| link.from) {
                    Some(MessageRef::Event(from)) => open_call(session.entry(from), entry.ix()),
                    Some(MessageRef::Dangling(_)) | None => None,
                };
                let verdict = answers.after(Some(hook), entry.ix());
                let mut episode = asked(reading, entry, hook, verdict)?;
                busy.insert(hook, verdict);
                if let Some(cause) = recorded_cause(session, entry) {
                    explained.extend(fill_recorded(reading, &mut episode, cause, entry, verdict)?);
                } else if let Some(call) = about {
                    explained.extend(fill_call(reading, &mut episode, call)?);
                    episode.basis = Some(FactBasis::Inferred);
                    episode.rule = link.and_then(|link| rule_of(link.basis));
                } else if is_hook(session, hook) {
                    let watched = session.agent(hook).parent.agent();
                    let said = watched.and_then(|it| answers.before(it, entry.ix()));
                    fill_review(reading, &mut episode, watched, said)?;
                    let next = verdict.and_then(|it| next_message(reading, watched?, it));
                    if let Some(next) = next
                        && rejects(reading, session.entry(next), verdict)?
                    {
                        fill_rejection(reading, &mut episode, session.entry(next))?;
                        explained.insert(next);
                    }
                }
                episodes.push(episode);
            }
            Some(SystemMessage::Rejected) if !explained.contains(&entry.ix()) => {
                let mut episode = HookEpisode::default();
                fill_rejection(reading, &mut episode, entry)?;
                episodes.push(episode);
            }
            Some(SystemMessage::Rejected) | None => {}
        }
        // A result may say that a hook stopped it, even if no notice was logged.
        if let Some(call) = blocked_call(reading, entry)?
            && !explained.contains(&entry.ix())
        {
            let mut episode = HookEpisode::default();
            fill_call(reading, &mut episode, call)?;
            episodes.push(episode);
        }
    }
    Ok(episodes)
}

/// Whether an agent was created to watch another.
fn is_hook(session: &Session, agent: AgentIx) -> bool {
    session.agent(agent).agent_type() == Some("hook")
}

/// Whether a text tells an agent something that no agent says.
fn is_told(text: &str) -> bool {
    text.trim_start().starts_with("<system>")
}

/// The meaning of a message from the system.
enum SystemMessage {
    /// It asks a hook.
    Asked,
    /// It reports a hook's objection to the answer of an agent.
    Rejected,
}

/// Classifies a message from the system. In one dialect a hook has a role: any message to it asks
/// it, and its objection reaches the watched agent as a message that is only marked in its text.
/// Without roles, the agent that the system asks is the hook.
fn system_message(
    reading: &Reading<'_>,
    entry: Entry<'_>,
    has_roles: bool,
) -> Result<Option<SystemMessage>, BodyError> {
    if entry.kind() != EntryKind::Message(Role::User) {
        return Ok(None);
    }
    if entry.agent().is_some_and(|agent| is_hook(reading.session, agent)) {
        return Ok(Some(SystemMessage::Asked));
    }
    Ok(match entry.source() {
        Source::System if !has_roles && !is_told(&reading.text(entry)?) => {
            Some(SystemMessage::Asked)
        }
        // A limit is nobody's verdict.
        Source::System if reading.text(entry)?.starts_with("<system>Limit reached") => None,
        Source::System => Some(SystemMessage::Rejected),
        Source::Own if is_told(&reading.text(entry)?) => Some(SystemMessage::Rejected),
        Source::Own | Source::Agent(_) | Source::External => None,
    })
}

/// The message that a notice says it is about.
fn recorded_cause<'s>(session: &'s Session, notice: Entry<'s>) -> Option<Entry<'s>> {
    notice.causes().find_map(|cause| match cause {
        MessageRef::Event(event) => Some(session.entry(event)),
        MessageRef::Dangling(_) => None,
    })
}

/// Adds what the notice itself says that it is about: a call that was open then, or an answer.
/// Returns what that explains.
fn fill_recorded(
    reading: &Reading<'_>,
    episode: &mut HookEpisode,
    cause: Entry<'_>,
    notice: Entry<'_>,
    verdict: Option<EventIx>,
) -> Result<Option<EventIx>, BodyError> {
    let session = reading.session;
    if let Some(call) = open_call(cause, notice.ix()) {
        let result = fill_call(reading, episode, call)?;
        episode.basis = Some(FactBasis::Recorded);
        return Ok(result);
    }
    let (watched, said) = (cause.agent(), Some(cause.ix()));
    fill_review(reading, episode, watched, said)?;
    episode.basis = Some(FactBasis::Recorded);
    episode.rule = None;
    let next = verdict.and_then(|verdict| next_message(reading, watched?, verdict));
    let names_verdict = |told: Entry<'_>| {
        told.causes().any(|cause| matches!(cause, MessageRef::Event(it) if Some(it) == verdict))
    };
    let told = next.map(|next| session.entry(next)).filter(|&told| names_verdict(told));
    if let Some(told) = told {
        episode.result = Some(told.id().to_owned());
        episode.result_text = Some(reading.text(told)?);
    }
    // A reminder is told as well, and rejects nothing; the last rejection is told to nobody.
    episode.blocked = episode.verdict_text.as_deref().is_some_and(|verdict| !passes(verdict));
    Ok(told.map(Entry::ix))
}

/// Whether a verdict lets words through. The first word decides.
fn passes(verdict: &str) -> bool {
    let word = verdict.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let word = word.unwrap_or_default().to_lowercase();
    matches!(word.as_str(), "accept" | "accepted" | "remind")
}

/// The call of `maker` that was open when the notice came.
fn open_call(maker: Entry<'_>, notice: EventIx) -> Option<CallIx> {
    let mut calls = maker.calls();
    calls.find(|(_, call)| call.first_result().is_none_or(|r| r > notice)).map(|(ix, _)| ix)
}

/// Reads a notice, and the answer to it.
fn asked(
    reading: &Reading<'_>,
    notice: Entry<'_>,
    hook: AgentIx,
    verdict: Option<EventIx>,
) -> Result<HookEpisode, BodyError> {
    let session = reading.session;
    let mut episode = HookEpisode {
        hook: Some(session.agent_id(hook).to_owned()),
        hook_name: Some(session.agent_name(hook).to_owned()),
        notice: Some(notice.id().to_owned()),
        notice_text: Some(reading.text(notice)?),
        ..HookEpisode::default()
    };
    if let Some(verdict) = verdict {
        let verdict = session.entry(verdict);
        episode.verdict = Some(verdict.id().to_owned());
        episode.verdict_text = Some(reading.text(verdict)?);
    }
    Ok(episode)
}

/// Adds the answer that a hook checked.
fn fill_review(
    reading: &Reading<'_>,
    episode: &mut HookEpisode,
    watched: Option<AgentIx>,
    said: Option<EventIx>,
) -> Result<(), BodyError> {
    let session = reading.session;
    episode.caller = watched.map(|agent| session.agent_id(agent).to_owned());
    episode.caller_name = watched.map(|agent| session.agent_name(agent).to_owned());
    if let Some(said) = said.map(|event| session.entry(event)) {
        episode.utterance = Some(said.id().to_owned());
        episode.utterance_text = Some(reading.text(said)?);
        episode.basis = Some(FactBasis::Inferred);
        episode.rule = Some(Rule::TranscriptOrder);
    }
    Ok(())
}

/// The next message in an agent's transcript after an event.
fn next_message(reading: &Reading<'_>, agent: AgentIx, after: EventIx) -> Option<EventIx> {
    let session = reading.session;
    let mut entries = session.entries_from(after.index() + 1);
    entries.find(|it| it.agent() == Some(agent) && it.role().is_some()).map(|it| it.ix())
}

/// Whether a message reports a hook's objection to the agent's answer.
fn rejects(
    reading: &Reading<'_>,
    next: Entry<'_>,
    verdict: Option<EventIx>,
) -> Result<bool, BodyError> {
    if next.role() != Some(Role::User) {
        return Ok(false);
    }
    match next.utterance_ref() {
        // It names the words that it repeats: these, or another hook's.
        Some(MessageRef::Event(said)) => Ok(Some(said) == verdict),
        Some(MessageRef::Dangling(_)) | None => Ok(is_told(&reading.text(next)?)),
    }
}

/// Adds a hook's objection to the answer of an agent.
fn fill_rejection(
    reading: &Reading<'_>,
    episode: &mut HookEpisode,
    objection: Entry<'_>,
) -> Result<(), BodyError> {
    let session = reading.session;
    let Some(watched) = objection.agent() else { return Ok(()) };
    episode.caller = Some(session.agent_id(watched).to_owned());
    episode.caller_name = Some(session.agent_name(watched).to_owned());
    episode.result = Some(objection.id().to_owned());
    episode.result_text = Some(reading.text(objection)?);
    episode.blocked = true;
    Ok(())
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

#[cfg(test)]
mod tests;
