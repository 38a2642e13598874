//! Which call provided context for which: links between the calls of a session.
//!
//! A result may record what it contributed to the context; it does not say to which call. That is
//! the next call that changes the same file, or else the agent's next call. Without such a record,
//! a file that was read and then changed is a link as well.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, BodyError, CallIx, Detail, json};
use serde::Serialize;

use crate::context_reference::uses;
use crate::{CallIndex, FactBasis, Reading};

/// A line from a call to one that used what it brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextLink {
    /// The id of the call that read or found something.
    pub from_call: String,
    /// The id of the call that used it.
    pub to_call: String,
    /// The id of the agent that made the first call.
    pub from_agent: String,
    /// The id of the agent that made the second call.
    pub to_agent: String,
    /// What was contributed: the recorded word, or `file_content`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The file, or else what was called.
    pub source: String,
    /// The contribution in words, as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// `recorded` where the contribution was, and the file that it is about leads to the other
    /// call. That a contribution went to the next call is nowhere recorded.
    pub basis: FactBasis,
    /// How the call was found that used it.
    pub rule: ContextRule,
}

/// How the call was found that used what another call had read or found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContextRule {
    /// It changes the file that the other call read.
    SameFile,
    /// The other call recorded a contribution, and it is the agent's next call.
    NextCall,
}

impl ContextRule {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameFile => "same-file",
            Self::NextCall => "next-call",
        }
    }
}

/// Every context link, in the order of the calls that they come from.
pub fn context_links(reading: &Reading<'_>) -> Result<Vec<ContextLink>, BodyError> {
    let session = reading.session;
    let row = |found: FoundLink| {
        let FoundLink { from, to, path, contribution, rule } = found;
        let source = match path {
            Some(path) => path,
            None => match uses(reading, from)?.into_iter().next() {
                Some((path, _)) => path,
                None => reading.call_text(session.tool_name(from), session.call(from))?,
            },
        };
        Ok(link(reading, from, to, source, contribution.as_ref(), rule))
    };
    found_links(reading)?.into_iter().map(row).collect()
}

/// The same as calls only.
pub(crate) fn context_calls(reading: &Reading<'_>) -> Result<Vec<(CallIx, CallIx)>, BodyError> {
    Ok(found_links(reading)?.into_iter().map(|found| (found.from, found.to)).collect())
}

/// A link before it is told in words.
struct FoundLink {
    from: CallIx,
    to: CallIx,
    /// The file that both calls are about.
    path: Option<String>,
    contribution: Option<Contribution>,
    rule: ContextRule,
}

fn found_links(reading: &Reading<'_>) -> Result<Vec<FoundLink>, BodyError> {
    let session = reading.session;
    let index = CallIndex::new(session);
    let mut files = same_file(reading)?.into_iter().peekable();
    let mut links = Vec::new();
    for (from, call) in session.calls() {
        let contribution = Contribution::of(reading, from)?;
        let before = links.len();
        while let Some((_, to, path)) = files.next_if(|(other, ..)| *other == from) {
            let (path, rule) = (Some(path), ContextRule::SameFile);
            links.push(FoundLink { from, to, path, contribution: contribution.clone(), rule });
        }
        if links.len() == before
            && contribution.is_some()
            && let Some(to) = next_call(reading, index.of_agent(call.agent), from)
        {
            let rule = ContextRule::NextCall;
            links.push(FoundLink { from, to, path: None, contribution, rule });
        }
    }
    Ok(links)
}

fn link(
    reading: &Reading<'_>,
    from: CallIx,
    to: CallIx,
    source: String,
    contribution: Option<&Contribution>,
    rule: ContextRule,
) -> ContextLink {
    let session = reading.session;
    let is_recorded = contribution.is_some() && rule == ContextRule::SameFile;
    let agent = |ix: CallIx| session.agent_id(session.call(ix).agent).to_owned();
    ContextLink {
        from_call: session.call_id(from).to_owned(),
        to_call: session.call_id(to).to_owned(),
        from_agent: agent(from),
        to_agent: agent(to),
        kind: contribution.map_or("file_content", |it| &it.kind).to_owned(),
        source,
        summary: contribution.and_then(|it| it.summary.clone()),
        basis: if is_recorded { FactBasis::Recorded } else { FactBasis::Inferred },
        rule,
    }
}

/// What a result records as its contribution to the context.
#[derive(Clone)]
struct Contribution {
    kind: String,
    summary: Option<String>,
}

impl Contribution {
    fn of(reading: &Reading<'_>, ix: CallIx) -> Result<Option<Self>, BodyError> {
        let session = reading.session;
        let places = session.results(ix).map(|event| session.entry(event));
        let mut places = places.filter_map(|entry| entry.detail(Detail::ContextContribution));
        let Some(place) = places.next() else { return Ok(None) };
        let raw = reading.bodies.read(place)?;
        let word = |name: &str| {
            json::member(&raw, name).and_then(json::text).map(|text| text.into_owned())
        };
        // Some record only a sentence.
        let bare = json::text(&raw).map(|text| text.into_owned());
        Ok(Some(Self {
            kind: word("type").unwrap_or_else(|| "knowledge".to_owned()),
            summary: word("summary").or(bare),
        }))
    }
}

/// The agent's next call after the result of this one had come.
fn next_call(reading: &Reading<'_>, own: &[CallIx], from: CallIx) -> Option<CallIx> {
    let session = reading.session;
    let back = session.call(from).first_result()?;
    let at = own.partition_point(|&ix| ix <= from || session.call(ix).event < back);
    own.get(at).copied()
}

/// Calls that read a file and calls that changed it later, with the file, in the order of the
/// former. If several read it, the last one counts, and the agent's own before another's.
fn same_file(reading: &Reading<'_>) -> Result<Vec<(CallIx, CallIx, String)>, BodyError> {
    let session = reading.session;
    let mut by_anybody: BTreeMap<String, CallIx> = BTreeMap::new();
    let mut by_agent: BTreeMap<(String, AgentIx), CallIx> = BTreeMap::new();
    let mut found: BTreeSet<(CallIx, CallIx, String)> = BTreeSet::new();
    for (ix, call) in session.calls() {
        for (path, modifies) in uses(reading, ix)? {
            let own = (path, call.agent);
            if !modifies {
                by_anybody.insert(own.0.clone(), ix);
                by_agent.insert(own, ix);
                continue;
            }
            let read = by_agent.get(&own).or_else(|| by_anybody.get(&own.0)).copied();
            if let Some(read) = read.filter(|&read| read != ix) {
                found.insert((read, ix, own.0));
            }
        }
    }
    Ok(found.into_iter().collect())
}

#[cfg(test)]
mod tests;
