//! What a sum of money rests on, in words.

use antiphon_views::{Basis, Totals};

/// Says how a cost was found, where it is not by prices alone, or where the agent itself declares
/// another one.
pub(crate) fn cost_note(totals: &Totals) -> Option<String> {
    let declared = totals.declared()?;
    let dollars = |amount| format!("${amount:.4}");
    match totals.basis()? {
        Basis::Declared => Some("as declared by the agent".to_owned()),
        Basis::Mixed => {
            let (priced, filled) = (dollars(totals.priced), dollars(totals.filled));
            let both = format!("{priced} by prices, {filled} as declared by the agent");
            // What is priced may be declared as well.
            let in_all = dollars(declared);
            Some(if in_all == filled {
                both
            } else {
                format!("{both}, which declares {in_all} in all")
            })
        }
        Basis::Priced if dollars(declared) != dollars(totals.priced) => {
            Some(format!("by prices; the agent declares {}", dollars(declared)))
        }
        Basis::Priced => None,
    }
}
