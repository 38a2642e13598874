use std::io::Write as _;

use super::*;

/// A zip of these members, as a writer does it that can go back to fill in sizes, or cannot.
fn zip(members: &[(&str, u16, &str)], sizes_follow: bool) -> Vec<u8> {
    let mut zip = Vec::new();
    let mut list = Vec::new();
    for (name, method, text) in members {
        let packed = match *method {
            DEFLATED => {
                let mut encoder =
                    flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(text.as_bytes()).unwrap();
                encoder.finish().unwrap()
            }
            ZSTD => zstd::encode_all(text.as_bytes(), 1).unwrap(),
            _ => text.as_bytes().to_vec(),
        };
        let offset = u32::try_from(zip.len()).unwrap();
        let sizes = [packed.len(), text.len()].map(|len| u32::try_from(len).unwrap());
        let flags = if sizes_follow { SIZES_FOLLOW } else { 0 };
        let header = |sizes: [u32; 2]| {
            let mut header = Vec::new();
            for field in [20, flags, *method, 0, 0] {
                header.extend(field.to_le_bytes());
            }
            header.extend([0; 4]);
            sizes.iter().for_each(|size| header.extend(size.to_le_bytes()));
            header.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
            header.extend([0; 2]);
            header
        };
        zip.extend(MAGIC);
        zip.extend(header(if sizes_follow { [0; 2] } else { sizes }));
        zip.extend(name.as_bytes());
        zip.extend(packed);
        if sizes_follow {
            zip.extend(b"PK\x07\x08\0\0\0\0");
            sizes.iter().for_each(|size| zip.extend(size.to_le_bytes()));
        }
        list.extend(CENTRAL);
        list.extend([20, 0]);
        list.extend(header(sizes));
        list.extend([0; 10]);
        list.extend(offset.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let at = u32::try_from(zip.len()).unwrap();
    zip.extend(&list);
    zip.extend(END);
    zip.extend([0; 8]);
    zip.extend(u32::try_from(list.len()).unwrap().to_le_bytes());
    zip.extend(at.to_le_bytes());
    zip.extend([0; 2]);
    zip
}

const MEMBERS: &[(&str, u16, &str)] = &[
    ("_journal/start.json", DEFLATED, "{\n \"eval\": {\"task\": \"a\"}\n}"),
    ("samples/1_epoch_1.json", ZSTD, "{\"id\":1,\"note\":\"two\\nlines\"}"),
    ("summaries.json", STORED, "[ 1 ]"),
    ("notes.txt", DEFLATED, "no JSON"),
];

const LINES: &str = r#"{"member":"_journal/start.json","value":{"eval":{"task":"a"}}}
{"member":"samples/1_epoch_1.json","value":{"id":1,"note":"two\nlines"}}
{"member":"summaries.json","value":[1]}
{"member":"notes.txt","bytes":7}
"#;

#[test]
fn each_member_is_a_line_however_it_is_packed() {
    let unpacked = unpack(&zip(MEMBERS, false), 1 << 20);
    assert_eq!(unpacked.text, LINES);
    assert!(unpacked.stopped.is_none());
    assert_eq!(unpack(&zip(MEMBERS, true), 1 << 20).text, LINES);
}

#[test]
fn without_its_list_a_zip_has_what_came_before() {
    let whole = zip(MEMBERS, false);
    let list = whole.windows(4).position(|bytes| bytes == CENTRAL).unwrap();
    let unpacked = unpack(&whole[..list], 1 << 20);
    assert_eq!(unpacked.text, LINES);
    assert!(unpacked.stopped.is_some());
    // Where the sizes are not known, the compressed data must mark its own end.
    let deflated: Vec<_> = MEMBERS.iter().copied().filter(|it| it.1 == DEFLATED).collect();
    let whole = zip(&deflated, true);
    let list = whole.windows(4).position(|bytes| bytes == CENTRAL).unwrap();
    assert_eq!(unpack(&whole[..list], 1 << 20).text.lines().count(), 2);
}

#[test]
fn a_zip_may_stop_at_any_byte() {
    let whole = zip(MEMBERS, false);
    // The last two bytes are the length of a comment.
    for cut in 4..whole.len() - 2 {
        let unpacked = unpack(&whole[..cut], 1 << 20);
        for (line, expected) in unpacked.text.lines().zip(LINES.lines()) {
            assert!(line == expected || json::check(line).is_err(), "{cut}: {line}");
        }
        assert!(unpacked.stopped.is_some(), "{cut}");
    }
}

#[test]
fn what_unpacks_without_end_is_cut() {
    let long = format!("[{}]", "1,".repeat(1 << 20));
    for method in [DEFLATED, ZSTD] {
        let unpacked = unpack(&zip(&[("a.json", method, &long)], false), 1000);
        assert!(unpacked.is_too_long);
        assert!(unpacked.text.len() < 2000);
    }
}

#[test]
fn a_member_that_does_not_fit_costs_that_member() {
    let long = format!("[{}1]", "1, ".repeat(1 << 20));
    let members = [("a.json", STORED, "[1]"), ("b.json", DEFLATED, &long), ("c.json", ZSTD, "[3]")];
    let mut whole = zip(&members, false);
    let unpacked = unpack(&whole, 1 << 20);
    let first = "{\"member\":\"a.json\",\"value\":[1]}\n";
    let last = "{\"member\":\"c.json\",\"value\":[3]}\n";
    let named = format!("{{\"member\":\"b.json\",\"bytes\":{}}}\n", long.len());
    assert_eq!(unpacked.text, [first, &named, last].concat(), "it says how long it is");
    assert!(unpacked.is_too_long && unpacked.stopped.is_none());
    // It says that it is short; what comes out says otherwise.
    let list = whole.windows(4).rposition(|bytes| bytes == CENTRAL).unwrap();
    let own = whole[..list].windows(4).rposition(|bytes| bytes == CENTRAL).unwrap();
    whole[own + 24..own + 28].copy_from_slice(&10_u32.to_le_bytes());
    let unpacked = unpack(&whole, 1 << 20);
    assert!(unpacked.text.starts_with(first) && unpacked.text.ends_with(last), "{unpacked:?}");
    assert!(unpacked.text.len() < 200 && unpacked.is_too_long);
    let middle = format!("{{\"member\":\"b.json\",\"value\":{}}}\n", long.replace(' ', ""));
    assert!(unpack(&whole, 8 << 20).text == [first, &middle, last].concat());
}

proptest::proptest! {
    #[test]
    fn what_is_made_one_line_is_the_same_json(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                " ", "\n", "\t\r\n", "{", "}", "[", "]", ",", ":", "1", "\"a b\"", "\"\\\"\"",
                "\"\\\\\"", "\" \u{e9} \"", "\"",
            ]),
            0..30,
        ),
    ) {
        let text = parts.concat();
        let wanted = json::compact(&text).replace(['\n', '\r'], " ");
        let mut bytes = [b"before ", text.as_bytes()].concat();
        compact(&mut bytes, 7);
        proptest::prop_assert_eq!(String::from_utf8(bytes).unwrap(), format!("before {wanted}"));
    }
}

