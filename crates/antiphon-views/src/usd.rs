//! Amounts of money that add up exactly.

use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Serialize, Serializer};

/// US dollars, counted in millionths of a millionth.
///
/// A price per million tokens with up to six decimals is a whole number of these per token, so a
/// cost is never rounded and the parts of a sum make the sum. In JSON it is a number of dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd(u128);

const PICOS: u128 = 1_000_000_000_000;

impl Usd {
    pub const ZERO: Self = Self(0);

    pub const fn from_picos(picos: u128) -> Self {
        Self(picos)
    }

    pub const fn as_picos(self) -> u128 {
        self.0
    }

    /// The nearest amount to a number of dollars; `None` if it is not a valid amount.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is no less than 0, and what is too large becomes the largest there is"
    )]
    pub fn from_f64(dollars: f64) -> Option<Self> {
        let is_amount = dollars.is_finite() && dollars >= 0.0;
        is_amount.then(|| Self((dollars * PICOS as f64).round() as u128))
    }

    /// The nearest number of dollars.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / PICOS as f64
    }
}

impl Usd {
    /// What is left of it; never less than nothing.
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        let mut total = Self::ZERO;
        parts.for_each(|part| total += part);
        total
    }
}

/// Writes `12.34`, exactly; a precision rounds half up.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = f.precision().unwrap_or(12).min(12);
        let unit = 10_u128.pow(u32::try_from(12 - kept).unwrap_or_default());
        let units = self.0.saturating_add(unit / 2) / unit;
        let whole = PICOS / unit;
        let mut text = (units / whole).to_string();
        if kept > 0 {
            text.push_str(&format!(".{:0kept$}", units % whole));
        }
        if f.precision().is_none() {
            text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        }
        f.pad_integral(true, "", &text)
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Usd {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Usd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "minimum": 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_exactly_or_rounded_half_up() {
        let check = |picos: u128| {
            let usd = Usd::from_picos(picos);
            format!("{usd} {usd:.2} {usd:.0} {}", serde_json::to_string(&usd).unwrap())
        };
        assert_eq!(check(8_350_000_000), "0.00835 0.01 0 0.00835");
        assert_eq!(check(1), "0.000000000001 0.00 0 1e-12");
        assert_eq!(check(0), "0 0.00 0 0.0");
        assert_eq!(check(10 * PICOS), "10 10.00 10 10.0");
        assert_eq!(check(12_345_000_000_000), "12.345 12.35 12 12.345");
        assert_eq!(format!("{:>9.2}|", Usd::from_picos(1_500_000_000_000)), "     1.50|");
    }

    #[test]
    fn from_a_number_of_dollars() {
        assert_eq!(Usd::from_f64(0.15), Some(Usd::from_picos(150_000_000_000)));
        assert_eq!(Usd::from_f64(0.0), Some(Usd::ZERO));
        assert_eq!(Usd::from_f64(f64::MAX), Some(Usd::from_picos(u128::MAX)));
        for bad in [-0.01, f64::NAN, f64::INFINITY] {
            assert_eq!(Usd::from_f64(bad), None);
        }
    }

    #[test]
    fn a_sum_stops_at_the_largest_there_is() {
        let most = Usd::from_picos(u128::MAX);
        assert_eq!([most, Usd::from_picos(1)].into_iter().sum::<Usd>(), most);
    }
}
