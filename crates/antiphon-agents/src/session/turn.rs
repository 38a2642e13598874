//! An agent speaks: its model is asked and its calls are run until it says something.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::watching::Reviewed;
use super::{Session, Stop};
use crate::agent::AgentKey;
use crate::tool::ToolError;

/// How often an agent may answer again after its words were rejected.
const SECOND_CHANCES: usize = 3;
/// How deep turns may lie in one another: agents let their sub-agents speak. A log may claim a
/// chain of any length, and each turn takes a part of the stack.
const NESTED_MAX: usize = 64;

/// What an agent said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    pub message_id: String,
    pub words: Arc<str>,
    /// Whether it was said just now, and not read from a log.
    pub is_new: bool,
}

/// What came of letting an agent speak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken {
    Said(Utterance),
    /// An empty answer, which nobody hears.
    Nothing,
    /// A hook rejected all of it.
    Withheld {
        hook: String,
        reason: String,
    },
}

/// Agents let agents speak, so that these futures hold one another.
pub(super) type Speaking<'a, T> = Pin<Box<dyn Future<Output = Result<T, Stop>> + 'a>>;

impl Session {
    /// An agent answers what came from outside. What a sub-agent says goes to its parent, who
    /// answers too, up to the root.
    pub(super) async fn turn(&mut self, agent: AgentKey) -> Result<Spoken, Stop> {
        let mut agent = agent;
        loop {
            let spoken = self.speak(agent).await?;
            let (Spoken::Said(said), Some(parent)) = (&spoken, self.state.agent(agent).parent)
            else {
                return Ok(spoken);
            };
            let line = format!("[{}]: {}", self.state.agent(agent).name, said.words);
            self.inform(agent, parent, &line.into(), &said.message_id)?;
            agent = parent;
        }
    }

    /// Lets an agent say something, for a tool of another.
    pub(crate) async fn speak_for_tool(&mut self, agent: AgentKey) -> Result<Spoken, ToolError> {
        if self.nested >= NESTED_MAX {
            let words = format!("Limit reached: discussions in one another ({NESTED_MAX})");
            return Err(ToolError::failed(words));
        }
        self.nested += 1;
        let spoken = self.speak(agent).await;
        self.nested -= 1;
        Ok(spoken?)
    }

    /// Lets an agent say something, and hooks have their say before anybody hears it.
    async fn speak(&mut self, agent: AgentKey) -> Result<Spoken, Stop> {
        let mut chances = SECOND_CHANCES;
        loop {
            let Some(said) = self.respond(agent).await? else { return Ok(Spoken::Nothing) };
            match self.review(agent, &said).await? {
                Reviewed::Passed { reminders } => {
                    for (words, verdict) in reminders {
                        self.tell_agent(agent, &words, verdict)?;
                    }
                    return Ok(Spoken::Said(said));
                }
                Reviewed::Rejected { hook, reason, .. } if chances == 0 => {
                    return Ok(Spoken::Withheld { hook, reason });
                }
                Reviewed::Rejected { reason, verdict, .. } => {
                    chances -= 1;
                    self.tell_agent(agent, &reason, verdict)?;
                }
            }
        }
    }

    /// Asks an agent's model and runs its calls until it says something; `None` if that is
    /// nothing.
    pub(super) fn respond(&mut self, agent: AgentKey) -> Speaking<'_, Option<Utterance>> {
        Box::pin(async move {
            loop {
                let asked = self.ask(agent).await?;
                if asked.answer.calls.is_empty() {
                    let words: Arc<str> = asked.answer.content.words().into();
                    let (message_id, is_new) = (asked.message_id, asked.is_new);
                    let is_said = asked.answer.is_utterance();
                    return Ok(is_said.then_some(Utterance { message_id, words, is_new }));
                }
                self.run_calls(agent, &asked).await?;
            }
        })
    }
}
