//! Hooks are asked: before a call, and before words are heard.

use antiphon_model::{Json, short_arguments};

use super::turn::Utterance;
use super::{Session, Stop};
use crate::agent::AgentKey;
use crate::hook::{Approval, Review};
use crate::journal::NewMessage;
use crate::tool::Output;
use crate::transcript::{Call, Entry};

/// A call that hooks are asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) agent: AgentKey,
    pub(super) call: &'a Call,
    pub(super) message_id: &'a str,
}

/// What hooks say of words.
#[derive(Debug)]
pub(super) enum Reviewed {
    /// Everybody may hear them; the speaker is told this, by which verdicts.
    Passed {
        reminders: Vec<(String, Option<String>)>,
    },
    Rejected {
        hook: String,
        reason: String,
        verdict: Option<String>,
    },
}

impl Session {
    /// The result of a call that a hook has denied; `None` where it may go ahead. The first no
    /// decides.
    pub(super) async fn asks_before(&mut self, asking: Asking<'_>) -> Result<Option<Output>, Stop> {
        let Asking { agent, call, message_id } = asking;
        let caller = self.state.agent(agent);
        if caller.is_hook() {
            return Ok(None);
        }
        let name = caller.name.clone();
        let arguments = short_arguments(Json::text(&call.arguments).as_str());
        let notice =
            format!("Agent '{name}' is about to call {}({arguments}). Approve?", call.name);
        for hook in self.state.hooks.clone() {
            let Some(watch) = &self.state.agent(hook).watch else { continue };
            let is_watched = names(&watch.before, &call.name)
                && watch.of.as_ref().is_none_or(|of| names(of, &name));
            if !is_watched {
                continue;
            }
            let answer = self.ask_hook(hook, &notice, message_id).await?;
            let (words, verdict) = answer.unwrap_or_default();
            match Approval::parse(&words) {
                Approval::Approve => {}
                Approval::Deny(reason) => {
                    let hook = &self.state.agent(hook).name;
                    let text = format!("Error: Action blocked by hook '{hook}': {reason}");
                    let cause = Some(verdict).filter(|id| !id.is_empty()).into_iter().collect();
                    return Ok(Some(Output { text, is_error: true, cause }));
                }
            }
        }
        Ok(None)
    }

    /// What hooks say of an utterance. The first no decides.
    pub(super) async fn review(
        &mut self,
        agent: AgentKey,
        said: &Utterance,
    ) -> Result<Reviewed, Stop> {
        let mut reminders = Vec::new();
        let speaker = self.state.agent(agent);
        if speaker.is_hook() {
            return Ok(Reviewed::Passed { reminders });
        }
        let name = speaker.name.clone();
        for hook in self.state.hooks.clone() {
            let watch = self.state.agent(hook).watch.as_ref();
            if !watch.is_some_and(|watch| names(&watch.after, &name)) {
                continue;
            }
            let notice = format!("Agent '{name}' is about to say: {}", said.words);
            let answer = self.ask_hook(hook, &notice, &said.message_id).await?;
            let (words, verdict) = answer.unwrap_or_default();
            let verdict = Some(verdict).filter(|id| !id.is_empty());
            match Review::parse(&words) {
                Review::Accept => {}
                Review::Remind(words) => reminders.push((words, verdict)),
                Review::Reject(reason) => {
                    let hook = self.state.agent(hook).name.clone();
                    return Ok(Reviewed::Rejected { hook, reason, verdict });
                }
            }
        }
        Ok(Reviewed::Passed { reminders })
    }

    /// Gives a hook a notice about a message; gives its answer, and that answer's id.
    async fn ask_hook(
        &mut self,
        hook: AgentKey,
        notice: &str,
        about: &str,
    ) -> Result<Option<(String, String)>, Stop> {
        let cause = [about.to_owned()];
        let new = NewMessage { source: Some("system"), cause: &cause, ..NewMessage::default() };
        self.enter(hook, Entry::User(notice.into()), &new)?;
        let verdict = self.respond(hook).await?;
        Ok(verdict.map(|verdict| (verdict.words.to_string(), verdict.message_id)))
    }

    /// Tells an agent something that no agent says.
    pub(super) fn tell_agent(
        &mut self,
        agent: AgentKey,
        words: &str,
        verdict: Option<String>,
    ) -> Result<(), Stop> {
        let cause: Vec<String> = verdict.into_iter().collect();
        let new = NewMessage { source: Some("system"), cause: &cause, ..NewMessage::default() };
        self.enter(agent, Entry::User(format!("<system>{words}</system>").into()), &new)?;
        Ok(())
    }
}

/// Whether a list names somebody, or everybody.
fn names(list: &[String], name: &str) -> bool {
    list.iter().any(|it| it == "*" || it == name)
}
