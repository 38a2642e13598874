//! A note on what a cost is based on.

use antiphon_views::{CostBasis, Totals};

/// The note, if the cost is not by list prices alone, or if the agent itself reports another one.
pub(crate) fn cost_note(totals: &Totals) -> Option<String> {
    let declared = totals.declared()?;
    let dollars = |amount| format!("${amount:.4}");
    match totals.basis()? {
        CostBasis::Declared => Some("as reported by the agent".to_owned()),
        CostBasis::Mixed => {
            let (priced, filled) = (dollars(totals.priced), dollars(totals.filled));
            let both = format!("{priced} by list price, {filled} as reported by the agent");
            // Requests with a price may have a reported cost as well.
            let in_all = dollars(declared);
            Some(if in_all == filled {
                both
            } else {
                format!("{both}, which reports {in_all} in total")
            })
        }
        CostBasis::Priced if dollars(declared) != dollars(totals.priced) => {
            Some(format!("by list price; the agent reports {} in total", dollars(declared)))
        }
        CostBasis::Priced => None,
    }
}
