//! Compact notes about the long lists of a document, which are not held in memory.

use antiphon_model::BodyError;

use super::items::{Items, Patterns};
use super::messages::Messages;
use super::origin::Origin;
use super::sub_session::{SubFacts, SubSessions};
use super::summary::ReviewResults;
use crate::interfaces;

#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) patterns: Patterns,
    pub(super) calls: Items,
    pub(super) phases: Items,
    /// For each sub-session, the notes about its calls.
    pub(super) subs: Vec<Items>,
    pub(super) messages: Items,
}

impl Notes {
    /// Composes all sub-sessions, and returns what the rest of the document needs to know about
    /// them. Sub-sessions are few compared with their calls, so their own notes go into `origin`.
    pub(super) fn add_subs(
        &mut self,
        subs: &SubSessions<'_, '_>,
        origin: &Origin,
    ) -> Result<Vec<SubFacts>, BodyError> {
        let mut all = Vec::new();
        for (at, sub) in subs.calls.roles.subs.iter().enumerate() {
            let (mut value, own) = subs.compose(at)?;
            all.push(SubFacts::of(&value));
            own.conform(&mut value, interfaces::sub_session());
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

    /// Composes all messages, and returns what the summary needs to know about them.
    pub(super) fn add_messages(
        &mut self,
        messages: &Messages<'_, '_>,
    ) -> Result<ReviewResults, BodyError> {
        let mut results = ReviewResults::default();
        for at in 0..messages.len() {
            let (mut value, own) = messages.compose(at)?;
            results.add(&value);
            own.conform(&mut value, interfaces::message());
            self.messages.note(own, &mut self.patterns);
        }
        Ok(results)
    }
}
