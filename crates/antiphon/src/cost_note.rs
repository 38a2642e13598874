//! What a sum of money rests on, in words.

use antiphon_views::{Basis, Totals};

/// Says how a cost was found, where it is not by prices alone, or where the agent itself declares
/// another one.
pub(crate) fn cost_note(totals: &Totals) -> Option<String> {
    let declared = totals.declared()?;
    let dollars = |amount| format!("${amount:.4}");
    match totals.basis()? {
        Basis::Declared => Some("as declared by the agent".to_owned()),
        Basis::Mixed => Some(format!(
            "{} by prices, {} as declared by the agent",
            dollars(totals.priced),
            dollars(totals.filled)
        )),
        Basis::Priced if dollars(declared) != dollars(totals.priced) => {
            Some(format!("by prices; the agent declares {}", dollars(declared)))
        }
        Basis::Priced => None,
    }
}
