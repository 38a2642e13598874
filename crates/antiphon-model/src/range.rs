//! A range of time: from one moment to another, either of which may be open.

use crate::Timestamp;

/// The times at or after `since` and before `until`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeRange {
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

impl TimeRange {
    /// Whether it contains a time. What has no time is only in a range without ends.
    pub fn contains(&self, at: Option<Timestamp>) -> bool {
        let Some(at) = at else { return self.is_open() };
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }

    /// Whether it has no ends, so that it contains everything.
    pub fn is_open(&self) -> bool {
        self.since.is_none() && self.until.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_beginning_and_not_its_end() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        let range = TimeRange { since: at(1), until: at(3) };
        assert_eq!([0, 1, 2, 3].map(|it| range.contains(at(it))), [false, true, true, false]);
        assert!(!range.contains(None));
        assert!(TimeRange::default().contains(None) && TimeRange::default().contains(at(0)));
        assert!(!TimeRange { since: None, until: at(1) }.contains(None));
    }
}
