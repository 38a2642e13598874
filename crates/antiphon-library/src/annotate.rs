//! Adding annotations to a session: what somebody thinks that calls were for.
//!
//! Nothing of the session is changed: an annotation is an event that refers to calls. It is written
//! while the log that receives it is locked, so that the calls and its number are right.

use antiphon_journal::{Clock as _, Draft, DraftError, SystemClock, Writer};
use antiphon_model::json::{Json, Members};
use antiphon_model::{AgentIx, Annotation, BodyError, CallIx, Event, Reading};
use antiphon_views::{CallIndex, CallNotFound, main_agent, phases};
use thiserror::Error;

/// A phase or a note, as somebody gives it.
#[derive(Debug, Clone, Default)]
pub struct NewAnnotation<'a> {
    pub phase_type: Option<&'a str>,
    pub note: Option<&'a str>,
    /// The first call that it refers to, and the last one if there are several.
    pub from: Option<&'a str>,
    pub to: Option<&'a str>,
    /// The agent whose calls these are.
    pub agent: Option<AgentIx>,
    pub by: &'a str,
    /// How certain a phase is.
    pub confidence: Option<&'a str>,
    pub description: Option<&'a str>,
}

#[derive(Debug, Error)]
pub enum AnnotateError {
    #[error("there is no call `{id}`")]
    NoCall { id: String, near: Vec<String> },
    #[error("several agents made a call `{id}`")]
    SeveralCalls { id: String, agents: Vec<String> },
    #[error("the call `{end}` comes before `{start}`")]
    Order { start: String, end: String },
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Draft(#[from] DraftError),
    #[error(transparent)]
    Log(#[from] antiphon_journal::Error),
}

/// An annotation, and the agent whose calls it is about.
#[derive(Debug)]
pub struct About {
    pub agent: Option<String>,
    pub annotation: Json,
}

/// The annotation that somebody gives, under a number.
pub fn annotation(
    reading: &Reading<'_>,
    new: &NewAnnotation<'_>,
    number: u64,
) -> Result<About, AnnotateError> {
    let session = reading.session;
    let index = CallIndex::new(session);
    let mut agent = new.agent;
    let mut fields = AnnotationFields::new(number);
    fields.0.text("phase_type", new.phase_type);
    if let Some(start) = new.from {
        let end = new.to.unwrap_or(start);
        let from = find(&index, start, agent, None)?;
        let to = find(&index, end, agent, Some(from))?;
        if to < from {
            return Err(AnnotateError::Order { start: start.to_owned(), end: end.to_owned() });
        }
        fields.range(start, end);
        // Another agent's calls may have the same ids.
        agent = agent.or_else(|| sub_agent(reading, from, to));
    }
    fields.signed(new.by, new.confidence);
    fields.0.text("description", new.description);
    fields.0.text("note", new.note);
    Ok(fields.about(agent.map(|agent| session.agent_id(agent))))
}

/// Appends annotations, the first under `number`; their ids. `is_apart`: the log has nothing but
/// annotations, whose ids must not collide with those of the session.
pub fn append_annotations(
    writer: Writer,
    annotations: Vec<About>,
    number: u64,
    is_apart: bool,
) -> Result<Vec<String>, AnnotateError> {
    let drafts = (number..).zip(annotations).map(|(number, about)| {
        let message_id = is_apart.then(|| format!("annotation:{number:03}").into());
        let annotation = Annotation::new(about.agent, &about.annotation);
        Draft::from_event(&Event { message_id, ..Event::new(annotation) })
    });
    let drafts = drafts.collect::<Result<Vec<_>, _>>()?;
    let acks = writer.append_batch(&drafts)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    writer.close()?;
    Ok(acks.into_iter().map(|ack| ack.message_id.to_string()).collect())
}

/// The number after the highest `ann-NNN`.
pub fn next_annotation(reading: &Reading<'_>) -> Result<u64, BodyError> {
    let rows = phases(reading)?;
    let ids = rows.iter().filter_map(|row| row.annotation_id.as_deref()?.strip_prefix("ann-"));
    let highest = ids.filter_map(|number| number.parse::<u32>().ok()).max();
    Ok(u64::from(highest.unwrap_or(0)) + 1)
}

/// The members of an annotation while it is written.
#[derive(Debug)]
pub struct AnnotationFields(pub Members);

impl AnnotationFields {
    pub fn new(number: u64) -> Self {
        let mut members = Members::default();
        members.word("annotation_id", &format!("ann-{number:03}"));
        Self(members)
    }

    pub fn range(&mut self, start: &str, end: &str) {
        let mut range = Members::default();
        range.word("start_call_id", start);
        range.word("end_call_id", end);
        self.0.raw("tool_call_range", &range.object());
    }

    pub fn signed(&mut self, by: &str, confidence: Option<&str>) {
        self.0.word("annotated_by", by);
        self.0.word("annotated_at", &SystemClock.now().to_string());
        self.0.text("confidence", confidence);
    }

    pub fn about(&self, agent: Option<&str>) -> About {
        About { agent: agent.map(str::to_owned), annotation: self.0.to_json() }
    }
}

/// The agent that made both calls, if it is not the main one.
fn sub_agent(reading: &Reading<'_>, from: CallIx, to: CallIx) -> Option<AgentIx> {
    let session = reading.session;
    let agent = session.call(from).agent;
    let is_one = agent == session.call(to).agent && main_agent(session) != Some(agent);
    is_one.then_some(agent)
}

fn find(
    index: &CallIndex<'_>,
    id: &str,
    agent: Option<AgentIx>,
    start: Option<CallIx>,
) -> Result<CallIx, AnnotateError> {
    index.find(id, agent, start).map_err(|error| match error {
        CallNotFound::Unknown => AnnotateError::NoCall { id: id.to_owned(), near: index.near(id) },
        CallNotFound::Ambiguous { agents } => {
            AnnotateError::SeveralCalls { id: id.to_owned(), agents }
        }
    })
}
