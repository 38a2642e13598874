//! Agents' sessions on this machine, found without writing anything.

use std::path::{Path, PathBuf};

use antiphon_catalog::{Origin, Row};
use antiphon_model::{Standing, Timestamp};
use antiphon_sources::activity::changed_at;
use antiphon_sources::{LOG_FORMAT, format_of};
use serde::{Serialize, Serializer};

use crate::stats::trouble;
use crate::stored::{Glance, glance_at_file, glance_at_log};
use crate::sync::{SourceFolder, files, main_files, source_folders};
use crate::{Environment, Store};

const DAY_MILLIS: i64 = 86_400_000;
const WEEK_MILLIS: i64 = 7 * DAY_MILLIS;

/// A folder in which an agent keeps sessions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceReport {
    /// The agent.
    pub agent: &'static str,
    /// The folder.
    #[serde(serialize_with = "shown")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub path: PathBuf,
    /// The number of sessions in it.
    pub sessions: usize,
    /// The number of files among them that are not sessions, as far as is known.
    pub other_files: usize,
    /// After how many days without a change the agent deletes a session; null if it never does.
    pub deletes_after_days: Option<u32>,
    /// How many sessions will be deleted within a week.
    pub soon_deleted: usize,
    /// How many of those are past that limit already, and may be deleted at any time.
    pub overdue: usize,
    /// When the first of the others will be deleted.
    pub first_goes_at: Option<Timestamp>,
}

/// Paths are shown even if they are not valid UTF-8.
fn shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// A session, as far as the ends of its file show.
#[derive(Debug)]
pub struct Recent {
    pub agent: &'static str,
    pub path: PathBuf,
    pub changed_at: Timestamp,
    pub title: Option<String>,
    /// The folder in which it worked.
    pub project: Option<String>,
    /// `None` for what cannot be read.
    pub standing: Option<Standing>,
}

/// The agents' folders, and what will be deleted soon.
pub fn source_reports(environment: &Environment, now: Timestamp) -> Vec<SourceReport> {
    source_folders(environment).iter().map(|folder| report(folder, now)).collect()
}

fn report(folder: &SourceFolder, now: Timestamp) -> SourceReport {
    let files = main_files(folder);
    let goes_at = |file: &PathBuf| {
        let kept = i64::from(folder.deletes_after_days?) * DAY_MILLIS;
        Some(changed_at(file)?.as_millis().saturating_add(kept))
    };
    let soon = |goes_at: &i64| *goes_at < now.as_millis().saturating_add(WEEK_MILLIS);
    let soon: Vec<i64> = files.iter().filter_map(goes_at).filter(soon).collect();
    SourceReport {
        agent: folder.agent,
        path: folder.path.clone(),
        sessions: files.len(),
        other_files: 0,
        deletes_after_days: folder.deletes_after_days,
        soon_deleted: soon.len(),
        overdue: soon.iter().filter(|goes_at| **goes_at <= now.as_millis()).count(),
        first_goes_at: soon
            .into_iter()
            .filter(|goes_at| *goes_at > now.as_millis())
            .min()
            .map(Timestamp::from_millis),
    }
}

/// What was changed later than this is looked at, because it may be running.
const RUNNING_MILLIS: i64 = 120_000;

/// The sessions that changed last: of every agent, and those that were recorded. More than `limit`
/// only if they changed so lately that they may be running.
pub fn recent(environment: &Environment, limit: usize, now: Timestamp) -> Vec<Recent> {
    let folders = source_folders(environment);
    let files = folders.iter().flat_map(|folder| {
        let agent = folder.agent;
        main_files(folder)
            .into_iter()
            .filter_map(move |path| Some(Recent::unread(agent, changed_at(&path)?, path)))
    });
    let store = Store::open_default(environment).ok();
    let places = store.iter().flat_map(Store::places);
    let recorded = places.filter(|place| place.origin == Origin::Recorded);
    let recorded = recorded.map(|place| Recent::unread(LOG_FORMAT, place.changed_at, place.folder));
    let mut all: Vec<Recent> = files.chain(recorded).collect();
    all.sort_by(|a, b| b.changed_at.cmp(&a.changed_at).then_with(|| a.path.cmp(&b.path)));
    let is_new = |it: &Recent| now.since(it.changed_at) < RUNNING_MILLIS;
    all.truncate(all.iter().take_while(|it| is_new(it)).count().max(limit));
    all.iter_mut().for_each(Recent::read);
    all
}

impl Recent {
    fn unread(agent: &'static str, changed_at: Timestamp, path: PathBuf) -> Self {
        Self { agent, path, changed_at, title: None, project: None, standing: None }
    }

    /// Reads the ends of its file.
    fn read(&mut self) {
        let found = match self.agent == LOG_FORMAT {
            true => glance_at_log(&self.path),
            false => glance_at_file(&self.path, self.changed_at),
        };
        if let Some(Glance { title, project, standing }) = found {
            (self.title, self.project, self.standing) = (title, project, Some(standing));
        }
    }
}

/// A problem with a file or a stored session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trouble {
    /// A file, or the id of a stored session.
    pub at: String,
    /// What is wrong.
    pub what: String,
}

/// The problems with agents' files and with stored sessions.
pub(crate) fn troubles(environment: &Environment, store: &Store) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    let mut add = |at: String, what: String| troubles.push(Trouble { at, what });
    for folder in source_folders(environment) {
        let files = files(&folder).unwrap_or_else(|error| {
            add(folder.path.display().to_string(), error.to_string());
            Vec::new()
        });
        for file in files {
            let is_empty = file.metadata().is_ok_and(|it| it.len() == 0);
            match format_of(&file) {
                Ok(format) if format.is_some_and(|it| it.name == folder.agent) || is_empty => {}
                Ok(_) => {
                    let what = format!("not a valid {} session", folder.agent);
                    add(file.display().to_string(), what);
                }
                Err(_) => add(file.display().to_string(), "cannot be read".to_owned()),
            }
        }
    }
    let mut rows: Vec<Row> = store.known_rows().into_values().collect();
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    troubles.extend(rows.into_iter().filter_map(|row| trouble(row.session_id, row.problems)));
    let mut add = |at: String, what: String| troubles.push(Trouble { at, what });
    for left_out in store.damaged().into_values() {
        add(left_out.session, format!("damaged: {}", left_out.what));
    }
    if store.aside().is_file() {
        let what = "a damaged catalogue that was set aside and rebuilt; this file can be deleted";
        add(store.aside().display().to_string(), what.to_owned());
    }
    troubles
}
