use super::Query;

#[test]
fn a_parameter_is_decoded_and_taken_once() {
    let mut query = Query::parse("q=a+b%20%C3%A9&tool=x&tool=y&limit=3").unwrap();
    assert_eq!(query.one("q").unwrap().as_deref(), Some("a b é"));
    assert_eq!(query.all("tool"), ["x", "y"]);
    assert_eq!(query.number::<usize>("limit").unwrap(), Some(3));
    query.finish().unwrap();
}

#[test]
fn what_is_unknown_repeated_or_no_number_is_refused() {
    assert!(Query::parse("zz=1").unwrap().finish().is_err());
    assert!(Query::parse("a=1&a=2").unwrap().one("a").is_err());
    for bad in ["-1", "x", "99999999999999999999999", "1.5"] {
        assert!(Query::parse(&format!("n={bad}")).unwrap().number::<usize>("n").is_err(), "{bad}");
    }
    assert!(Query::parse("tree=perhaps").unwrap().flag("tree").is_err());
    assert!(Query::parse("a=%ff").is_err());
}
