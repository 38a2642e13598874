//! Converts a Markdown history to lines, one for each message and notice.
//!
//! Every line that the program writes for a person or for itself ends in two spaces, which an
//! editor may have removed. If they are there, a heading or a quotation within an answer is
//! recognised by having none.

use antiphon_model::json::Members;

use crate::Lines;

pub(super) const START: &str = "# aider chat started at ";
const USER: &str = "####";
const NOTICE: &str = ">";
const TOKENS: &str = "Tokens: ";
/// The cost is on a line of its own if a cache was both read and written.
const COST: &str = "Cost: $";
/// Written for an empty prompt.
const BLANK: &str = "<blank>";

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
            // A truncated line may be the beginning of a mark.
            None if page.is_begun(line) => page.said.push(line),
            None => page.line(line),
        }
    }
    page.end();
    Lines { text: page.out, problems }
}

/// The state of reading a history.
#[derive(Default)]
struct Page<'t> {
    out: String,
    /// The kind of record that is being read.
    kind: &'static str,
    said: Vec<&'t str>,
    /// The code fence that is open in the answer: within it, no line is a mark.
    fence: Option<&'t str>,
    /// Whether the program's own lines of this run end in two spaces, once one was seen.
    has_ends: Option<bool>,
    /// Token counts whose cost may follow.
    tokens: Option<&'t str>,
}

impl<'t> Page<'t> {
    fn line(&mut self, line: &'t str) {
        if let Some(clock) = line.strip_prefix(START) {
            self.end();
            self.has_ends = None;
            self.push("start", |record| record.text("timestamp", time(clock).as_deref()));
            return;
        }
        if let Some(tokens) = self.tokens.take() {
            let cost = line.starts_with(COST).then_some(line);
            self.push("tokens", |record| write_tokens(record, tokens, cost));
            if cost.is_some() {
                return;
            }
        }
        let notice = mark(line, NOTICE);
        if let Some(tokens) = notice.and_then(|notice| notice.strip_prefix(TOKENS)) {
            self.end();
            self.tokens = Some(tokens);
            return;
        }
        let is_own = self.is_own(line);
        let (kind, said) = match (mark(line, USER), notice) {
            _ if !is_own => ("assistant", line),
            (Some(typed), _) => ("user", typed),
            (None, Some(notice)) => ("notice", notice),
            // What is typed next is another prompt.
            (None, None) if line.trim().is_empty() && self.kind == "user" => return self.end(),
            (None, None) if line.trim().is_empty() && self.kind != "assistant" => return,
            (None, None) => ("assistant", line),
        };
        if kind != self.kind {
            self.end();
            self.kind = kind;
        }
        if kind == "assistant" {
            self.fence = fenced(self.fence, line);
        }
        self.said.push(said);
    }

    /// Whether a mark at the beginning of a line is the program's, and not part of an answer.
    fn is_own(&mut self, line: &str) -> bool {
        let is_marked = [USER, NOTICE].iter().any(|it| mark(line, it).is_some());
        let is_ended = line.ends_with("  ");
        let has_ends = is_marked && *self.has_ends.get_or_insert(is_ended);
        let follows_blank = self.said.last().is_none_or(|line| line.trim().is_empty());
        match self.fence {
            // An answer that was interrupted leaves its fence open.
            Some(_) => has_ends && is_ended && follows_blank,
            // A line directly below lines of its kind belongs to them: a notice of several lines
            // has its mark and its final spaces on different ones.
            None => !has_ends || is_ended || self.kind == "user" || self.kind == "notice",
        }
    }

    /// Whether a truncated line may be the beginning of a mark.
    fn is_begun(&self, line: &str) -> bool {
        let cost = self.tokens.map(|_| COST);
        [START, USER].into_iter().chain(cost).any(|mark| mark.starts_with(line))
    }

    fn end(&mut self) {
        let (kind, said) = (std::mem::take(&mut self.kind), std::mem::take(&mut self.said));
        self.fence = None;
        if let Some(tokens) = self.tokens.take() {
            self.push("tokens", |record| write_tokens(record, tokens, None));
        }
        let text = said.join("\n");
        let text = text.trim();
        let text = if kind == "user" && text == BLANK { "" } else { text };
        // A prompt may be empty.
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

/// What follows a mark at the beginning of a line; the mark is alone or followed by a space.
fn mark<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    let rest = line.strip_prefix(mark)?;
    let rest = rest.strip_prefix(' ').or_else(|| rest.trim().is_empty().then_some(""))?;
    Some(rest.trim_end())
}

/// The fence that is open after a line. A fence is closed by as many marks as opened it, so a fence
/// of more marks may contain one of fewer.
fn fenced<'t>(open: Option<&'t str>, line: &'t str) -> Option<&'t str> {
    let line = line.trim();
    let (marks, rest) = line.split_at(line.len() - line.trim_start_matches('`').len());
    match open {
        None => (marks.len() >= 3 && !rest.contains('`')).then_some(marks),
        Some(open) if marks.len() >= open.len() && rest.is_empty() => None,
        Some(open) => Some(open),
    }
}

/// The model in `Main model: claude-3-5-sonnet with diff edit format`, or in older versions
/// `Models: gpt-4o with diff edit format, weak model gpt-4o-mini`.
fn model(line: &str) -> Option<&str> {
    let name =
        ["Main model: ", "Model: ", "Models: "].iter().find_map(|mark| line.strip_prefix(mark))?;
    name.split([' ', ',']).next()
}

/// The version in `Aider v0.86.1`.
fn version(line: &str) -> Option<&str> {
    line.strip_prefix("Aider v")?.split_whitespace().next()
}

/// The time in `2026-01-02 03:04:05`, as RFC 3339.
fn time(clock: &str) -> Option<String> {
    let (day, time) = clock.trim().split_once(' ')?;
    Some(format!("{day}T{time}Z"))
}

/// Adds the counts of a line like
/// `4.5k sent, 1.2k cache write, 3.4k cache hit, 202 received. Cost: $0.02 message, $0.10 session.`
fn write_tokens(record: &mut Members, printed: &str, below: Option<&str>) {
    let (counts, cost) = printed.split_once("Cost:").unwrap_or((printed, ""));
    let cost = below.and_then(|below| below.strip_prefix("Cost:")).unwrap_or(cost);
    for part in counts.trim().trim_end_matches('.').split(", ") {
        let Some((number, what)) = part.trim().split_once(' ') else { continue };
        record.number(&what.trim_end_matches('.').replace(' ', "_"), rounded(number));
    }
    // Older versions say "request" where newer ones say "message".
    let dollars = cost.trim().strip_prefix('$').and_then(|cost| cost.split_once(' '));
    let dollars =
        dollars.filter(|(_, what)| what.starts_with("message") || what.starts_with("request"));
    let dollars = dollars.and_then(|(amount, _)| amount.parse::<f64>().ok());
    record.number("cost", dollars.filter(|amount| amount.is_finite()));
}

/// Parses a number in which thousands and millions are abbreviated.
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
