//! What the kept sessions did in a time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Mutex;

use antiphon_catalog::{CatalogError, Key, Origin, SessionQuery};
use antiphon_model::{TimeRange, on_every_processor};
use antiphon_redact::Redactor;
use antiphon_views::{Digest, DigestSubject, DigestedSession, Totals, digest_session};
use serde::Serialize;

use crate::catalogue::Progress;
use crate::damaged::with_causes;
use crate::{LeftOut, Store, StoredSession, root_of};

/// What sessions did, and which of them could not be read.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DigestReport {
    #[serde(flatten)]
    pub digest: Digest,
    /// The kept sessions that could not be read or are damaged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

impl Store {
    /// What the sessions that are wanted did in a time; with a redactor, without their secrets.
    pub fn digest(
        &self,
        wanted: &SessionQuery,
        range: &TimeRange,
        redactor: Option<&Redactor>,
        progress: Progress<'_>,
    ) -> Result<DigestReport, CatalogError> {
        let mut catalogue = self.catalogue(progress)?;
        let sessions = catalogue.sessions()?;
        let mut costs: BTreeMap<Key, Totals> = BTreeMap::new();
        for sum in catalogue.ask(|catalog| catalog.sums(range, None))? {
            *costs.entry(sum.session).or_default() += sum.totals;
        }
        let is_copy = |session: &&StoredSession| session.origin == Origin::Archived;
        let copied: BTreeSet<&str> =
            sessions.iter().filter(is_copy).map(|session| session.session_id.as_str()).collect();
        // A recording says the same as the agent's own file.
        let counts = |session: &&StoredSession| {
            let is_beside = !is_copy(session) && copied.contains(&*session.session_id);
            wanted.wants(session) && !session.is_part && !is_beside
        };
        let chosen: Vec<&StoredSession> = sessions.iter().filter(counts).collect();
        let found = Mutex::new((Vec::new(), Vec::new()));
        on_every_processor(&chosen, |number, session| {
            let totals = costs.get(&session.key).copied().unwrap_or_default();
            let done = digested(session, range, totals, redactor);
            if let Ok(mut found) = found.lock() {
                match done {
                    Ok(Some((project, row))) => found.0.push((number, project, row, totals)),
                    Ok(None) => {}
                    Err(left_out) => found.1.push(left_out),
                }
            }
            ControlFlow::Continue(())
        });
        let (mut rows, mut failed) = found.into_inner().unwrap_or_default();
        rows.sort_by_key(|(number, ..)| *number);
        let rows = rows.into_iter().map(|(_, project, row, totals)| (project, row, totals));
        let digest = Digest::of(rows.collect());
        failed.sort_by(|a: &LeftOut, b: &LeftOut| a.session.cmp(&b.session));
        let mut left_out = catalogue.left_out();
        left_out.extend(failed);
        Ok(DigestReport { digest, left_out })
    }
}

/// The project of a session, and what it did.
fn digested(
    session: &StoredSession,
    range: &TimeRange,
    totals: Totals,
    redactor: Option<&Redactor>,
) -> Result<Option<(Option<String>, DigestedSession)>, LeftOut> {
    let failed = |what: String| LeftOut { session: session.session_id.clone(), what };
    let opened = crate::open(&session.path()).map_err(|error| failed(with_causes(&error)))?;
    let opened = match redactor {
        Some(redactor) => opened.redacted(redactor),
        None => opened,
    };
    let root = root_of(session.project.as_deref());
    let subject = DigestSubject {
        session_id: &session.session_id,
        agent: session.agent.as_deref(),
        root: root.as_deref(),
        status: session.standing().status,
        totals,
    };
    let row = digest_session(&opened.reading(), &subject, range);
    let row = row.map_err(|error| failed(with_causes(&error)))?;
    Ok(row.map(|row| (root, row)))
}
