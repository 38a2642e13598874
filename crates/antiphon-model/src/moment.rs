//! A point in time as a person types it: `today`, `monday`, `7d`, `2 weeks`, `2026-11-01`.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::{Span, ToSpan as _};
use thiserror::Error;

use crate::{Timestamp, Zone};

/// What was typed is no point in time.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not a day or a time")]
pub struct NotAMoment(String);

impl NotAMoment {
    /// What can be typed instead.
    pub const EXAMPLES: &str =
        "today, yesterday, monday, 7d, 2 weeks, 2026-11-01 or 2026-11-01T09:30:00Z";
}

/// Parses a point in time. A day means its beginning in the zone, a weekday the last such day,
/// today included; a number of hours, days, weeks or months is counted back from `now`.
pub fn parse_moment(text: &str, now: Timestamp, zone: &Zone) -> Result<Timestamp, NotAMoment> {
    let word = text.trim().to_ascii_lowercase();
    let found = named_day(&word, now, zone)
        .or_else(|| before(&word, now, zone))
        .or_else(|| Timestamp::parse(text.trim()))
        .or_else(|| date(text.trim(), zone));
    found.ok_or_else(|| NotAMoment(text.to_owned()))
}

fn named_day(word: &str, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let today = zone.local(now)?.date();
    let day = match word {
        "now" => return Some(now),
        "today" => today,
        "yesterday" => today.yesterday().ok()?,
        _ => {
            let wanted = weekday(word)?;
            let back = today.weekday().since(wanted);
            today.checked_sub(i64::from(back).days()).ok()?
        }
    };
    zone.midnight(day)
}

fn weekday(word: &str) -> Option<Weekday> {
    let days = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    // `mon`, `tues` and so on.
    let found = days.iter().find(|(name, _)| word.len() >= 3 && name.starts_with(word));
    found.map(|(_, day)| *day)
}

/// A number and a unit: `7d`, `2 weeks`, `36 hours ago`.
fn before(word: &str, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let word = word.strip_suffix("ago").unwrap_or(word).trim();
    let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = word.split_at_checked(digits)?;
    let number: i64 = number.parse().ok()?;
    let span = match unit.trim_start() {
        "m" | "min" | "minute" | "minutes" => Span::new().try_minutes(number),
        "h" | "hour" | "hours" => Span::new().try_hours(number),
        "d" | "day" | "days" => Span::new().try_days(number),
        "w" | "week" | "weeks" => Span::new().try_weeks(number),
        "month" | "months" => Span::new().try_months(number),
        "y" | "year" | "years" => Span::new().try_years(number),
        _ => return None,
    };
    let span = span.ok()?;
    if span.get_hours() != 0 || span.get_minutes() != 0 {
        // Clocks that are set in between do not change how long an hour is.
        let millis = i64::from(span.get_hours()) * 3_600_000 + span.get_minutes() * 60_000;
        return now.as_millis().checked_sub(millis).map(Timestamp::from_millis);
    }
    zone.time_of(zone.local(now)?.checked_sub(span).ok()?)
}

/// A date, a month, or a date with a time, in the zone.
fn date(text: &str, zone: &Zone) -> Option<Timestamp> {
    let is_month = text.len() == "2026-11".len();
    if let Ok(day) = if is_month { format!("{text}-01").parse() } else { text.parse::<Date>() }
        && text.len() <= "2026-11-01".len()
    {
        return zone.midnight(day);
    }
    zone.time_of(text.parse::<DateTime>().ok()?)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    fn check(zone: &Zone, cases: &[(&str, &str)]) {
        // A Tuesday.
        let now = Timestamp::parse("2026-03-10T12:30:00Z").unwrap();
        for (text, wanted) in cases {
            let at = parse_moment(text, now, zone).map(Timestamp::to_short);
            assert_eq!(at.as_deref(), Ok(*wanted), "{text}");
        }
    }

    #[test]
    fn days_are_typed_as_people_write_them() {
        check(
            &Zone::utc(),
            &[
                ("today", "2026-03-10T00:00:00Z"),
                ("Yesterday", "2026-03-09T00:00:00Z"),
                ("tuesday", "2026-03-10T00:00:00Z"),
                ("monday", "2026-03-09T00:00:00Z"),
                ("wed", "2026-03-04T00:00:00Z"),
                ("2026-03-01", "2026-03-01T00:00:00Z"),
                ("2026-03", "2026-03-01T00:00:00Z"),
                ("2026-03-01T05:00:00Z", "2026-03-01T05:00:00Z"),
                ("2026-03-01T05:00:00+05:30", "2026-02-28T23:30:00Z"),
                ("2026-03-01 05:00", "2026-03-01T05:00:00Z"),
                ("7d", "2026-03-03T12:30:00Z"),
                ("2 weeks", "2026-02-24T12:30:00Z"),
                ("2w", "2026-02-24T12:30:00Z"),
                ("1 month", "2026-02-10T12:30:00Z"),
                ("36h", "2026-03-09T00:30:00Z"),
                ("90 minutes ago", "2026-03-10T11:00:00Z"),
            ],
        );
    }

    #[test]
    fn days_begin_in_the_zone() {
        let east = Zone::new(TimeZone::posix("IST-5:30").unwrap());
        check(
            &east,
            &[
                ("today", "2026-03-09T18:30:00Z"),
                ("2026-03-01", "2026-02-28T18:30:00Z"),
                ("2026-03-01 05:00", "2026-02-28T23:30:00Z"),
                ("2026-03-01T05:00:00Z", "2026-03-01T05:00:00Z"),
            ],
        );
    }

    #[test]
    fn anything_else_is_refused_and_named() {
        let now = Timestamp::from_millis(0);
        let huge = "9".repeat(40) + "d";
        for wrong in [
            "",
            "d",
            "-7d",
            "7",
            "mo",
            "tomorrow",
            "someday",
            "2026-13-01",
            "9999999999 years",
            &huge,
        ] {
            let error = parse_moment(wrong, now, &Zone::utc()).unwrap_err();
            assert_eq!(error.to_string(), format!("`{wrong}` is not a day or a time"));
        }
    }
}
