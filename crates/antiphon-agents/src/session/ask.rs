//! One request to a model: within the limits, repeated where that may help.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::sleep;

use super::{Session, SessionError, Stop, TurnEnd};
use crate::agent::AgentKey;
use crate::journal::NewMessage;
use crate::model::{Delta, ModelError, Reply, Request, Retry};
use crate::news::{News, Who};
use crate::past::What;
use crate::transcript::{Answer, Entry};

/// How often a failed request is repeated.
const RETRIES_MAX: u32 = 5;
/// The same, once the person has seen words of the answer.
const RETRIES_AFTER_WORDS: u32 = 1;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// How a limit is told to an agent; a resumed turn knows it again by this.
const LIMIT: &str = "<system>Limit reached: ";

/// An answer that stands in a transcript.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) message_id: String,
    pub(super) answer: Arc<Answer>,
    /// Whether it was made just now, and not read from a log.
    pub(super) is_new: bool,
}

/// Why one attempt came to nothing.
enum Failed {
    Stopped,
    Model(ModelError),
}

impl Session {
    /// The next answer of an agent: from the tape, or from its model.
    pub(super) async fn ask(&mut self, agent: AgentKey) -> Result<Asked, Stop> {
        if !self.journal.is_live() {
            return self.recorded_answer(agent);
        }
        if let Some(limit) = self.reached_limit() {
            let words = format!("Limit reached: {limit}");
            return Err(self.end_by_limit(agent, words));
        }
        self.requests += 1;
        let reply = self.request(agent).await?;
        self.answered(agent, reply)
    }

    /// The answer that comes next on the tape, or the limit that ended the turn.
    fn recorded_answer(&mut self, agent: AgentKey) -> Result<Asked, Stop> {
        let id = self.state.agent(agent).id.clone();
        let next = self.journal.next().filter(|next| next.agent == id);
        let (model, limit) = match next.map(|next| &next.what) {
            Some(What::Message { entry: Entry::Assistant(_), model, .. }) => (model.clone(), None),
            Some(What::Message { entry: Entry::User(content), .. }) => {
                let words = content.words().into_owned();
                (None, Some(words).filter(|words| words.starts_with(LIMIT)))
            }
            _ => return Err(Stop::Diverged),
        };
        if let Some(words) = limit {
            let words = words.trim_start_matches("<system>").trim_end_matches("</system>");
            return Err(self.end_by_limit(agent, words.to_owned()));
        }
        self.requests += 1;
        let any = Entry::Assistant(Arc::default());
        let (message_id, entry) = self.enter(agent, any, &NewMessage::default())?;
        let Entry::Assistant(answer) = entry else { return Err(Stop::Diverged) };
        if let Some(model) = model {
            let name = self.state.agent(agent).name.clone();
            self.state.answers.add(&name, &model);
        }
        Ok(Asked { message_id, answer, is_new: false })
    }

    fn reached_limit(&self) -> Option<String> {
        let limits = &self.cast.limits;
        if self.requests >= limits.turns {
            return Some(format!("turns ({})", limits.turns));
        }
        let is_spent = self.state.cost.as_f64() >= limits.cost_usd;
        (is_spent && self.state.cost.as_picos() > 0)
            .then(|| format!("cost_usd ({})", limits.cost_usd))
    }

    /// Tells the agent that it may not go on.
    fn end_by_limit(&mut self, agent: AgentKey, words: String) -> Stop {
        match self.tell_agent(agent, &words, None) {
            Ok(()) => Stop::Turn(TurnEnd::Limit(words)),
            Err(stop) => stop,
        }
    }

