//! What a sum of money rests on, in words.

use antiphon_views::{CostBasis, Totals};

/// Says how a cost was found, where it is not by prices alone, or where the agent itself declares
/// another one.
pub(crate) fn cost_note(totals: &Totals) -> Option<String> {
    let declared = totals.declared()?;
    let dollars = |amount| format!("${amount:.4}");
    match totals.basis()? {
        CostBasis::Declared => Some("as reported by the agent".to_owned()),
        CostBasis::Mixed => {
            let (priced, filled) = (dollars(totals.priced), dollars(totals.filled));
            let both = format!("{priced} by list price, {filled} as reported by the agent");
            // What is priced may be declared as well.
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
