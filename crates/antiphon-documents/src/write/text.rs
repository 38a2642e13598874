//! Writes the text of a document: its frame, and its lists, composed item by item.

use antiphon_model::CallIx;
use antiphon_views::CallIndex;
use serde_json::Value;

use super::PhaseDetail;
use super::annotations::{Annotations, Phases};
use super::items::Items;
use super::messages::Messages;
use super::notes::Notes;
use super::origin::Origin;
use super::pieces::{Member, Open, Pieces, WriteError, in_order};
use super::sub_session::SubSessions;
use super::x_antiphon::XAntiphon;
use crate::interfaces;
use crate::{AgentMessage, MultiAgentSession, PhaseAnnotation, Session, Standard};
use crate::{SubAgentSession, ToolCall};

/// Everything from which the text is composed.
pub(super) struct Text<'t, 'a> {
    pub(super) subs: &'t SubSessions<'t, 'a>,
    /// `None` for STD-001.
    pub(super) messages: Option<&'t Messages<'t, 'a>>,
    pub(super) annotations: Annotations<'t, 'a>,
    pub(super) phases: &'t Phases,
    pub(super) detail: PhaseDetail,
    pub(super) notes: Notes,
}

impl Text<'_, '_> {
    /// Writes the document. The lists are empty in the frame.
    pub(super) fn write(
        mut self,
        frame: &Value,
        origin: Origin,
        own: XAntiphon,
        pieces: &mut Pieces<'_>,
    ) -> Result<(), WriteError> {
        let text = match self.subs.calls.standard {
            Standard::Std001 => in_order::<Session>(frame),
            Standard::Std008 => in_order::<MultiAgentSession>(frame),
        };
        let mut about = Some((origin, own));
        let mut document = Open::object(0);
        for member in Member::all(&text) {
            match (member.name, self.messages) {
                ("tool_calls", _) => {
                    pieces.name(member.name, &mut document)?;
                    self.notes.calls = self.calls(&self.subs.calls.roles.calls, 1, pieces)?;
                }
                ("phase_annotations", _) if matches!(self.phases, Phases::Derived) => {
                    self.derived_phases(&mut document, pieces)?;
                }
                ("x_antiphon", _) => {
                    if let Some((origin, own)) = about.take() {
                        own.write(&self, origin, &mut document, pieces)?;
                    }
                }
                ("sub_sessions", Some(_)) => {
                    pieces.name(member.name, &mut document)?;
                    self.sub_sessions(pieces)?;
                }
                ("messages", Some(messages)) => {
                    pieces.name(member.name, &mut document)?;
                    write_messages(messages, pieces)?;
                }
                _ => pieces.member(&member, &mut document)?,
            }
        }
        pieces.close(&document);
        Ok(())
    }

    /// Writes a list of calls at a depth, and returns the notes about them.
    fn calls(
        &mut self,
        calls: &[CallIx],
        depth: usize,
        pieces: &mut Pieces<'_>,
    ) -> Result<Items, WriteError> {
        let mut items = Items::default();
        let mut list = Open::list(depth);
        for &ix in calls {
            let (value, origin) = self.subs.calls.compose(ix)?;
            pieces.item(&in_order::<ToolCall>(&value), &mut list)?;
            items.note(origin, &mut self.notes.patterns);
        }
        pieces.close(&list);
        Ok(items)
    }

    /// Writes the phases if all of them are derived; omits the member if there are none.
    fn derived_phases(
        &mut self,
        document: &mut Open,
        pieces: &mut Pieces<'_>,
    ) -> Result<(), WriteError> {
        let index = CallIndex::new(self.subs.calls.roles.reading.session);
        let mut list = Open::list(1);
        for phase in self.annotations.derived(&index, self.detail) {
            // It was composed to the interface of the standard, so it fits.
            let phase = phase?;
            let origin = Origin::default();
            origin.derived("");
            if list.is_empty {
                pieces.name("phase_annotations", document)?;
            }
            pieces.item(&in_order::<PhaseAnnotation>(&phase), &mut list)?;
            self.notes.phases.note(origin, &mut self.notes.patterns);
        }
        if !list.is_empty {
            pieces.close(&list);
        }
        Ok(())
    }

    fn sub_sessions(&mut self, pieces: &mut Pieces<'_>) -> Result<(), WriteError> {
        let mut list = Open::list(1);
        for (at, sub) in self.subs.calls.roles.subs.iter().enumerate() {
            let (mut value, origin) = self.subs.compose(at)?;
            origin.conform(&mut value, interfaces::sub_session());
            let text = in_order::<SubAgentSession>(&value);
            pieces.next(&mut list)?;
            let mut object = Open::object(2);
            for member in Member::all(&text) {
                match member.name {
                    "tool_calls" => {
                        pieces.name(member.name, &mut object)?;
                        self.calls(&sub.calls, 3, pieces)?;
                    }
                    _ => pieces.member(&member, &mut object)?,
                }
            }
            pieces.close(&object);
        }
        pieces.close(&list);
        Ok(())
    }
}

fn write_messages(messages: &Messages<'_, '_>, pieces: &mut Pieces<'_>) -> Result<(), WriteError> {
    let mut list = Open::list(1);
    for at in 0..messages.len() {
        let (mut value, origin) = messages.compose(at)?;
        origin.conform(&mut value, interfaces::message());
        pieces.item(&in_order::<AgentMessage>(&value), &mut list)?;
    }
    pieces.close(&list);
    Ok(())
}
