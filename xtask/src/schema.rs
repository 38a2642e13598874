//! `cargo xtask schema`: writes the JSON Schemas of the session documents, made from their types.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::Outcome;

type Schema = (&'static str, fn() -> String);

const SCHEMAS: &[Schema] = &[
    ("docs/schema/std-001.json", antiphon_documents::std_001),
    ("docs/schema/std-008.json", antiphon_documents::std_008),
];

pub(crate) fn run(root: &Path) -> Outcome {
    for (path, schema) in SCHEMAS {
        fs::write(root.join(path), schema())?;
        println!("{path}");
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_are_those_of_the_types() {
        for (path, schema) in SCHEMAS {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            let committed = fs::read_to_string(root.join(path)).unwrap();
            assert!(committed == schema(), "{path} is old: run `cargo xtask schema`");
        }
    }
}
