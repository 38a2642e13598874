//! `cargo xtask schemas`: writes everything that describes our JSON, generated from the types.
//!
//! `docs/schema/*.json` are the session documents of both standards; `docs/schema/json/` is what
//! commands print with `--json`: a JSON Schema for each document, and TypeScript for all of them.
//! `docs/schema/openapi.json` describes what the server gives.

mod documents;
mod openapi;
mod typescript;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use documents::DOCUMENTS;

use crate::Outcome;

const FOLDER: &str = "docs/schema/json";

pub(crate) fn run(root: &Path) -> Outcome {
    fs::create_dir_all(root.join(FOLDER))?;
    for (path, text) in generated()? {
        fs::write(root.join(&path), text)?;
        println!("{path}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The expected content of every file, by its path.
fn generated() -> Result<BTreeMap<String, String>, String> {
    let mut files = BTreeMap::from([
        ("docs/schema/std-001.json".to_owned(), antiphon_documents::std_001()),
        ("docs/schema/std-008.json".to_owned(), antiphon_documents::std_008()),
    ]);
    for document in DOCUMENTS {
        let text = format!("{:#}\n", document.schema());
        files.insert(format!("{FOLDER}/{}.json", document.file_stem()), text);
    }
    files.insert("docs/schema/openapi.json".to_owned(), openapi::document());
    files.insert(format!("{FOLDER}/antiphon.d.ts"), typescript::of(DOCUMENTS)?);
    Ok(files)
}

#[cfg(test)]
mod tests;
