//! The description of what the server gives: its routes, with the schemas of the documents.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::documents::DOCUMENTS;

/// The text of `docs/schema/openapi.json`.
pub(super) fn document() -> String {
    let settings = SchemaSettings::draft2020_12();
    let settings = settings.with(|it| it.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let mut schemas = antiphon_server::openapi::own_schemas(&mut generator);
    for document in DOCUMENTS {
        schemas.insert(document.file_stem(), Value::from((document.define)(&mut generator)));
    }
    let definitions = generator.take_definitions(true);
    let document = antiphon_server::openapi::describe(&schemas, &definitions);
    format!("{document:#}\n")
}
