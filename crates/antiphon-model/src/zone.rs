//! A time zone: where days, weeks, months and hours begin.
//!
//! Which zone a person is in is a fact about the machine. Whoever knows it passes it in, so that
//! everything that counts by day stays a pure function.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::Timestamp;

/// The zone whose calendar is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// A span of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    Hour,
    Day,
    /// From Monday to Sunday, numbered as in ISO 8601.
    Week,
    Month,
}

impl Zone {
    pub fn new(zone: TimeZone) -> Self {
        Self(zone)
    }

    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The name of the span that contains a time: `2026-11-01`, `2026-W44`, `2026-11`, or
    /// `2026-11-01T14:00+05:30`. An hour has its offset, because one of them occurs twice when
    /// clocks are set back. `None` for a time that no calendar has.
    pub fn span_name(&self, at: Timestamp, span: Span) -> Option<String> {
        let at = instant(at)?;
        let local = self.0.to_datetime(at);
        let date = local.date();
        Some(match span {
            Span::Day => date.to_string(),
            Span::Month => format!("{:04}-{:02}", date.year(), date.month()),
            Span::Week => {
                let week = date.iso_week_date();
                format!("{:04}-W{:02}", week.year(), week.week())
            }
            Span::Hour => {
                let seconds = self.0.to_offset(at).seconds();
                let sign = if seconds < 0 { '-' } else { '+' };
                let minutes = seconds.abs() / 60;
                let (hours, minutes) = (minutes / 60, minutes % 60);
                format!("{date}T{:02}:00{sign}{hours:02}:{minutes:02}", local.hour())
            }
        })
    }

    /// A time as a person reads it: `2026-11-01 14:05`.
    pub fn minute_name(&self, at: Timestamp) -> Option<String> {
        let local = self.0.to_datetime(instant(at)?);
        Some(format!("{} {:02}:{:02}", local.date(), local.hour(), local.minute()))
    }

    /// The time of day: `14:05`.
    pub fn clock_name(&self, at: Timestamp) -> Option<String> {
        let local = self.local(at)?;
        Some(format!("{:02}:{:02}", local.hour(), local.minute()))
    }

    /// A time as a person says it now: `14:05` today, `Mon 14:05` in the last days, then
    /// `Nov 3`, and `2025-11-03` of another year. It takes at most ten columns.
    pub fn short_name(&self, at: Timestamp, now: Timestamp) -> Option<String> {
        let (local, today) = (self.local(at)?, self.local(now)?.date());
        let (date, clock) = (local.date(), self.clock_name(at)?);
        let days = today.since(date).ok()?.get_days();
        Some(match days {
            0 => clock,
            1..=6 => format!("{} {clock}", local.strftime("%a")),
            _ if date.year() == today.year() => local.strftime("%b %-d").to_string(),
            _ => date.to_string(),
        })
    }

    /// The local date and time.
    pub(crate) fn local(&self, at: Timestamp) -> Option<DateTime> {
        Some(self.0.to_datetime(instant(at)?))
    }

    /// The time at which clocks show this; the later one if they skip it.
    pub(crate) fn time_of(&self, local: DateTime) -> Option<Timestamp> {
        let at = self.0.to_timestamp(local).ok()?;
        Some(Timestamp::from_millis(at.as_millisecond()))
    }

    /// The beginning of a day.
    pub(crate) fn midnight(&self, day: Date) -> Option<Timestamp> {
        self.time_of(day.at(0, 0, 0, 0))
    }
}

fn instant(at: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(at.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_named_by_the_calendar_of_its_zone() {
        let east = Zone::new(TimeZone::posix("IST-5:30").unwrap());
        let check = |zone: &Zone, at: &str| {
            let at = Timestamp::parse(at).unwrap();
            let spans = [Span::Hour, Span::Day, Span::Week, Span::Month];
            spans.map(|span| zone.span_name(at, span).unwrap()).join(" ")
        };
        let at = "2026-10-31T18:45:00Z";
        assert_eq!(check(&Zone::utc(), at), "2026-10-31T18:00+00:00 2026-10-31 2026-W44 2026-10");
        assert_eq!(check(&east, at), "2026-11-01T00:00+05:30 2026-11-01 2026-W44 2026-11");
        assert_eq!(
            check(&east, "2024-12-30T12:00:00Z"),
            "2024-12-30T17:00+05:30 2024-12-30 2025-W01 2024-12"
        );
    }

    #[test]
    fn the_hour_that_occurs_twice_has_two_names() {
        let zone = Zone::new(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap());
        let name = |at: &str| zone.span_name(Timestamp::parse(at).unwrap(), Span::Hour).unwrap();
        assert_eq!(name("2026-10-25T00:30:00Z"), "2026-10-25T02:00+02:00");
        assert_eq!(name("2026-10-25T01:30:00Z"), "2026-10-25T02:00+01:00");
    }

    #[test]
    fn a_time_is_said_as_short_as_it_is_clear() {
        let zone = Zone::new(TimeZone::posix("IST-5:30").unwrap());
        // A Tuesday, 18:00 there.
        let now = Timestamp::parse("2026-03-10T12:30:00Z").unwrap();
        let check = |at: &str, wanted: &str| {
            let said = zone.short_name(Timestamp::parse(at).unwrap(), now).unwrap();
            assert_eq!((at, &*said), (at, wanted));
            assert!(said.len() <= 10);
        };
        check("2026-03-10T12:29:00Z", "17:59");
        check("2026-03-09T18:30:00Z", "00:00");
        check("2026-03-09T18:29:00Z", "Mon 23:59");
        check("2026-03-04T12:00:00Z", "Wed 17:30");
        check("2026-03-03T12:00:00Z", "Mar 3");
        check("2025-11-21T12:00:00Z", "2025-11-21");
        // A clock that is ahead.
        check("2026-03-12T12:00:00Z", "Mar 12");
    }

    #[test]
    fn a_time_outside_every_calendar_has_no_name() {
        assert_eq!(Zone::utc().span_name(Timestamp::from_millis(i64::MAX), Span::Day), None);
    }
}
