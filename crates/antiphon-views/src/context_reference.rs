//! The context that calls used: the context references of STD-001, inferred.
//!
//! A call that perceives a file reads it, one that acts on it modifies it, and a file that is
//! modified after it was read is `read_then_modified`.

use std::collections::BTreeMap;

use antiphon_model::{BodyError, CallIx};
use serde::Serialize;

use crate::calls::has_failed;
use crate::files::{FileAction, touches};
use crate::{Category, Reading, category};
use antiphon_model::Arguments;

/// Something that calls drew upon, in the standard's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextReference {
    #[serde(rename = "type")]
    pub kind: ContextType,
    /// The path, as it was recorded.
    pub source: String,
    pub relevance: Relevance,
    pub usage_mode: UsageMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextType {
    ClaudeMd,
    Rule,
    Standard,
    Skill,
    Spec,
    Capability,
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relevance {
    High,
    Medium,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageMode {
    Read,
    Modified,
    ReadThenModified,
}

impl ContextType {
    /// The kind of a path, by the folders to which the standard gives a meaning.
    fn of_path(path: &str) -> Self {
        let path = format!("/{}", path.to_lowercase().replace('\\', "/"));
        let folders = [
            ("/rules/", Self::Rule),
            ("/standards/", Self::Standard),
            ("/skills/", Self::Skill),
            ("/specs/", Self::Spec),
            ("capability", Self::Capability),
        ];
        if path.ends_with("/claude.md") || path.ends_with("/claude.local.md") {
            return Self::ClaudeMd;
        }
        let found = folders.into_iter().find(|(part, _)| path.contains(part));
        found.map_or(Self::File, |(_, kind)| kind)
    }
}

/// The references of some calls, each source once, in the order of their first use.
pub fn context_references(
    reading: &Reading<'_>,
    calls: &[CallIx],
) -> Result<Vec<ContextReference>, BodyError> {
    References::default().of(reading, calls)
}

/// References over several groups of calls: a file that one group reads may be modified in a later
/// one.
#[derive(Debug, Default)]
pub(crate) struct References {
    modes: BTreeMap<String, UsageMode>,
}

impl References {
    pub(crate) fn of(
        &mut self,
        reading: &Reading<'_>,
        calls: &[CallIx],
    ) -> Result<Vec<ContextReference>, BodyError> {
        let mut sources: Vec<String> = Vec::new();
        let mut here: BTreeMap<String, UsageMode> = BTreeMap::new();
        for &ix in calls {
            for (source, modifies) in uses(reading, ix)? {
                let before = self.modes.get(&source).copied();
                let mode = match (before, modifies) {
                    (Some(UsageMode::Read | UsageMode::ReadThenModified), true) => {
                        UsageMode::ReadThenModified
                    }
                    (_, true) => UsageMode::Modified,
                    // Within a group, reading a file again does not undo a change.
                    (_, false) => here.get(&source).copied().unwrap_or(UsageMode::Read),
                };
                if here.insert(source.clone(), mode).is_none() {
                    sources.push(source.clone());
                }
                if before.is_none() || modifies {
                    self.modes.insert(source, mode);
                }
            }
        }
        let reference = |source: String| {
            let usage_mode = here.get(&source).copied().unwrap_or(UsageMode::Read);
            ContextReference {
                kind: ContextType::of_path(&source),
                relevance: match usage_mode {
                    UsageMode::Read => Relevance::Medium,
                    UsageMode::Modified | UsageMode::ReadThenModified => Relevance::High,
                },
                usage_mode,
                source,
            }
        };
        Ok(sources.into_iter().map(reference).collect())
    }
}

/// The files that a call uses, and whether it modifies them.
pub(crate) fn uses(reading: &Reading<'_>, ix: CallIx) -> Result<Vec<(String, bool)>, BodyError> {
    let touched = touches(reading, ix)?;
    if !touched.is_empty() {
        return Ok(touched
            .into_iter()
            .map(|it| (it.path, it.action != FileAction::Read))
            .collect());
    }
    if reading.session.call(ix).is_open() || has_failed(reading, ix) {
        return Ok(Vec::new());
    }
    // For a tool of another name, the category decides what it does with its file.
    let modifies = match category(reading, ix)? {
        Some(Category::Perception) => false,
        Some(Category::Action) => true,
        Some(Category::Interaction | Category::Planning | Category::TaskManagement) | None => {
            return Ok(Vec::new());
        }
    };
    let path = Arguments::of(reading, ix)?.text("file_path");
    Ok(path.map(|path| (path, modifies)).into_iter().collect())
}

#[cfg(test)]
mod tests;
