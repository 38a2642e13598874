//! Time: optional data of an event, in milliseconds; never used to order anything.

use std::fmt;

use serde::{Serialize, Serializer};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to this time; negative if the clock went back.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Appends `2026-11-15T20:56:33.120Z`, the form that we write. Years outside 0000–9999 become
    /// the nearest one. (Formatting by a pattern took a tenth of an append.)
    pub fn push_to(self, out: &mut String) {
        const DAY: i64 = 86_400_000;
        let millis = self.0.clamp(-62_167_219_200_000, 253_402_300_799_999);
        let (year, month, day) = civil_from_days(millis.div_euclid(DAY));
        let in_day = millis.rem_euclid(DAY);
        let parts = [
            (year, 1000, '-'),
            (month, 10, '-'),
            (day, 10, 'T'),
            (in_day / 3_600_000, 10, ':'),
            (in_day / 60_000 % 60, 10, ':'),
            (in_day / 1000 % 60, 10, '.'),
            (in_day % 1000, 100, 'Z'),
        ];
        for (number, mut power, after) in parts {
            while power > 0 {
                let digit = u8::try_from(number / power % 10).unwrap_or_default();
                out.push(char::from(b'0' + digit));
                power /= 10;
            }
            out.push(after);
        }
    }

    /// The shortest form, used in documents: without a fraction if that is zero.
    pub fn to_short(self) -> String {
        let text = self.to_string();
        match text.strip_suffix(".000Z") {
            Some(seconds) => format!("{seconds}Z"),
            None => text,
        }
    }

    /// Parses any RFC 3339 time. The form that we write is parsed here; all others (offsets, other
    /// precisions) are left to `jiff`.
    pub fn parse(text: &str) -> Option<Self> {
        parse_own_form(text.as_bytes()).or_else(|| {
            let time: jiff::Timestamp = text.trim().parse().ok()?;
            Some(Self(time.as_millisecond()))
        })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(24);
        self.push_to(&mut text);
        f.write_str(&text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Parses exactly `YYYY-MM-DDTHH:MM:SS.mmmZ`; any other form is `None`, not an error.
fn parse_own_form(text: &[u8]) -> Option<Timestamp> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let [
        _,
        _,
        _,
        _,
        b'-',
        _,
        _,
        b'-',
        _,
        _,
        b'T',
        _,
        _,
        b':',
        _,
        _,
        b':',
        _,
        _,
        b'.',
        _,
        _,
        _,
        b'Z',
    ] = text
    else {
        return None;
    };
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        text.get(range)?.iter().try_fold(0_i64, |sum, &digit| {
            digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0'))
        })
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let milli = number(20..23)?;
    let is_date = (1..=12).contains(&month) && (1..=month_days(year, month)).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_from_civil(year, month, day);
    Some(Timestamp((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milli))
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date in the proleptic Gregorian calendar.
///
/// Years are counted from March, so that the leap day comes last and the months before it have a
/// fixed pattern of lengths (153 days every five months).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_forms_and_offsets_are_read() {
        let millis = |text| Timestamp::parse(text).map(Timestamp::as_millis);
        assert_eq!(millis("2026-01-02T03:04:05.678Z"), Some(1_767_323_045_678));
        assert_eq!(millis("2026-01-02T03:04:05Z"), Some(1_767_323_045_000));
        assert_eq!(millis("2026-01-02T08:34:05.678+05:30"), Some(1_767_323_045_678));
        assert_eq!(millis("2026-02-30T00:00:00.000Z"), None);
        assert_eq!(millis("2025-02-29T00:00:00.000Z"), None);
        assert_eq!(millis("2026-04-31T00:00:00.000Z"), None);
        assert_eq!(millis("2026-00-01T00:00:00.000Z"), None);
        assert_eq!(millis("2024-02-29T00:00:00.000Z"), Some(1_709_164_800_000));
        assert_eq!(millis("yesterday"), None);
    }

    proptest! {
        #[test]
        fn our_own_form_agrees_with_jiff_and_reads_back(
            millis in -62_135_596_800_000_i64..253_402_300_799_999,
        ) {
            let ours = Timestamp::from_millis(millis);
            let text = ours.to_string();
            prop_assert_eq!(parse_own_form(text.as_bytes()), Some(ours));
            let theirs: jiff::Timestamp = text.parse().unwrap();
            prop_assert_eq!(theirs.as_millisecond(), millis);
        }
    }
}
