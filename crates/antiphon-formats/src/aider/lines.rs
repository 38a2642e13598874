//! Markdown, to a line for everything that somebody said.

use antiphon_model::json::Members;

use crate::Lines;

pub(super) const START: &str = "# aider chat started at ";
const USER: &str = "####";
const NOTICE: &str = ">";
const TOKENS: &str = "Tokens: ";

pub(super) fn lines(text: &str) -> Lines {
    let problems = Vec::new();
    let first = text.trim_start_matches('\u{feff}').trim_start();
    if !first.starts_with('#') {
        return Lines { text: text.to_owned(), problems };
    }
    let mut page = Page::default();
    for line in text.trim_start_matches('\u{feff}').split_inclusive('\n') {
        let whole = line.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        match whole {
            Some(line) => page.line(line),
            // A line that was cut may have become a mark.
            None if [START, USER].iter().any(|mark| mark.starts_with(line)) => page.said.push(line),
            None => page.line(line),
        }
    }
    page.end();
    Lines { text: page.out, problems }
}

/// A history while it is read.
#[derive(Default)]
struct Page<'t> {
    out: String,
    /// Who is speaking.
    kind: &'static str,
    said: Vec<&'t str>,
    /// Whether a fence is open in the answer: within, no line means anything else.
    in_fence: bool,
}

impl<'t> Page<'t> {
    fn line(&mut self, line: &'t str) {
        if let Some(clock) = line.strip_prefix(START) {
            self.end();
            self.push("start", |record| record.text("timestamp", time(clock).as_deref()));
            return;
        }
        let notice = mark(line, NOTICE);
        if let Some(tokens) = notice.and_then(|notice| notice.strip_prefix(TOKENS)) {
            self.end();
            self.push("tokens", |record| tell_tokens(record, tokens));
            return;
        }
        let (kind, said) = match (mark(line, USER), notice) {
            _ if self.in_fence => ("assistant", line),
            (Some(typed), _) => ("user", typed),
            (None, Some(notice)) => ("notice", notice),
            (None, None) if line.trim().is_empty() && self.kind != "assistant" => return,
            (None, None) => ("assistant", line),
        };
        if kind != self.kind {
            self.end();
            self.kind = kind;
        }
        if kind == "assistant" && line.trim_start().starts_with("```") {
            self.in_fence = !self.in_fence;
        }
        self.said.push(said);
    }

    fn end(&mut self) {
        let (kind, said) = (std::mem::take(&mut self.kind), std::mem::take(&mut self.said));
        self.in_fence = false;
        let text = said.join("\n");
        let text = text.trim();
        // A prompt may be empty: somebody pressed a key.
        if kind.is_empty() || (text.is_empty() && kind != "user") {
            return;
        }
        self.push(kind, |record| {
            record.word("text", text);
            if kind == "notice" {
                record.text("model", said.iter().find_map(|line| model(line)));
                record.text("version", said.iter().find_map(|line| version(line)));
            }
        });
    }

    fn push(&mut self, kind: &str, fill: impl FnOnce(&mut Members)) {
        let mut record = Members::default();
        record.word("kind", kind);
        fill(&mut record);
        self.out.push_str(&record.object());
        self.out.push('\n');
    }
}

/// What follows a mark that stands at the beginning of a line, alone or before a space.
fn mark<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    let rest = line.strip_prefix(mark)?;
    let rest = rest.strip_prefix(' ').or_else(|| rest.trim().is_empty().then_some(""))?;
    Some(rest.trim_end())
}

/// `Main model: claude-3-5-sonnet with diff edit format`
fn model(line: &str) -> Option<&str> {
    let name = ["Main model: ", "Model: "].iter().find_map(|mark| line.strip_prefix(mark))?;
    name.split([' ', ',']).next()
}

/// `Aider v0.86.1`
fn version(line: &str) -> Option<&str> {
    line.strip_prefix("Aider v")?.split_whitespace().next()
}

/// `2026-01-02 03:04:05`
fn time(clock: &str) -> Option<String> {
    let (day, time) = clock.trim().split_once(' ')?;
    Some(format!("{day}T{time}Z"))
}

/// `4.5k sent, 1.2k cache write, 3.4k cache hit, 202 received. Cost: $0.02 message, $0.10 session.`
fn tell_tokens(record: &mut Members, told: &str) {
    let (counts, cost) = told.split_once("Cost:").unwrap_or((told, ""));
    for part in counts.trim().trim_end_matches('.').split(", ") {
        let Some((number, what)) = part.trim().split_once(' ') else { continue };
        record.number(&what.trim_end_matches('.').replace(' ', "_"), rounded(number));
    }
    let dollars = cost.trim().strip_prefix('$').and_then(|cost| cost.split_once(" message"));
    let dollars = dollars.and_then(|(amount, _)| amount.parse::<f64>().ok());
    record.number("cost", dollars.filter(|amount| amount.is_finite()));
}

/// Thousands and millions are abbreviated.
fn rounded(number: &str) -> Option<u64> {
    let number = number.replace(',', "");
    let factors = [('k', 1000.0), ('M', 1_000_000.0)];
    let (digits, factor) = factors
        .iter()
        .find_map(|(letter, factor)| Some((number.strip_suffix(*letter)?, *factor)))
        .unwrap_or((&number, 1.0));
    let count = digits.parse::<f64>().ok()? * factor;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is within bounds, and no fraction"
    )]
    (0.0..1e15).contains(&count).then(|| count.round() as u64)
}
