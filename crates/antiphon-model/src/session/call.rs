//! Tool calls and their results: none, one or several.

use super::column::push_tight;
use super::strings::StrIx;
use super::{NOBODY, Session};
use crate::{AgentIx, CallIx, EventIx, Place, Timestamp, ToolCall};

/// A tool call.
#[derive(Debug, Clone)]
pub struct Call {
    id: StrIx,
    tool: StrIx,
    /// The message that makes the call.
    pub event: EventIx,
    pub agent: AgentIx,
    /// The turn of its agent in which it was made.
    turn: u32,
    /// The raw arguments, or no place.
    pub arguments: Place,
    first_result: u32,
    last_result: u32,
    /// The newest of its further results, in `Session::more_results`.
    more: u32,
    /// The call before this one with the same id: models choose the ids, and repeat them.
    shadowed: u32,
}

impl Call {
    /// Whether no result has come yet.
    pub fn is_open(&self) -> bool {
        self.first_result == NOBODY
    }

    pub fn first_result(&self) -> Option<EventIx> {
        (!self.is_open()).then_some(EventIx(self.first_result))
    }

    pub fn last_result(&self) -> Option<EventIx> {
        (!self.is_open()).then_some(EventIx(self.last_result))
    }
}

/// A result after the first, and the index of the one before it.
#[derive(Debug, Clone)]
pub(super) struct MoreResult {
    event: EventIx,
    before: u32,
}

impl Session {
    pub fn calls(&self) -> impl ExactSizeIterator<Item = (CallIx, &Call)> {
        self.calls.iter().enumerate().map(|(n, call)| {
            let ix = CallIx(u32::try_from(n).unwrap_or(u32::MAX));
            (ix, call)
        })
    }

    #[expect(clippy::indexing_slicing, reason = "a `CallIx` comes from this session alone")]
    pub fn call(&self, ix: CallIx) -> &Call {
        &self.calls[ix.index()]
    }

    pub fn call_id(&self, ix: CallIx) -> &str {
        self.call_ids.get(self.call(ix).id)
    }

    pub fn tool_name(&self, ix: CallIx) -> &str {
        self.words.get(self.call(ix).tool)
    }

    /// When a call began: as its result says, or else when it was made: by itself, or with its
    /// message.
    pub fn call_started_at(&self, ix: CallIx) -> Option<Timestamp> {
        // There may be any number of results; the first and the last are enough.
        let call = self.call(ix);
        let mut ends = [call.first_result(), call.last_result()].into_iter().flatten();
        let recorded = ends.find_map(|result| self.entry(result).started_at());
        let made = self.made_at.get(ix.0).map(|&millis| Timestamp::from_millis(millis));
        recorded.or(made).or_else(|| self.entry(call.event).at())
    }

    /// All results of a call, in order.
    pub fn results(&self, ix: CallIx) -> impl Iterator<Item = EventIx> {
        let call = self.call(ix);
        let newest = self.more_results.get(call.more as usize);
        let more =
            std::iter::successors(newest, |more| self.more_results.get(more.before as usize));
        let mut more: Vec<EventIx> = more.map(|more| more.event).collect();
        more.reverse();
        call.first_result().into_iter().chain(more)
    }

    pub(super) fn add_call(
        &mut self,
        event: EventIx,
        agent: AgentIx,
        call: &ToolCall<'_>,
    ) -> Option<()> {
        let ix = CallIx::next(self.calls.len())?;
        let id = self.call_ids.intern(&call.id)?;
        let shadowed = match self.latest_call.get_mut(id.0 as usize) {
            Some(latest) => std::mem::replace(latest, ix.0),
            None => {
                push_tight(&mut self.latest_call, ix.0);
                NOBODY
            }
        };
        let tool = self.words.intern(&call.name)?;
        self.makers.note(ix, call);
        if let Some(at) = call.started_at {
            self.made_at.push(ix.0, at.as_millis());
        }
        self.add_call_words(ix, call)?;
        let arguments = call.arguments.map_or(Place::NONE, |body| body.place);
        let turn = self.agents.get(agent.index())?.turn;
        let (first_result, last_result, more) = (NOBODY, NOBODY, NOBODY);
        push_tight(
            &mut self.calls,
            Call {
                id,
                tool,
                event,
                agent,
                turn,
                arguments,
                first_result,
                last_result,
                more,
                shadowed,
            },
        );
        Some(())
    }

    /// Adds a result to the nearest earlier call with that id: the agent's own, if there is one.
    /// Calls that were made at once with one id get their results in order.
    pub(super) fn add_result(
        &mut self,
        call_id: &str,
        agent: AgentIx,
        event: EventIx,
    ) -> Option<CallIx> {
        let ix = self.first_open_beside(self.nearest_call(call_id, Some(agent))?);
        let call = self.calls.get_mut(ix.index())?;
        if call.is_open() {
            call.first_result = event.0;
        } else {
            let newest = u32::try_from(self.more_results.len()).ok()?;
            let before = std::mem::replace(&mut call.more, newest);
            push_tight(&mut self.more_results, MoreResult { event, before });
        }
        call.last_result = event.0;
        Some(ix)
    }

    /// The first call without a result that its agent made in the same turn with the same id; else
    /// `call`. Some agents write each call of a turn as a message of its own.
    fn first_open_beside(&self, call: CallIx) -> CallIx {
        let Call { agent, turn, .. } = *self.call(call);
        let is_beside = |it: &CallIx| (self.call(*it).agent, self.call(*it).turn) == (agent, turn);
        let beside = self.with_same_id(call).take_while(is_beside);
        beside.filter(|&it| self.call(it).is_open()).last().unwrap_or(call)
    }

    /// The nearest earlier call with that id: the agent's own, if there is one.
    pub(super) fn nearest_call(&self, call_id: &str, agent: Option<AgentIx>) -> Option<CallIx> {
        let id = self.call_ids.known(call_id)?;
        let latest = CallIx(*self.latest_call.get(id.0 as usize)?);
        let is_own = |call: &CallIx| Some(self.call(*call).agent) == agent;
        Some(self.with_same_id(latest).find(is_own).unwrap_or(latest))
    }

    /// A call, and those before it with the same id. Models number their calls within a turn, so
    /// chains can become long; only the near ones can be meant.
    fn with_same_id(&self, latest: CallIx) -> impl Iterator<Item = CallIx> {
        std::iter::successors(Some(latest), |&call| {
            let before = self.calls.get(call.index())?.shadowed;
            (before != NOBODY).then_some(CallIx(before))
        })
        .take(64)
    }
}

#[cfg(test)]
mod tests;
