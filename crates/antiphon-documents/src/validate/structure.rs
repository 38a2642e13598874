//! Whether every required member is there and has the right type, according to the schema of the
//! standard. What a finding about an old format explains is not reported again.

use std::collections::BTreeSet;

use super::at::At;
use super::schema::Schema;
use super::{DocumentFinding, Findings, Standard};

/// `explained` contains pointers to what a finding about an old format already covers.
pub(super) fn check(
    root: &At<'_>,
    standard: Standard,
    explained: &BTreeSet<String>,
    findings: &mut Findings,
) {
    let schema = Schema::of(standard);
    let mut found = Findings::default();
    schema.walk(schema.root, root, &mut found);
    found.kept.retain(|finding| !is_explained(explained, &finding.path));
    // The remaining findings decide; those that were not listed cannot be checked, so they count as
    // errors.
    found.has_error = found.omitted > 0 || found.kept.iter().any(DocumentFinding::is_error);
    findings.append(found);
}

/// Whether a finding about an old format covers a path, or a parent of it.
pub(super) fn is_explained(explained: &BTreeSet<String>, path: &str) -> bool {
    let mut ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    ends.any(|end| path.get(..end).is_some_and(|above| explained.contains(above)))
}
