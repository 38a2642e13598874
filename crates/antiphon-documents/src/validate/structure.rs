//! Is everything there, and of its type? The schema of the standard says; what an old shape has
//! explained is not said twice.

use std::collections::BTreeSet;

use super::at::At;
use super::schema::Schema;
use super::{DocumentFinding, Findings, Standard};

/// `explained`: pointers to what a finding on an old shape has told already.
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
    // What is left decides; what was not kept was told by nobody.
    found.has_error = found.untold > 0 || found.kept.iter().any(DocumentFinding::is_error);
    findings.append(found);
}

/// Whether a finding on an old shape has told of a place, or of what it stands in.
pub(super) fn is_explained(explained: &BTreeSet<String>, path: &str) -> bool {
    let mut ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    ends.any(|end| path.get(..end).is_some_and(|above| explained.contains(above)))
}
