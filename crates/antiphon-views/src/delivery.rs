//! Where an utterance went: to whom, in what form, and whether it was answered.

mod joined;

use std::collections::BTreeMap;

use antiphon_model::{
    AgentIx, BodyError, EntryKind, EventIx, Link, LinkKind, MessageRef, Role, Rule, Timestamp,
};
use serde::Serialize;

use self::joined::Joined;
use crate::basis::rule_of;
use crate::{FactBasis, Reading};

/// One arrival of an utterance; or, without `message_id` and `to`, that it never arrived.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delivery {
    /// The id of the message that was said.
    pub utterance: String,
    /// The id of the agent that said it, if the log contains the message.
    pub from: Option<String>,
    /// The id of the message with which it arrived.
    pub message_id: Option<String>,
    /// The id of the agent that received it.
    pub to: Option<String>,
    /// How the words that arrived compare with those that were said.
    pub form: DeliveryForm,
    /// Whether the delivery is recorded or inferred; null if there was none.
    pub basis: Option<FactBasis>,
    /// The rule by which it was inferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// When it arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The time from when it was said to when it arrived, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<i64>,
    /// The id of the recipient's next utterance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
}

/// How the words that arrived compare with those that were said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DeliveryForm {
    /// Word for word.
    Verbatim,
    /// With something before them, as in `[Jack]: Hello`.
    Prefixed,
    /// Word for word within a longer text.
    Included,
    /// In other words.
    Changed,
    /// The log does not contain what was said.
    Unknown,
    /// Nobody received it.
    Undelivered,
}

/// Every delivery of `message`, or of all utterances, including those that were not delivered.
pub fn delivery(reading: &Reading<'_>, message: Option<&str>) -> Result<Vec<Delivery>, BodyError> {
    let links = reading.session.links(reading.bodies)?;
    let arrivals = arrivals(reading, &links);
    let answers = Answers::of(reading);
    let mut joined = Joined::of(&arrivals);
    let mut rows = Vec::new();
    for (said, links) in &arrivals {
        if message.is_none_or(|wanted| reading.id_of(said.reference()) == wanted) {
            let words = match said {
                Said::Event(event) => reading.text(reading.session.entry(*event))?,
                Said::Dangling(_) => String::new(),
            };
            for link in links {
                let form = match said {
                    Said::Event(_) => joined.form(reading, &words, link.to)?,
                    Said::Dangling(_) => DeliveryForm::Unknown,
                };
                rows.push(row(reading, &answers, said.reference(), link, form));
            }
        }
    }
    if message.is_none() {
        let utterances = reading.session.entries().filter(|entry| entry.is_utterance());
        for entry in utterances {
            if !arrivals.contains_key(&Said::Event(entry.ix())) {
                rows.push(undelivered(reading, entry.ix()));
            }
        }
        let position = |row: &Delivery| reading.session.find(&row.utterance).map(|e| e.ix());
        rows.sort_by_cached_key(position);
    }
    Ok(rows)
}

/// An utterance, in the order of the log; those that the log does not contain come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Said<'s> {
    Event(EventIx),
    Dangling(&'s str),
}

impl<'s> Said<'s> {
    pub(crate) fn of(reference: MessageRef<'s>) -> Self {
        match reference {
            MessageRef::Event(event) => Self::Event(event),
            MessageRef::Dangling(id) => Self::Dangling(id),
        }
    }

    fn reference(self) -> MessageRef<'s> {
        match self {
            Self::Event(event) => MessageRef::Event(event),
            Self::Dangling(id) => MessageRef::Dangling(id),
        }
    }
}

/// For each utterance: the links to where it arrived, each arrival once.
pub(crate) fn arrivals<'s>(
    reading: &Reading<'s>,
    links: &[Link<'s>],
) -> BTreeMap<Said<'s>, Vec<Link<'s>>> {
    let mut arrivals: BTreeMap<Said<'s>, Vec<Link<'s>>> = BTreeMap::new();
    for link in links.iter().filter(|link| is_arrival(reading, link)) {
        let known = arrivals.entry(Said::of(link.from)).or_default();
        // Links come in the order of their targets.
        if known.last().is_none_or(|other| other.to != link.to) {
            known.push(*link);
        }
    }
    arrivals
}

/// Whether a link is a delivery, or a result that names the utterances it consists of.
fn is_arrival(reading: &Reading<'_>, link: &Link<'_>) -> bool {
    let to = reading.session.entry(link.to);
    match (link.kind, link.from) {
        (LinkKind::Delivery, _) => true,
        (LinkKind::Cause, MessageRef::Event(from)) => {
            let from = reading.session.entry(from);
            from.is_utterance()
                && from.agent() != to.agent()
                && matches!(to.kind(), EntryKind::Message(Role::Tool | Role::User))
        }
        _ => false,
    }
}

fn row(
    reading: &Reading<'_>,
    answers: &Answers,
    said: MessageRef<'_>,
    link: &Link<'_>,
    form: DeliveryForm,
) -> Delivery {
    let session = reading.session;
    let to = session.entry(link.to);
    let (from, after_ms) = match said {
        MessageRef::Dangling(_) => (None, None),
        MessageRef::Event(event) => {
            let original = session.entry(event);
            let after = to.at().zip(original.at()).map(|(to, from)| to.since(from));
            (reading.agent_id_of(event), after)
        }
    };
    Delivery {
        utterance: match said {
            MessageRef::Event(event) => session.entry(event).id().to_owned(),
            MessageRef::Dangling(id) => id.to_owned(),
        },
        from: from.map(Into::into),
        message_id: Some(to.id().to_owned()),
        to: reading.agent_id_of(link.to).map(Into::into),
        form,
        basis: Some(link.basis.into()),
        rule: rule_of(link.basis),
        at: to.at(),
        after_ms,
        answered_by: answers
            .after(to.agent(), link.to)
            .map(|answer| session.entry(answer).id().to_owned()),
    }
}

fn undelivered(reading: &Reading<'_>, said: EventIx) -> Delivery {
    Delivery {
        utterance: reading.session.entry(said).id().to_owned(),
        from: reading.agent_id_of(said).map(Into::into),
        message_id: None,
        to: None,
        form: DeliveryForm::Undelivered,
        basis: None,
        rule: None,
        at: None,
        after_ms: None,
        answered_by: None,
    }
}

/// For each agent: its utterances, in order.
pub(crate) struct Answers(Vec<Vec<EventIx>>);

impl Answers {
    pub(crate) fn of(reading: &Reading<'_>) -> Self {
        let session = reading.session;
        let mut said = vec![Vec::new(); session.agents().len()];
        for entry in session.entries().filter(|entry| entry.is_utterance()) {
            if let Some(own) = entry.agent().and_then(|agent| said.get_mut(agent.index())) {
                own.push(entry.ix());
            }
        }
        Self(said)
    }

    /// The next utterance of `agent` after `event`.
    pub(crate) fn after(&self, agent: Option<AgentIx>, event: EventIx) -> Option<EventIx> {
        let said = self.0.get(agent?.index())?;
        said.get(said.partition_point(|&other| other <= event)).copied()
    }

    /// The last utterance of `agent` before `event`.
    pub(crate) fn before(&self, agent: AgentIx, event: EventIx) -> Option<EventIx> {
        let said = self.0.get(agent.index())?;
        let at = said.partition_point(|&other| other < event).checked_sub(1)?;
        said.get(at).copied()
    }
}
