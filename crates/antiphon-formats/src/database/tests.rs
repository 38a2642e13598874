use super::*;

#[test]
fn a_document_ends_with_the_record_that_makes_it_too_long() {
    let mut listed = Listed::new("a", "1", "b", 20);
    assert!(!listed.has_any());
    assert_eq!(listed.push("{}"), ControlFlow::Continue(()));
    assert_eq!(listed.push("[2]"), ControlFlow::Continue(()));
    assert_eq!(listed.push("\"long\""), ControlFlow::Break(()));
    assert_eq!(listed.finish(), None);

    let mut listed = Listed::new("a", "1", "b", 20);
    let _ = listed.push("{}");
    assert_eq!(listed.finish().as_deref(), Some("{\"a\":1,\"b\":[{}]}"));
}

#[test]
fn a_cell_is_json_whatever_is_in_it() {
    for (cell, value, parsed, text) in [
        (Cell::Null, "null", "null", None),
        (Cell::Integer(-7), "-7", "-7", Some("-7")),
        (Cell::Real(0.5), "0.5", "0.5", Some("0.5")),
        (Cell::Real(f64::INFINITY), "null", "null", Some("inf")),
        (Cell::Bytes(b"{\"a\": 1}"), r#""{\"a\": 1}""#, "{\"a\":1}", Some("{\"a\": 1}")),
        (Cell::Bytes(b"{"), "\"{\"", "\"{\"", Some("{")),
        (Cell::Bytes(b"\xff"), "\"\u{fffd}\"", "\"\u{fffd}\"", Some("\u{fffd}")),
    ] {
        assert_eq!((cell.value().as_str(), cell.parsed().as_str()), (value, parsed));
        assert_eq!(cell.text().as_deref(), text);
    }
}

#[test]
fn ids_come_first_and_what_is_no_object_is_kept_whole() {
    let ids = [("id", "x"), ("sessionID", "s")];
    assert_eq!(with_ids(&ids, r#"{"a":1,"id":"y"}"#), r#"{"id":"x","sessionID":"s","a":1}"#);
    assert_eq!(with_ids(&ids, "[1]"), r#"{"id":"x","sessionID":"s","data":[1]}"#);
}

/// A database that has these columns and no rows.
struct Empty(&'static [(&'static str, &'static str)]);

impl Tables for Empty {
    fn has(&self, table: &str, column: &str) -> bool {
        self.0.contains(&(table, column))
    }

    fn query(
        &self,
        _: &str,
        _: &[&str],
        _: &mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        Ok(())
    }
}

#[test]
fn a_database_is_of_one_format() {
    let layouts = || crate::FORMATS.iter().filter_map(|format| format.layout.database.as_ref());
    for layout in layouts() {
        let tables = Empty(layout.columns);
        assert_eq!(layouts().filter(|it| it.is_of(&tables)).count(), 1, "{:?}", layout.columns);
        assert!((layout.rows)(&tables).is_ok_and(|rows| rows.is_empty()));
        let document = (layout.document)(&tables, "gone", 1000).unwrap().unwrap();
        assert!(document.contains(":{\"id\":\"gone\"},\"messages\":[]}"), "{document}");
    }
}
