mod breakages;
mod mutations;

use serde_json::Value;

use super::*;
use crate::{MultiAgentSession, Session};

pub(super) const BEES: &str = "2026-03-02-001-count-the-bees";
pub(super) const GATE: &str = "2026-03-02-002-paint-the-gate";
pub(super) const SUNDIAL: &str = "2026-03-03-001-build-a-sundial-multi";
pub(super) const POEM: &str = "2026-03-03-002-translate-a-poem-multi";
const ALL: [&str; 4] = [BEES, GATE, SUNDIAL, POEM];

pub(super) fn example(name: &str) -> Value {
    let path = format!("{}/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn report(value: &Value, name: &str) -> DocumentReport {
    validate(&value.to_string(), Some(&format!("{name}.json")), Rules::Usual)
}

#[test]
fn nothing_is_said_about_documents_in_which_all_is_well() {
    for name in ALL {
        let standard = if name.ends_with("-multi") { Standard::Std008 } else { Standard::Std001 };
        let wanted = DocumentReport { format: Some(standard), valid: true, findings: Vec::new() };
        assert_eq!(report(&example(name), name), wanted, "{name}");
    }
}

#[test]
fn the_types_lose_nothing_of_the_examples() {
    for name in ALL {
        let value = example(name);
        let again = if name.ends_with("-multi") {
            let session: MultiAgentSession = serde_json::from_value(value.clone()).unwrap();
            serde_json::to_value(session).unwrap()
        } else {
            let session: Session = serde_json::from_value(value.clone()).unwrap();
            serde_json::to_value(session).unwrap()
        };
        assert_eq!(again, value, "{name}");
    }
}

/// What the types hold typed and not among the unknown members.
#[test]
fn the_outputs_of_the_examples_are_known() {
    let session: MultiAgentSession = serde_json::from_value(example(SUNDIAL)).unwrap();
    let outputs: Vec<_> =
        session.sub_sessions.iter().filter_map(|sub| sub.output.as_ref()).collect();
    assert!(matches!(
        outputs.as_slice(),
        [crate::AgentOutput::Developer(_), crate::AgentOutput::Reviewer(_)]
    ));
    let poem: MultiAgentSession = serde_json::from_value(example(POEM)).unwrap();
    assert!(matches!(&poem.session.summary.agents, Some(crate::AgentSummaries::List(_))));
    assert!(poem.session.extra.contains_key("x_unknown"));
}

#[test]
fn content_decides_and_a_name_that_disagrees_is_told() {
    let named = |value: &Value, name: &str| {
        let report = validate(&value.to_string(), Some(name), Rules::Usual);
        let codes: Vec<_> = report.findings.iter().map(|finding| finding.code).collect();
        (report.format, report.valid, codes)
    };
    let (gate, sundial) = (example(GATE), example(SUNDIAL));
    let (single, multi) = (Some(Standard::Std001), Some(Standard::Std008));
    assert_eq!(named(&gate, "x-multi.json"), (single, true, vec![Code::FileName, Code::FileName]));
    assert_eq!(named(&sundial, "x.json"), (multi, true, vec![Code::FileName, Code::FileName]));
    assert_eq!(validate(&sundial.to_string(), None, Rules::Usual).findings, []);
}

#[test]
fn a_session_of_one_agent_in_the_form_of_several_is_valid() {
    let mut value = example(GATE);
    value["collaboration"] = serde_json::json!({
        "mode": "single",
        "pattern": "master_worker",
        "orchestrator": { "agent_id": "main", "agent_type": "architect" },
        "participants": [],
    });
    value["sub_sessions"] = serde_json::json!([]);
    value["messages"] = serde_json::json!([]);
    let wanted =
        DocumentReport { format: Some(Standard::Std008), valid: true, findings: Vec::new() };
    assert_eq!(report(&value, GATE), wanted);
}

#[test]
fn text_that_is_no_document_is_told_so() {
    let code = |text: &str| {
        let report = validate(text, None, Rules::Usual);
        assert!(!report.valid && report.format.is_none(), "{text:?}");
        report.findings.first().unwrap().code
    };
    for text in ["", " \n", "{", "\0\u{1}", "{\"a\":1}}", "nul", "[1,]"] {
        assert_eq!(code(text), Code::NotJson, "{text:?}");
    }
    for text in ["[]", "null", "\"x\"", "3", "{}", "{\"messages\":[]}", "{\"session_id\":null}"] {
        assert_eq!(code(text), Code::NotADocument, "{text:?}");
    }
    let deep = format!("{{\"session_id\":{}", "[".repeat(100_000));
    assert_eq!(code(&deep), Code::NotJson);
    let latin = validate_bytes(b"{\"a\":\"\xe9\"}", None, Rules::Usual);
    assert_eq!(latin.findings.first().unwrap().code, Code::NotUtf8);
    assert_eq!(validate_bytes("\u{feff}[]".as_bytes(), None, Rules::Usual).findings.len(), 1);
}

#[test]
fn a_syntax_error_has_its_place_in_characters() {
    let report = validate("{\n  \"prompt\": \"说 \"是\" 吧\"\n}", None, Rules::Usual);
    let [finding] = report.findings.as_slice() else { panic!("{report:?}") };
    assert_eq!((finding.line, finding.column), (Some(2), Some(17)));
    assert!(finding.message.contains("at line 2, column 17; perhaps a quotation mark"));
}

#[test]
fn what_is_too_large_or_too_wrong_is_bounded() {
    let large = validate_bytes(&vec![b' '; BYTES_MAX + 1], None, Rules::Usual);
    assert_eq!(large.findings.first().unwrap().code, Code::TooLarge);
    let calls = "0,".repeat(100_000);
    let wrong = validate(
        &format!("{{\"session_id\":\"x\",\"tool_calls\":[{calls}0]}}"),
        None,
        Rules::Usual,
    );
    assert_eq!((wrong.valid, wrong.findings.len()), (false, FINDINGS_MAX));
    let last = wrong.findings.last().unwrap();
    assert_eq!((last.severity, last.code), (Severity::Warning, Code::TooMany));
    assert_eq!(last.message, "90009 more findings are not listed");
}

#[test]
fn the_guide_explains_every_code() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/documents.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    for code in Code::ALL {
        assert!(guide.contains(&format!("| `{code}` |")), "{code}");
    }
}