    /// Asks the model until it answers, or until it is no use any more.
    async fn request(&mut self, agent: AgentKey) -> Result<Reply, Stop> {
        let mut failures = 0;
        let mut has_shown_words = false;
        loop {
            let mut arrived = String::new();
            let error = match self.attempt(agent, &mut arrived).await {
                Ok(reply) => return Ok(reply),
                Err(Failed::Stopped) => return Err(self.stopped(agent, &arrived)?),
                Err(Failed::Model(error)) => error,
            };
            if !arrived.is_empty() {
                has_shown_words = true;
                let id = self.state.agent(agent).id.clone();
                self.journal.broken_answer(&id, &arrived, false)?;
            }
            failures += 1;
            let most = if has_shown_words { RETRIES_AFTER_WORDS } else { RETRIES_MAX };
            let wait = match error.retry {
                Retry::After(wait) if failures <= most => wait,
                Retry::After(_) | Retry::Never => {
                    let agent = self.state.agent(agent).name.clone();
                    return Err(SessionError::Model { agent, error }.into());
                }
            };
            let after = wait.unwrap_or(FIRST_PAUSE * 2u32.pow(failures - 1));
            let shown = self.state.agent(agent);
            let who = Who { name: &shown.name, depth: shown.depth };
            (self.listener)(News::Retry { who, error: &error.message, after });
            let is_stopped = tokio::select! {
                () = sleep(after) => false,
                () = self.stop.stopped() => true,
            };
            if is_stopped {
                return Err(self.stopped(agent, "")?);
            }
        }
    }

    /// Asks the model once. What arrives is kept, whatever comes of it.
    async fn attempt(&mut self, key: AgentKey, arrived: &mut String) -> Result<Reply, Failed> {
        let name = self.model_of(key).map_err(Failed::Model)?;
        let model = self.models.get(&name).map_err(Failed::Model)?;
        let tools = self.tools_of(key);
        let path = self.state.path(key);
        let Self { state, listener, stop, .. } = self;
        let agent = state.agent(key);
        let who = Who { name: &agent.name, depth: agent.depth };
        let request = Request {
            path: &path,
            agent: &agent.name,
            transcript: &agent.transcript,
            tools: &tools,
            answered: state.answers.of(&agent.name, &name),
            counts: &state.answers,
        };
        let mut tell = |delta: Delta<'_>| match delta {
            Delta::Words(words) => {
                arrived.push_str(words);
                listener(News::Words { who, words });
            }
            Delta::Note(note) => listener(News::Note(note)),
        };
        // A script answers at once; whoever wants it to stop gets a chance before every answer.
        yield_now().await;
        let answered = tokio::select! {
            biased;
            () = stop.stopped() => Err(Failed::Stopped),
            answered = model.answer(request, &mut tell) => answered.map_err(Failed::Model),
        };
        let mut reply = answered?;
        reply.model = reply.model.or(Some(name));
        Ok(reply)
    }

    /// Adds an answer to its agent's transcript.
    fn answered(&mut self, agent: AgentKey, mut reply: Reply) -> Result<Asked, Stop> {
        self.name_calls(&mut reply.answer);
        let model = reply.model.as_deref();
        let new = NewMessage {
            model,
            request_id: reply.request_id.as_deref(),
            usage: reply.usage,
            cost_usd: reply.cost_usd,
            ..NewMessage::default()
        };
        let answer = Arc::new(reply.answer);
        let (message_id, _) = self.enter(agent, Entry::Assistant(Arc::clone(&answer)), &new)?;
        let name = self.state.agent(agent).name.clone();
        if let Some(model) = model {
            self.state.answers.add(&name, model);
        }
        if let Some(usage) = reply.usage {
            self.state.count_cost(&self.prices, model, usage, reply.cost_usd);
        }
        let who = Who { name: &name, depth: self.state.agent(agent).depth };
        (self.listener)(News::Answered { who, answer: &answer });
        Ok(Asked { message_id, answer, is_new: true })
    }

    /// Gives every call an id that no other call of the session has.
    fn name_calls(&mut self, answer: &mut Answer) {
        for call in &mut answer.calls {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            let is_usable = !call.id.is_empty() && call.id.chars().all(is_plain);
            if is_usable && self.state.call_ids.insert(call.id.clone()) {
                continue;
            }
            let mut number = self.state.call_ids.len() + 1;
            loop {
                call.id = format!("call_{number:03}");
                if self.state.call_ids.insert(call.id.clone()) {
                    break;
                }
                number += 1;
            }
        }
    }
}
