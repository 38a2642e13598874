//! The description of the API, as it is committed in `docs/schema/openapi.json`. It is made from the
//! table of routes and the schemas of the documents by `cargo xtask schemas`.

/// What is served.
pub(crate) const DOCUMENT: &str = include_str!("../../../docs/schema/openapi.json");