#[test]
fn hostile_numbers_lead_nowhere() {
    let whole = zip(MEMBERS, false);
    for at in 0..whole.len() {
        let mut hostile = whole.clone();
        for value in [0, 0x7f, 0xff] {
            hostile[at] = value;
            let _ = unpack(&hostile, 1 << 16);
        }
    }
}

#[test]
fn a_log_is_known_by_its_first_member_even_if_that_is_long() {
    let start =
        format!(r#"{{"eval":{{"task":"a","eval_id":"e1"}},"note":"{}"}}"#, "x".repeat(99_999));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    std::fs::write(&path, zip(&[("_journal/start.json", DEFLATED, &start)], false)).unwrap();
    assert_eq!(crate::open::open(&path).unwrap().format, "inspect");
}

#[test]
fn an_evaluation_log_opens_packed_and_cut() {
    let sample = r#"{"id":1,"epoch":1,"events":[{"event":"model","uuid":"e","input":[{"role":"user",
        "content":"hi"}],"output":{"choices":[{"message":{"role":"assistant","content":"ho"}}],
        "usage":{"input_tokens":3,"output_tokens":2}}}]}"#;
    let members = [
        ("_journal/start.json", DEFLATED, r#"{"eval":{"task":"a","eval_id":"e1"}}"#),
        ("samples/1_epoch_1.json", ZSTD, sample),
        ("header.json", DEFLATED, r#"{"status":"success","eval":{"task":"a","eval_id":"e1"}}"#),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let whole = zip(&members, false);
    std::fs::write(&path, &whole).unwrap();
    let opened = crate::open::open(&path).unwrap();
    assert_eq!(opened.format, "inspect");
    assert_eq!(opened.session.usage().output, 2);
    assert!(opened.session.info().ended);
    // Without its end it has what its members say, and a problem.
    let header = whole.windows(11).position(|bytes| bytes == b"header.json").unwrap();
    std::fs::write(&path, &whole[..header - 30]).unwrap();
    let opened = crate::open::open(&path).unwrap();
    assert_eq!(opened.session.usage().output, 2);
    assert!(!opened.session.info().ended);
    assert_eq!(opened.session.problems().len(), 1);
}
