//! The member `x_antiphon`: which members were derived, and which values do not fit into the
//! standard, each with its pointer and in the order of the pointers.
//!
//! Pointers into long lists are generated from compact notes while they are written; the original
//! values of an item are found by composing it again. Everything else is held in memory and merged
//! in.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use antiphon_model::{BodyError, CallIx};
use serde_json::{Map, Value};

use super::items::{Items, by_digits};
use super::notes::Notes;
use super::origin::{Origin, Original};
use super::pieces::{Member, Open, Pieces, WriteError};
use super::text::Text;
use crate::interfaces;

/// The other members of `x_antiphon`: the session's own id, and those of the document that was
/// read.
pub(super) struct XAntiphon(pub(super) Map<String, Value>);

/// The list that an item is in.
#[derive(Clone, Copy)]
enum List {
    Calls,
    CallsOf(usize),
    Messages,
    Phases,
}

impl XAntiphon {
    /// Writes the member; omits it if it would be empty.
    pub(super) fn write(
        self,
        text: &Text<'_, '_>,
        origin: Origin,
        document: &mut Open,
        pieces: &mut Pieces<'_>,
    ) -> Result<(), WriteError> {
        let Self(mut own) = self;
        let (derived, original) = origin.into_parts();
        let lists = Lists { text, notes: &text.notes };
        if !derived.is_empty() || lists.has_derived() {
            own.insert("derived".to_owned(), Value::Null);
        }
        if !original.is_empty() || lists.has_original() {
            own.insert("original".to_owned(), Value::Null);
        }
        if own.is_empty() {
            return Ok(());
        }
        pieces.name("x_antiphon", document)?;
        let frame = serde_json::to_string_pretty(&own).unwrap_or_default();
        let mut object = Open::object(1);
        let (mut derived, mut original) = (Some(derived), Some(original));
        for member in Member::all(&frame) {
            match member.name {
                "derived" => {
                    pieces.name(member.name, &mut object)?;
                    lists.write_derived(&derived.take().unwrap_or_default(), pieces)?;
                }
                "original" => {
                    pieces.name(member.name, &mut object)?;
                    lists.write_original(original.take().unwrap_or_default(), pieces)?;
                }
                _ => pieces.member(&member, &mut object)?,
            }
        }
        pieces.close(&object);
        Ok(())
    }
}

/// The long lists of a document, in the order of their pointers.
struct Lists<'t, 'a> {
    text: &'t Text<'t, 'a>,
    notes: &'t Notes,
}

impl Lists<'_, '_> {
    fn all(&self) -> impl Iterator<Item = (List, &Items)> {
        let notes = self.notes;
        let subs = by_digits(notes.subs.len());
        let subs = subs.filter_map(|at| Some((List::CallsOf(at), notes.subs.get(at)?)));
        let messages = (List::Messages, &notes.messages);
        let phases = (List::Phases, &notes.phases);
        let first = [messages, phases].into_iter();
        first.chain(subs).chain([(List::Calls, &notes.calls)])
    }

    fn has_derived(&self) -> bool {
        let mut items = self.all().flat_map(|(_, items)| items.derived(&self.notes.patterns));
        items.any(|(_, pointers)| !pointers.is_empty())
    }

    fn has_original(&self) -> bool {
        self.all().any(|(_, items)| items.with_original().next().is_some())
    }

    /// Writes every pointer once; of a derived object only the object itself is listed.
    fn write_derived(&self, held: &[String], pieces: &mut Pieces<'_>) -> Result<(), WriteError> {
        let mut list = Open::list(2);
        let mut last: Option<String> = None;
        let mut put = |pointer: &str| {
            let below = last.as_deref().and_then(|last| pointer.strip_prefix(last));
            if below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
                return Ok(());
            }
            let kept = last.get_or_insert_default();
            kept.clear();
            kept.push_str(pointer);
            pieces.next(&mut list)?;
            pieces.value(&pointer, 0);
            Ok::<(), WriteError>(())
        };
        let mut held = held.iter().peekable();
        let mut pointer = String::new();
        for (list, items) in self.all() {
            for (at, relatives) in items.derived(&self.notes.patterns) {
                for relative in relatives {
                    list.pointer(at, &mut pointer);
                    pointer.push_str(relative);
                    while let Some(other) = held.next_if(|other| **other <= pointer) {
                        put(other)?;
                    }
                    put(&pointer)?;
                }
            }
        }
        held.try_for_each(|pointer| put(pointer))?;
        pieces.close(&list);
        Ok(())
    }

    fn write_original(
        &self,
        held: BTreeMap<String, Original>,
        pieces: &mut Pieces<'_>,
    ) -> Result<(), WriteError> {
        let mut object = Open::object(2);
        let mut put = |pointer: &str, original: &Original| {
            pieces.name(pointer, &mut object)?;
            pieces.value(&original.value, 3);
            Ok::<(), WriteError>(())
        };
        let mut held = held.into_iter().peekable();
        let mut pointer = String::new();
        for (list, items) in self.all() {
            for at in items.with_original() {
                let (_, kept) = self.compose(list, at)?.into_parts();
                for (relative, original) in kept {
                    list.pointer(at, &mut pointer);
                    pointer.push_str(&relative);
                    while let Some((other, original)) = held.next_if(|(other, _)| *other < pointer)
                    {
                        put(&other, &original)?;
                    }
                    // Of two values with the same pointer, the one of the later stage wins.
                    match held.next_if(|(other, _)| *other == pointer) {
                        Some((_, other)) if other.stage > original.stage => put(&pointer, &other)?,
                        _ => put(&pointer, &original)?,
                    }
                }
            }
        }
        held.try_for_each(|(pointer, original)| put(&pointer, &original))?;
        pieces.close(&object);
        Ok(())
    }

    /// Composes an item again, for its original values.
    fn compose(&self, list: List, at: usize) -> Result<Origin, BodyError> {
        let roles = self.text.subs.calls.roles;
        let call = |calls: &[CallIx]| match calls.get(at) {
            Some(&ix) => Ok(self.text.subs.calls.compose(ix)?.1),
            None => Ok(Origin::default()),
        };
        match list {
            List::Calls => call(&roles.calls),
            List::CallsOf(sub) => call(roles.subs.get(sub).map_or(&[], |sub| &sub.calls)),
            List::Messages => {
                let Some(messages) = self.text.messages else { return Ok(Origin::default()) };
                let (mut value, origin) = messages.compose(at)?;
                origin.conform(&mut value, interfaces::message());
                Ok(origin)
            }
            // Derived phases have no original values.
            List::Phases => Ok(Origin::default()),
        }
    }
}

impl List {
    fn pointer(self, at: usize, pointer: &mut String) {
        pointer.clear();
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Calls => write!(pointer, "/tool_calls/{at}"),
            Self::CallsOf(sub) => write!(pointer, "/sub_sessions/{sub}/tool_calls/{at}"),
            Self::Messages => write!(pointer, "/messages/{at}"),
            Self::Phases => write!(pointer, "/phase_annotations/{at}"),
        };
    }
}
