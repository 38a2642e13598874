//! Messages that several utterances arrived in, such as the result of a discussion.
//!
//! Such a text is as long as everything that was said, so it is read once and not for each
//! utterance, and each is searched for behind the one before: they stand there in order.

use std::collections::BTreeMap;

use antiphon_model::{BodyError, EventIx, Link, LinkKind};

use super::{DeliveryForm, Said};
use crate::Reading;

/// The messages that several utterances arrived in, and are still to be compared with some.
pub(super) struct Joined(BTreeMap<EventIx, Message>);

struct Message {
    text: Option<String>,
    /// Where the utterance ends that was found last.
    found: usize,
    /// With how many utterances it is still to be compared; then its text is dropped.
    left: usize,
}

impl Joined {
    pub(super) fn of(arrivals: &BTreeMap<Said<'_>, Vec<Link<'_>>>) -> Self {
        let mut joined: BTreeMap<EventIx, Message> = BTreeMap::new();
        let links = arrivals.values().flatten();
        for link in links.filter(|link| link.kind == LinkKind::Cause) {
            let new = Message { text: None, found: 0, left: 0 };
            joined.entry(link.to).or_insert(new).left += 1;
        }
        joined.retain(|_, message| message.left > 1);
        Self(joined)
    }

    /// How `said` compares with the words of the message `to`.
    pub(super) fn form(
        &mut self,
        reading: &Reading<'_>,
        said: &str,
        to: EventIx,
    ) -> Result<DeliveryForm, BodyError> {
        let text = || reading.text(reading.session.entry(to));
        let Some(message) = self.0.get_mut(&to) else { return Ok(form(said, &text()?)) };
        let arrived = match message.text.take() {
            Some(text) => text,
            None => text()?,
        };
        let place = match arrived.get(message.found..).and_then(|rest| rest.find(said)) {
            Some(place) => Some(message.found + place),
            None => arrived.find(said),
        };
        let form = form_at(said, &arrived, place);
        message.found = place.map_or(message.found, |place| place + said.len());
        message.left -= 1;
        if message.left > 0 {
            message.text = Some(arrived);
        } else {
            self.0.remove(&to);
        }
        Ok(form)
    }
}

fn form(said: &str, arrived: &str) -> DeliveryForm {
    // What stands at the end is found there, however long the text is.
    let at_end = arrived.len().checked_sub(said.len()).filter(|_| arrived.ends_with(said));
    form_at(said, arrived, at_end.or_else(|| arrived.find(said)))
}

/// How words compare with a text in which they stand at a place, or nowhere.
fn form_at(said: &str, arrived: &str, place: Option<usize>) -> DeliveryForm {
    match place {
        _ if said == arrived => DeliveryForm::Verbatim,
        Some(_) if said.is_empty() => DeliveryForm::Changed,
        Some(_) if arrived.ends_with(said) => DeliveryForm::Prefixed,
        Some(_) => DeliveryForm::Included,
        None => DeliveryForm::Changed,
    }
}
