//! The letter of the standards: what `validate --strict` says, beside what the standards' own
//! programs say.
//!
//! Documents of our own are changed in one place each. Whether the standards accept the outcome is
//! in `verdicts.txt`, which was found by their own TypeScript: `make test-net` compiles each
//! document against the interfaces and runs the function of section 6.2 on it, and so it does with
//! what we write of every session that there is. The standards themselves are not in this
//! repository.

mod mutations;
mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use antiphon_documents::{Code, DocumentReport, Rules, Standard, WriteOptions, validate};
use antiphon_views::Reading;
use serde_json::Value;

use crate::run::workspace;
use mutations::Mutation;
use programs::{Document, Programs};

const VERDICTS: &str = "crates/antiphon/tests/it/letter/verdicts.txt";

/// Rules of ours that are stricter than the standards; `docs/documents.md` lists them.
const STRICTER: [Code; 11] = [
    Code::BadTime,
    Code::OutOfRange,
    Code::DuplicateId,
    Code::UnknownParent,
    Code::ParentCircle,
    Code::LinkNotReturned,
    Code::UnknownAgent,
    Code::UnknownReply,
    Code::UnknownCall,
    Code::ReversedRange,
    Code::UnknownSubSession,
];

const LATER: [&str; 4] = ["/updated_at", "/known_issues", "/location", "/rationale"];

fn strictly(value: &Value) -> DocumentReport {
    validate(&value.to_string(), None, Rules::Strict)
}

/// Errors that are ours alone.
fn is_stricter(mutation: &Mutation, report: &DocumentReport) -> bool {
    let mut errors = report.findings.iter().filter(|finding| finding.is_error());
    errors.all(|finding| {
        // Counts are whole numbers, which the interfaces cannot say.
        let is_fraction = finding.code == Code::WrongType && mutation.name.contains("fraction");
        // Members of later forms of the standard have their types.
        let is_later = LATER.iter().any(|name| finding.path.contains(name));
        STRICTER.contains(&finding.code) || is_fraction || is_later
    })
}

/// By mutation, whether the standards accept its outcome.
fn verdicts() -> BTreeMap<String, bool> {
    let text = std::fs::read_to_string(workspace().join(VERDICTS)).unwrap_or_default();
    let rows = text.lines().filter_map(|line| line.split_once(' '));
    rows.map(|(verdict, name)| (name.to_owned(), verdict == "accept")).collect()
}

#[test]
fn strictly_means_to_the_letter_of_the_standards() {
    let verdicts = verdicts();
    let mutations = mutations::all();
    assert!(mutations.len() >= 150, "{} documents", mutations.len());
    let names: BTreeSet<&str> = mutations.iter().map(|it| it.name.as_str()).collect();
    let known: BTreeSet<&str> = verdicts.keys().map(String::as_str).collect();
    assert_eq!(names, known, "`make test-net` writes the verdicts anew");
    let whole = verdicts.iter().filter(|(name, _)| name.ends_with("as it is"));
    assert_eq!(
        whole.filter(|(_, is_accepted)| **is_accepted).count(),
        3,
        "what is changed is right"
    );
    let mut wrong = String::new();
    for mutation in &mutations {
        let report = strictly(&mutation.document);
        let is_right = match verdicts[&mutation.name] {
            true => report.valid || is_stricter(mutation, &report),
            false => !report.valid,
        };
        if !is_right {
            let _ = writeln!(wrong, "{}: {:?}", mutation.name, report.findings);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What the standards' own programs say of the same documents is what the table says.
#[test]
fn the_standards_own_programs_agree_with_the_table() {
    let programs = match Programs::find() {
        Ok(programs) => programs,
        Err(why) => return println!("skipped: {why}"),
    };
    let mutations = mutations::all();
    let documents = mutations.iter().map(|it| Document {
        name: it.name.clone(),
        standard: it.standard,
        value: it.document.clone(),
    });
    let answers = programs.ask("mutations", documents);
    assert_eq!(answers.len(), mutations.len());
    let verdict = |is_accepted| if is_accepted { "accept" } else { "reject" };
    let table: String = mutations
        .iter()
        .zip(&answers)
        .map(|(it, answer)| format!("{} {}\n", verdict(answer.is_accepted()), it.name))
        .collect();
    let path = workspace().join(VERDICTS);
    if std::env::var_os("ANTIPHON_WRITE_VERDICTS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    let known: BTreeSet<&str> = known.lines().collect();
    let new: Vec<&str> = table.lines().filter(|line| !known.contains(line)).collect();
    assert!(new.is_empty(), "set ANTIPHON_WRITE_VERDICTS to write these down: {new:#?}");
}

/// What we write compiles against the interfaces, and passes section 6.2.
#[test]
fn the_standards_own_programs_accept_what_we_write() {
    let programs = match Programs::find() {
        Ok(programs) => programs,
        Err(why) => return println!("skipped: {why}"),
    };
    let mut documents = Vec::new();
    let mut sessions = 0;
    for path in programs::sessions() {
        let Ok(opened) = antiphon_library::open(&path) else { continue };
        if opened.session.is_empty() {
            continue;
        }
        sessions += 1;
        let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
        for standard in [Standard::Std001, Standard::Std008] {
            let options = WriteOptions { standard: Some(standard), ..WriteOptions::default() };
            let text =
                antiphon_documents::Document::of(&reading, options).unwrap().to_json().unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            // Section 8.2: what is not of several agents is read as a session of one.
            let is_single = value["collaboration"]["mode"] != "multi_agent";
            let report = validate(&text, None, Rules::Strict);
            assert!(report.valid || is_single, "{}: {:#?}", path.display(), report.findings);
            let standard = if is_single { Standard::Std001 } else { standard };
            let name = format!("{standard} of {}", path.display());
            documents.push(Document { name, standard, value });
        }
    }
    let answers = programs.ask("exports", documents.into_iter());
    let refused: Vec<_> = answers.iter().filter(|answer| !answer.is_accepted()).collect();
    let first = refused.first().map(|answer| &answer.name);
    assert!(first.is_none(), "{} of {}: {refused:#?}", refused.len(), answers.len());
    println!("{sessions} sessions, {} documents", answers.len());
    assert!(sessions >= 200 || !programs::has_real_files(), "{sessions} sessions");
}
