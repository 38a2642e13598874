//! Searching files for secrets.

use std::io;
use std::path::{Path, PathBuf};

use antiphon_redact::{Counts, Redactor};
use antiphon_sources::each_chunk;
use serde::{Serialize, Serializer};

/// The secrets in some files.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScanReport {
    /// Every secret, file after file.
    pub findings: Vec<FoundSecret>,
    /// The number of secrets for each rule that found any.
    #[serde(serialize_with = "by_rule")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, u64>"))]
    pub counts: Counts,
    /// The number of files that were searched.
    pub files: usize,
    /// The files that could not be read.
    #[serde(skip)]
    pub failed: Vec<(PathBuf, io::Error)>,
}

/// A secret that was found, without its text.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundSecret {
    /// The file in which it is.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The rule that found it; `docs/redaction.md` lists the rules.
    pub rule: &'static str,
    /// Its first four characters, or fewer for a short secret, and `…`.
    pub excerpt: String,
}

fn by_rule<S: Serializer>(counts: &Counts, serializer: S) -> Result<S::Ok, S::Error> {
    counts.by_rule().serialize(serializer)
}

/// Searches files of any kind for secrets.
pub fn scan(files: &[PathBuf], redactor: &Redactor) -> ScanReport {
    let mut report = ScanReport { files: files.len(), ..ScanReport::default() };
    for path in files {
        if let Err(error) = report.add(path, redactor) {
            report.failed.push((path.clone(), error));
        }
    }
    report
}

impl ScanReport {
    fn add(&mut self, path: &Path, redactor: &Redactor) -> io::Result<()> {
        each_chunk(path, |chunk| {
            let (mut line, mut at) = (chunk.line, 0);
            for finding in redactor.find_document(chunk.text) {
                if !(chunk.from..chunk.to).contains(&finding.range.start) {
                    continue;
                }
                let passed = chunk.text.get(at..finding.range.start).unwrap_or_default();
                line += passed.bytes().filter(|&byte| byte == b'\n').count();
                at = finding.range.start;
                let secret = chunk.text.get(finding.range).unwrap_or_default();
                self.counts.add(finding.rule);
                let (file, rule) = (path.display().to_string(), finding.rule);
                self.findings.push(FoundSecret { file, line, rule, excerpt: excerpt(secret) });
            }
        })
    }
}

/// The first characters: enough to recognise it, too few to use it. Fewer for a short one.
fn excerpt(secret: &str) -> String {
    const SHOWN: usize = 4;
    let shown = SHOWN.min(secret.chars().count() / 4);
    secret.chars().take(shown).chain(['…']).collect()
}
