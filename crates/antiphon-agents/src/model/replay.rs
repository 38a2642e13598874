//! `replay:SESSION`: the answers of a recorded session, as long as it is the same session.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use antiphon_model::{AgentIx, BodyError, Reading};

use super::{Answering, Delta, Model, ModelError, Reply, Request, Tell};
use crate::past::entry_of;
use crate::transcript::Entry;

/// Agents that are deeper than this are known by the names of those nearest above them.
const DEPTH_MAX: usize = 256;

/// A recorded session that answers.
#[derive(Debug)]
pub struct Replay {
    /// By the names from the root down to the agent.
    agents: BTreeMap<Vec<String>, Recorded>,
    /// Who answers after the first difference.
    then: Option<(String, Rc<dyn Model>)>,
    has_differed: Cell<bool>,
}

#[derive(Debug, Default)]
struct Recorded {
    entries: Vec<Message>,
    /// How many entries were found to be the same: they are not compared again.
    same: RefCell<usize>,
}

#[derive(Debug)]
struct Message {
    id: String,
    entry: Entry,
    reply: Option<Reply>,
}

impl Replay {
    /// The recording of a session. `then` answers after the first difference.
    pub fn of(
        reading: &Reading<'_>,
        then: Option<(String, Rc<dyn Model>)>,
    ) -> Result<Self, BodyError> {
        let session = reading.session;
        let mut agents = BTreeMap::new();
        for (ix, agent) in session.agents() {
            let mut recorded = Recorded::default();
            for event in agent.transcript() {
                let event = session.entry(event);
                if event.role().is_none() {
                    continue;
                }
                let entry = entry_of(reading, event)?;
                let reply = match &entry {
                    Entry::Assistant(answer) => Some(Reply {
                        answer: (**answer).clone(),
                        model: None,
                        request_id: event.request_id().map(str::to_owned),
                        usage: event.usage(),
                        cost_usd: event.declared_cost_usd(),
                    }),
                    Entry::System(_) | Entry::User(_) | Entry::Result(_) => None,
                };
                recorded.entries.push(Message { id: event.id().to_owned(), entry, reply });
            }
            // Of two agents in one place the first counts.
            agents.entry(path_of(reading, ix)).or_insert(recorded);
        }
        Ok(Self { agents, then, has_differed: Cell::new(false) })
    }

    /// The recorded answer to this transcript; or where the two differ, in a sentence.
    fn recorded(&self, request: &Request<'_>) -> Result<Reply, String> {
        let Some(recorded) = self.agents.get(request.path) else {
            return Err(format!("the recording has no agent {}", request.agent));
        };
        let mut same = recorded.same.borrow_mut();
        // A transcript that has become shorter is another one.
        *same = (*same).min(request.transcript.len());
        let rest = request.transcript.iter().zip(&recorded.entries).skip(*same);
        for (now, then) in rest {
            if !now.says_the_same(&then.entry) {
                return Err(difference(request.agent, &then.id, &then.entry));
            }
            *same += 1;
        }
        let next = recorded.entries.get(request.transcript.len());
        match next {
            Some(Message { reply: Some(reply), .. }) => Ok(reply.clone()),
            Some(Message { id, entry, .. }) => Err(difference(request.agent, id, entry)),
            None => {
                let last = recorded.entries.last().map_or("none", |message| &message.id);
                let agent = request.agent;
                Err(format!("the recording has no answer of {agent} after message {last}"))
            }
        }
    }
}

/// The first difference: what the recording has where this session has something else.
fn difference(agent: &str, id: &str, entry: &Entry) -> String {
    let words = antiphon_views::clip(&entry.content().words(), 200);
    let role = entry.role().as_str();
    format!("the session differs from its recording at message {id} ({role}, {agent}): `{words}`")
}

fn path_of(reading: &Reading<'_>, agent: AgentIx) -> Vec<String> {
    let session = reading.session;
    let mut path = Vec::new();
    let mut at = agent;
    // A log may claim a circle, or a chain that would take quadratic time.
    for _ in 0..DEPTH_MAX {
        let Some(parent) = session.agent(at).parent.agent() else { break };
        path.push(session.agent_name(at).to_owned());
        at = parent;
    }
    path.reverse();
    path
}

impl Model for Replay {
    fn answer<'a>(&'a self, request: Request<'a>, tell: Tell<'a>) -> Answering<'a> {
        Box::pin(async move {
            if !self.has_differed.get() {
                match self.recorded(&request) {
                    Ok(reply) => {
                        let words = reply.answer.content.words();
                        tell(Delta::Words(&words));
                        return Ok(reply);
                    }
                    Err(difference) if self.then.is_none() => {
                        return Err(ModelError::for_good(difference));
                    }
                    Err(difference) => {
                        self.has_differed.set(true);
                        tell(Delta::Note(&difference));
                    }
                }
            }
            match &self.then {
                Some((name, model)) => {
                    let mut reply = model.answer(request.for_model(name), tell).await?;
                    reply.model = reply.model.or_else(|| Some(name.clone()));
                    Ok(reply)
                }
                None => Err(ModelError::for_good("the recording has no more answers")),
            }
        })
    }
}
