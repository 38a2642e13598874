//! Every request that a session's cost is made of, with the file in which it is.

use std::path::PathBuf;

use antiphon_formats::Duplicate;
use antiphon_model::Session;
use antiphon_views::{LedgerRow, Prices, ledger};
use serde::Serialize;

/// Every request that was counted, and every record that was not. The counted ones add up to the
/// session's total.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostLedger {
    /// The requests that count, in the order of the log.
    pub counted: Vec<CountedRequest>,
    /// Records that repeat what another record says.
    pub dropped: Vec<DroppedRecord>,
}

/// A request that counts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountedRequest {
    /// The file in which it is.
    pub file: String,
    #[serde(flatten)]
    pub row: LedgerRow,
}

/// A record that does not count, because another record says the same.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DroppedRecord {
    /// The file in which it is.
    pub file: String,
    /// The line in that file, from 1.
    pub line: u64,
    /// The id of the message that counts instead.
    pub message_id: String,
    /// Why it does not count.
    pub reason: &'static str,
}

/// The ledger of a session.
///
/// `files` are the streams of the session, `duplicates` its records that repeat others.
pub fn cost_ledger(
    session: &Session,
    files: &[PathBuf],
    duplicates: &[Duplicate],
    prices: &Prices,
) -> CostLedger {
    let file = |stream: u32| {
        let path = files.get(stream as usize);
        path.map(|path| path.display().to_string()).unwrap_or_default()
    };
    let counted = ledger(session, prices).into_iter();
    let counted = counted.map(|row| CountedRequest { file: file(row.stream), row });
    let dropped = duplicates.iter().map(|duplicate| DroppedRecord {
        file: file(duplicate.place.stream),
        line: duplicate.line,
        message_id: duplicate.message_id.clone(),
        reason: duplicate.reason,
    });
    CostLedger { counted: counted.collect(), dropped: dropped.collect() }
}
