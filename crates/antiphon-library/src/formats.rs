//! The formats that can be read and written.

use antiphon_formats::FORMATS;
use antiphon_sources::LOG_FORMAT;
use serde::Serialize;

/// A format, and which operations it supports.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FormatSupport {
    /// The name of the format.
    pub name: &'static str,
    /// A description of it.
    pub what: &'static str,
    /// Whether its sessions can be read.
    pub reads: bool,
    /// Whether `export` writes it.
    pub writes: bool,
    /// Whether `tail` can follow a session while it grows.
    pub follows: bool,
    /// Whether `sync` keeps its sessions.
    pub keeps: bool,
    /// The versions that were seen.
    pub versions: &'static str,
}

/// Formats whose writers are in other crates: session documents and transcripts.
const WRITTEN_ELSEWHERE: &[&str] = &["std-session", "transcript"];

/// The log, and every format in the registry.
pub fn formats() -> Vec<FormatSupport> {
    let own = FormatSupport {
        name: LOG_FORMAT,
        what: "event log, one JSON object per line (seed 004 and its dialects)",
        reads: true,
        writes: true,
        follows: true,
        keeps: true,
        versions: "1; unsealed logs in all seven published versions",
    };
    let others = FORMATS.iter().map(|format| FormatSupport {
        name: format.name,
        what: format.what,
        reads: true,
        writes: format.write.is_some() || WRITTEN_ELSEWHERE.contains(&format.name),
        // A stream grows at its end; a document is rewritten.
        follows: format.lines.is_none(),
        keeps: format.layout.kept.is_some(),
        versions: format.versions,
    });
    std::iter::once(own).chain(others).collect()
}
