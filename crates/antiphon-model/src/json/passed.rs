//! Reads what is nested in an object without scanning its long strings again.
//!
//! A tool's output is four levels deep in a line and is most of it. Reading level by level would
//! scan it four times.

use std::marker::PhantomData;
use std::rc::Rc;

use super::NotJson;
use super::scan::{Extent, LongString, Scan, elements, members};

/// What a scan of an object found out: where its long strings end.
#[derive(Debug, Clone)]
pub struct Passed<'a> {
    text: PhantomData<&'a str>,
    is_clean: bool,
    strings: Rc<[LongString]>,
}

impl<'a> Passed<'a> {
    /// Calls `each` with the members of an object: keys as they are between their quotes, values
    /// raw. `None` if it is not an object; the caller can find out why if necessary.
    pub fn over(raw: &'a str, mut each: impl FnMut(&'a str, &'a str)) -> Option<Self> {
        let mut scan = Scan::new(raw);
        scan.noted = Some(Vec::new());
        members(&mut scan, Extent::Whole, |key, value| each(key, value.raw)).ok()?;
        let strings = scan.noted.unwrap_or_default().into();
        Some(Self { text: PhantomData, is_clean: scan.is_clean, strings })
    }

    /// Like [`over`](Self::over), for an object within the first one.
    pub fn members(
        &self,
        raw: &'a str,
        mut each: impl FnMut(&'a str, &'a str),
    ) -> Result<(), NotJson> {
        let scanned =
            members(&mut self.scan(raw), Extent::Whole, |key, value| each(key, value.raw));
        scanned.map_err(|_| NotJson::of(raw, "an object"))
    }

    /// Calls `each` with the raw elements of an array within the object.
    pub fn elements(&self, raw: &'a str, each: impl FnMut(&'a str)) -> Result<(), NotJson> {
        elements(&mut self.scan(raw), each).map_err(|_| NotJson::of(raw, "an array"))
    }

    fn scan(&self, raw: &'a str) -> Scan<'a, '_> {
        let before = raw.as_ptr() as usize;
        let first = self.strings.partition_point(|string| string.start < before);
        let known = self.strings.get(first..).unwrap_or_default();
        Scan::with(raw, self.is_clean, known)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json;

    /// Every value of a text, level by level, read in both ways.
    fn all<'a>(passed: Option<&Passed<'a>>, raw: &'a str, out: &mut Vec<(String, &'a str)>) {
        let mut inner = Vec::new();
        let each = |key: &'a str, value| inner.push((key.to_owned(), value));
        let is_object = match passed {
            Some(passed) => passed.members(raw, each).is_ok(),
            None => {
                let mut each = each;
                json::raw_members(raw, |key, _, value| each(key, value)).is_ok()
            }
        };
        if !is_object {
            let each = |value| inner.push((String::new(), value));
            let _ = match passed {
                Some(passed) => passed.elements(raw, each),
                None => json::elements(raw, each),
            };
        }
        for (key, value) in inner {
            out.push((key, value));
            all(passed, value, out);
        }
    }

    fn agree(text: &str) {
        let passed = Passed::over(text, |_, _| {}).unwrap();
        let (mut with, mut without) = (Vec::new(), Vec::new());
        all(Some(&passed), text, &mut with);
        all(None, text, &mut without);
        assert_eq!(with, without);
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let text = prop_oneof!["[a-z\"\\\\\n]{0,8}", "[a-z\"\\\\\n ]{120,300}"];
        let leaf = prop_oneof![
            text.prop_map(serde_json::Value::from),
            any::<i64>().prop_map(serde_json::Value::from),
            Just(serde_json::Value::Null),
        ];
        leaf.prop_recursive(5, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
                prop::collection::btree_map("[a-z]{1,140}", inner, 0..5)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_nested_reads_the_same(inner in value()) {
            let document = serde_json::json!({"first": inner, "last": "x".repeat(200)});
            agree(&document.to_string());
            agree(&serde_json::to_string_pretty(&document).unwrap());
        }
    }

    #[test]
    fn a_value_that_is_cut_within_a_long_string_is_no_value() {
        let text = format!(r#"{{"a":["{}"]}}"#, "x".repeat(500));
        let passed = Passed::over(&text, |_, _| {}).unwrap();
        assert!(passed.elements(&text[5..300], |_| {}).is_err());
        assert!(passed.elements(&text[5..text.len() - 1], |_| {}).is_ok());
        assert!(passed.elements(&String::from("[1"), |_| {}).is_err());
    }
}
