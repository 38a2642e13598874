//! The list of what is kept, and what it cost.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use antiphon_catalog::{CatalogError, Key, Row, SessionQuery, SessionSort, Summary};
use antiphon_sources::Opened;
use antiphon_views::{Prices, Totals, cost};

use crate::catalogue::{Catalogue, Progress};
use crate::stored::Place;
use crate::texts::KeptTexts;
use crate::{LeftOut, Store, StoredSession};

/// A session, and what it cost.
#[derive(Debug, Clone)]
pub struct Listed {
    pub session: StoredSession,
    pub totals: Totals,
    /// Whether something of it is not what was written.
    pub is_damaged: bool,
}

/// The sessions that were asked for, and those that could not be read or are damaged.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// The first of them.
    pub sessions: Vec<Listed>,
    /// What all of them call themselves, in no order.
    pub ids: Vec<Box<str>>,
    pub left_out: Vec<LeftOut>,
}

impl Store {
    /// The first sessions that are wanted, in an order. `status` is the word for how they stand
    /// now, if that matters: no catalogue knows whether somebody still writes.
    pub fn list(
        &self,
        query: &SessionQuery,
        status: Option<&str>,
        sort: SessionSort,
        limit: usize,
        progress: Progress<'_>,
    ) -> Result<List, CatalogError> {
        let mut catalogue = self.catalogue(progress)?;
        let damaged = self.damaged();
        if status.is_none()
            && let Some(list) = page(&mut catalogue, &damaged, query, sort, limit)?
        {
            return Ok(list);
        }
        let sessions = catalogue.sessions()?;
        let texts = KeptTexts::new(self, &sessions);
        let summaries: Vec<&Summary> = sessions.iter().map(|session| &session.summary).collect();
        let found = catalogue.ask(|catalog| catalog.list(&summaries, query, sort, &texts))?;
        drop(texts);
        let places: HashMap<Key, usize> =
            sessions.iter().zip(0..).map(|(it, at)| (it.key.clone(), at)).collect();
        let mut sessions: Vec<Option<StoredSession>> = sessions.into_iter().map(Some).collect();
        let listed = |(key, totals): (Key, Totals)| {
            let session = sessions.get_mut(*places.get(&key)?)?.take()?;
            let is_damaged = damaged.contains_key(&key);
            Some(Listed { session, totals, is_damaged })
        };
        let mut sessions: Vec<Listed> = found.into_iter().filter_map(listed).collect();
        if let Some(status) = status {
            sessions.retain(|it| it.session.standing().status.as_str() == status);
        }
        let ids = sessions.iter().map(|it| it.session.session_id.as_str().into()).collect();
        sessions.truncate(limit);
        Ok(List { sessions, ids, left_out: catalogue.left_out() })
    }
}

/// The row of a session that is not kept: the file at `path`, opened. Nothing, if it has no events.
pub fn listed_file(path: &Path, opened: &Opened, prices: &Prices) -> Option<Listed> {
    let place = Place::of_file(path)?;
    let own = opened.session.info().session_id.as_deref();
    let name = own.unwrap_or(&opened.name);
    let row = Row::of(&place.subject(name, opened.format), &opened.session);
    let session = StoredSession::of_row(&place, row)?;
    let totals = cost(&opened.session, name, prices).total;
    Some(Listed { session, totals, is_damaged: false })
}

/// The list as the catalogue alone can tell it; nothing, where what is recorded may be a part of
/// what is copied, or texts have to be read.
fn page(
    catalogue: &mut Catalogue<'_>,
    damaged: &BTreeMap<Key, LeftOut>,
    query: &SessionQuery,
    sort: SessionSort,
    limit: usize,
) -> Result<Option<List>, CatalogError> {
    if !catalogue.has_copies_only() || query.tool.is_some() || query.file.is_some() {
        return Ok(None);
    }
    let page = catalogue.ask(|catalog| catalog.page(query, sort, limit))?;
    let Some(places) = catalogue.take_places() else { return Ok(None) };
    let listed = |(row, totals): (Row, Totals)| {
        let is_damaged = damaged.contains_key(&row.key);
        let session = StoredSession::of_row(&places.find(&row.key)?, row)?;
        Some(Listed { session, totals, is_damaged })
    };
    let sessions = page.rows.into_iter().filter_map(listed).collect();
    Ok(Some(List { sessions, ids: page.ids, left_out: catalogue.left_out() }))
}
