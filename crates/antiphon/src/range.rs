//! `--since`, `--until` and `--utc`: the same words mean the same times in every command.

use antiphon_journal::{Clock as _, SystemClock};
use antiphon_model::{NotAMoment, TimeRange, Zone, parse_moment};
use clap::Args;

use crate::failure::UserError;

#[derive(Debug, Args)]
pub(crate) struct RangeArgs {
    /// Only what happened at or after this time: today, monday, 7d, 2 weeks, 2026-11-01 …
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what happened before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Use days of UTC instead of the local time zone
    #[arg(long)]
    utc: bool,
}

impl RangeArgs {
    /// The zone whose days are meant.
    pub(crate) fn zone(&self) -> Zone {
        zone(self.utc)
    }

    /// The same, from a time that is meant if no beginning is given.
    pub(crate) fn range_or(&self, since: &str) -> anyhow::Result<TimeRange> {
        let mut range = self.range()?;
        if range.is_open() {
            let since = parse_moment(since, SystemClock.now(), &self.zone());
            range.since = Some(since.map_err(|error| refused(&error))?);
        }
        Ok(range)
    }

    pub(crate) fn range(&self) -> anyhow::Result<TimeRange> {
        let (now, zone) = (SystemClock.now(), self.zone());
        let parse = |text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| parse_moment(text, now, &zone))
                .transpose()
                .map_err(|error| refused(&error))
        };
        Ok(TimeRange { since: parse(&self.since)?, until: parse(&self.until)? })
    }
}

/// The zone in which times are shown.
pub(crate) fn zone(utc: bool) -> Zone {
    if utc { Zone::utc() } else { local_zone() }
}

/// The zone of this machine, as `TZ` or the system's settings say; UTC if neither does.
pub(crate) fn local_zone() -> Zone {
    Zone::new(jiff::tz::TimeZone::system())
}

fn refused(error: &NotAMoment) -> UserError {
    let examples = NotAMoment::EXAMPLES;
    UserError::usage(error.to_string()).hint(format!("for example {examples}"))
}
