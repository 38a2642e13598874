//! What is known of the lists of a document, without holding them.

use antiphon_model::BodyError;

use super::items::{Items, Patterns};
use super::messages::Messages;
use super::origin::Origin;
use super::sub_session::{SubFacts, SubSessions};
use super::summary::ReviewResults;
use crate::letter;

#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) patterns: Patterns,
    pub(super) calls: Items,
    pub(super) phases: Items,
    /// By sub-session, about its calls.
    pub(super) subs: Vec<Items>,
    pub(super) messages: Items,
}

impl Notes {
    /// Composes all sub-sessions, and gives what the rest of the document tells of them. Those are
    /// few beside their calls, so that what is noted of them is `origin`'s.
    pub(super) fn add_subs(
        &mut self,
        subs: &SubSessions<'_, '_>,
        origin: &Origin,
    ) -> Result<Vec<SubFacts>, BodyError> {
        let mut all = Vec::new();
        for (at, sub) in subs.calls.cast.subs.iter().enumerate() {
            let (mut value, own) = subs.compose(at)?;
            all.push(SubFacts::of(&value));
            own.conform(&mut value, letter::sub_session());
            origin.take_over(&format!("/sub_sessions/{at}"), own);
            let mut calls = Items::default();
            for &call in &sub.calls {
                let (_, own) = subs.calls.compose(call)?;
                calls.note(own, &mut self.patterns);
            }
            self.subs.push(calls);
        }
        Ok(all)
    }

    /// Composes all messages, and gives what the summary tells of them.
    pub(super) fn add_messages(
        &mut self,
        messages: &Messages<'_, '_>,
    ) -> Result<ReviewResults, BodyError> {
        let mut results = ReviewResults::default();
        for at in 0..messages.len() {
            let (mut value, own) = messages.compose(at)?;
            results.add(&value);
            own.conform(&mut value, letter::message());
            self.messages.note(own, &mut self.patterns);
        }
        Ok(results)
    }
}
