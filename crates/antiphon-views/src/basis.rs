//! What is recorded, and what is inferred.

use antiphon_model::{Basis, Rule};
use serde::Serialize;

/// Whether a fact is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FactBasis {
    /// The log says so.
    Recorded,
    /// The log does not say so; it follows from other facts by a named rule.
    Inferred,
}

impl FactBasis {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Inferred => "inferred",
        }
    }
}

impl From<Basis> for FactBasis {
    fn from(basis: Basis) -> Self {
        match basis {
            Basis::Recorded => Self::Recorded,
            Basis::Inferred(_) => Self::Inferred,
        }
    }
}

/// The rule by which something was inferred, if it was.
pub(crate) fn rule_of(basis: Basis) -> Option<Rule> {
    match basis {
        Basis::Recorded => None,
        Basis::Inferred(rule) => Some(rule),
    }
}
