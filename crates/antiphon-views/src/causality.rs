//! Every link in the session, with its kind and its basis.

use antiphon_model::{Basis, BodyError, Link, LinkKind};
use serde::Serialize;

use crate::Reading;

#[derive(Debug, Serialize)]
pub struct Causality {
    pub links: Vec<LinkRow>,
}

#[derive(Debug, Serialize)]
pub struct LinkRow {
    pub from: String,
    pub to: String,
    pub kind: LinkKind,
    pub basis: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
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
        basis: basis_word(link.basis),
        rule: rule_of(link.basis),
    }
}

pub(crate) fn basis_word(basis: Basis) -> &'static str {
    match basis {
        Basis::Recorded => "recorded",
        Basis::Inferred(_) => "inferred",
    }
}

pub(crate) fn rule_of(basis: Basis) -> Option<&'static str> {
    match basis {
        Basis::Recorded => None,
        Basis::Inferred(rule) => Some(rule.as_str()),
    }
}
