//! The calls of a message run one after another; each gets exactly one result.

use std::rc::Rc;
use std::sync::Arc;

use antiphon_model::Timestamp;

use super::ask::Asked;
use super::watching::Asking;
use super::{Session, Stop, TurnEnd};
use crate::agent::AgentKey;
use crate::journal::NewMessage;
use crate::news::{News, Who};
use crate::past::What;
use crate::tool::{Arguments, Context, Output, Tool, ToolError, ToolSpec};
use crate::transcript::{Call, Entry, ToolResult};

/// What a call is told that a person, or the end of a process, has cut off.
pub(super) const INTERRUPTED: &str = "Interrupted";
/// What a result may hold; the rest is cut, visibly. A line of the log has to hold it.
const RESULT_BYTES_MAX: usize = 8 << 20;

impl Session {
    /// Runs the calls of an answer. Where the turn ends in the middle, those that are open are
    /// told why.
    pub(super) async fn run_calls(&mut self, agent: AgentKey, asked: &Asked) -> Result<(), Stop> {
        let mut calls = asked.answer.calls.iter();
        while let Some(call) = calls.next() {
            let stop = match self.run_call(agent, asked, call).await {
                Ok(()) => continue,
                Err(stop) => stop,
            };
            if let Stop::Turn(end) = &stop {
                let words = match end {
                    TurnEnd::Limit(limit) => limit,
                    TurnEnd::Interrupted => INTERRUPTED,
                };
                for open in std::iter::once(call).chain(calls) {
                    let output =
                        Output { text: words.to_owned(), is_error: true, ..Output::default() };
                    self.result(agent, open, &output, None)?;
                }
            }
            return Err(stop);
        }
        Ok(())
    }

    async fn run_call(&mut self, agent: AgentKey, asked: &Asked, call: &Call) -> Result<(), Stop> {
        if self.has_recorded_result(agent, call) {
            return self.result(agent, call, &Output::default(), None);
        }
        let begun = self.clock.now();
        let run = self.outcome(agent, asked, call).await;
        let mut output = match run {
            Ok(output) => output,
            Err(ToolError::Failed(words)) => {
                Output { text: words, is_error: true, ..Output::default() }
            }
            Err(ToolError::Stopped(stop)) => return Err(stop),
        };
        output.text = shortened(output.text);
        // How long a call took that began in another process, nobody knows.
        self.result(agent, call, &output, asked.is_new.then_some(begun))
    }

    /// Whether the next event of the tape is what came of a call.
    fn has_recorded_result(&self, agent: AgentKey, call: &Call) -> bool {
        let Some(next) = self.journal.next() else { return false };
        let is_result = match &next.what {
            What::Message { entry: Entry::Result(result), .. } => result.call_id == call.id,
            What::Message { .. } | What::Created { .. } | What::Fragment => false,
        };
        is_result && next.agent == self.state.agent(agent).id
    }

    /// Asks the hooks, and does what is asked for.
    async fn outcome(
        &mut self,
        agent: AgentKey,
        asked: &Asked,
        call: &Call,
    ) -> Result<Output, ToolError> {
        let tool = self.tool(agent, &call.name)?;
        // What a call did that was under way when its process ended, nobody knows either.
        let is_lost =
            |session: &Self| !asked.is_new && !tool.goes_on() && session.journal.is_live();
        if !is_lost(self)
            && let Some(denied) =
                self.asks_before(Asking { agent, call, message_id: &asked.message_id }).await?
        {
            return Ok(denied);
        }
        // The hooks' verdicts were recorded, and so was the result: it stands, and the call is not
        // made again.
        if self.has_recorded_result(agent, call) {
            return Ok(Output::default());
        }
        if is_lost(self) {
            return Err(ToolError::failed(INTERRUPTED));
        }
        if !self.journal.is_live() && !tool.goes_on() {
            return Err(Stop::Diverged.into());
        }
        let arguments = Arguments::parse(&call.arguments)?;
        let stop = self.stop.clone();
        let (message_id, call_id) = (&asked.message_id, &call.id);
        let context = Context { session: self, caller: agent, message_id, call_id };
        let calling = tool.call(context, arguments);
        if tool.goes_on() {
            return calling.await;
        }
        // Our own tools stop by themselves, when somebody is to speak.
        let stopped = tokio::select! {
            output = calling => return output,
            () = stop.stopped() => self.stopped(agent, "")?,
        };
        Err(stopped.into())
    }

    /// Writes that a person stopped the turn of an agent, so that nobody owes it an answer, and
    /// what had arrived of one.
    pub(super) fn stopped(&mut self, agent: AgentKey, arrived: &str) -> Result<Stop, Stop> {
        self.journal.broken_answer(&self.state.agent(agent).id, arrived, true)?;
        Ok(Stop::Turn(TurnEnd::Interrupted))
    }

    /// A tool that the agent has.
    fn tool(&self, agent: AgentKey, name: &str) -> Result<Rc<dyn Tool>, ToolError> {
        match self.tools.find(name).filter(|_| self.may_call(agent, name)) {
            Some(tool) => Ok(Rc::clone(tool)),
            None => {
                let names: Vec<String> =
                    self.tools_of(agent).into_iter().map(|tool| tool.name).collect();
                let known = match names.is_empty() {
                    true => "You have no tools.".to_owned(),
                    false => format!("Your tools are: {}.", names.join(", ")),
                };
                Err(ToolError::failed(format!("You have no tool `{name}`. {known}")))
            }
        }
    }

    fn may_call(&self, agent: AgentKey, tool: &str) -> bool {
        let agent = self.state.agent(agent);
        !agent.is_hook()
            && agent.tools.as_ref().is_none_or(|tools| tools.iter().any(|it| it == tool))
    }

    /// What a model is told about the tools of its agent. A hook has none: it gives verdicts.
    pub(super) fn tools_of(&self, agent: AgentKey) -> Vec<ToolSpec> {
        let specs = self.tools.specs().filter(|spec| self.may_call(agent, &spec.name));
        specs.cloned().collect()
    }

    /// Adds the one result of a call to the caller's transcript.
    pub(super) fn result(
        &mut self,
        agent: AgentKey,
        call: &Call,
        output: &Output,
        begun: Option<Timestamp>,
    ) -> Result<(), Stop> {
        let entry = Entry::Result(Arc::new(ToolResult {
            call_id: call.id.clone(),
            tool: Some(call.name.clone()),
            content: output.text.as_str().into(),
            is_error: output.is_error,
        }));
        let now = self.clock.now().as_millis();
        // A clock that was set back in between took no time.
        let taken = |begun: Timestamp| u64::try_from(now - begun.as_millis()).unwrap_or_default();
        let new = NewMessage {
            cause: &output.cause,
            started_at: begun,
            duration_ms: begun.map(taken),
            ..NewMessage::default()
        };
        let is_live = self.journal.is_live();
        self.enter(agent, entry, &new)?;
        if is_live {
            let shown = self.state.agent(agent);
            let who = Who { name: &shown.name, depth: shown.depth };
            let (tool, text, is_error) = (&*call.name, &*output.text, output.is_error);
            (self.listener)(News::Result { who, tool, text, is_error });
        }
        Ok(())
    }
}

/// A text that is not too long for a result.
fn shortened(mut text: String) -> String {
    let all = text.len();
    if all > RESULT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(RESULT_BYTES_MAX));
        text.push_str(&format!("\n[cut: the result has {all} bytes]"));
    }
    text
}
