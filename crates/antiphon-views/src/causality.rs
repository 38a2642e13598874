//! Every link in the session, with its kind and its basis.

use antiphon_model::{BodyError, Link, LinkKind, Rule};
use serde::Serialize;

use crate::basis::rule_of;
use crate::{FactBasis, Reading};

/// Why each event of a session is there.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Causality {
    /// All links, in the order of the events to which they lead.
    pub links: Vec<LinkRow>,
}

/// A link from one event to another that it led to.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkRow {
    /// The id of the earlier message. The log need not contain it.
    pub from: String,
    /// The id of the message that followed from it.
    pub to: String,
    /// What connects them.
    pub kind: LinkKind,
    /// Whether the link is recorded or inferred.
    pub basis: FactBasis,
    /// The rule by which it was inferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

pub fn causality(reading: &Reading<'_>) -> Result<Causality, BodyError> {
    let links = reading.session.links(reading.bodies)?;
    Ok(Causality { links: links.iter().map(|link| link_row(reading, link)).collect() })
}

pub(crate) fn link_row(reading: &Reading<'_>, link: &Link<'_>) -> LinkRow {
    LinkRow {
        from: reading.id_of(link.from).to_owned(),
        to: reading.session.entry(link.to).id().to_owned(),
        kind: link.kind,
        basis: link.basis.into(),
        rule: rule_of(link.basis),
    }
}
