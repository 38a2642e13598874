//! Markdown: prompts, answers and diffs in the open, everything else folded.

use std::io::Write;

use antiphon_model::{AgentIx, EventIx};
use antiphon_views::{CallStatus, Step, StepKind, count, duration};

use crate::answer::contained;
use crate::call::ShownCall;
use crate::content::Part;
use crate::facts::{Facts, money, nodes};
use crate::text::{Clean, one_line};
use crate::walk::{Writer, walk};
use crate::{Page, PageError};

/// How much of a thought or of a program's notice is shown.
const ASIDE_BYTES: usize = 32 << 10;

/// Writes Markdown.
pub fn write_markdown(page: &Page<'_>, out: &mut dyn Write) -> Result<(), PageError> {
    let facts = page.facts()?;
    let mut text = String::new();
    push_head(&mut text, page, &facts);
    let has_roots = facts.cost.tree.len() > 1;
    let mut writer = Markdown { page, out, text, has_roots, spoke: Vec::new() };
    walk(page, &mut writer)?;
    let secrets = match page.is_redacted {
        true => "Secrets that could be recognised were removed.",
        false => "Secrets were **not** removed.",
    };
    let session = in_code(&page.clean_line(page.session_id, 80));
    writer.text.push_str(&format!(
        "---\n\nSession {session}, written by Antiphon. {secrets} Long outputs are shortened.\n"
    ));
    writer.flush()
}

fn push_head(out: &mut String, page: &Page<'_>, facts: &Facts) {
    out.push_str(&format!("# {}\n\n", in_text(&facts.title)));
    for (name, value) in &facts.rows {
        out.push_str(&format!("- **{name}:** {}\n", in_text(value)));
    }
    out.push('\n');
    if facts.files.total > 0 {
        out.push_str("## Files changed\n\n");
        for file in &facts.files.items {
            let (added, removed) = (file.added, file.removed);
            out.push_str(&format!(
                "- {} ({}, +{added} −{removed})\n",
                in_code(&file.path),
                file.status
            ));
        }
        push_more(out, facts.files.more());
        if facts.possible > 0 {
            let commands = count(facts.possible, "shell command");
            out.push_str(&format!("\n{commands} may have changed files too.\n"));
        }
        out.push('\n');
    }
    if facts.failures.total > 0 {
        out.push_str("## Failed calls\n\n");
        for failure in &facts.failures.items {
            let (what, error) = (in_code(&failure.what), in_text(&failure.error));
            out.push_str(&format!("- **{}** {what}: {error}\n", in_text(&failure.tool)));
        }
        push_more(out, facts.failures.more());
        out.push('\n');
    }
    if page.reading.session.agents().len() > 1 && facts.cost.total.requests > 0 {
        out.push_str("## Agents and their cost\n\n");
        for (node, depth) in nodes(&facts.cost.tree) {
            let name = in_text(&page.clean_line(&node.name, 60));
            out.push_str(&format!("{}- {name}: {}\n", "  ".repeat(depth.min(6)), money(&node.own)));
        }
        out.push_str(&format!("\nTogether {}.\n\n", money(&facts.cost.total)));
    }
}

fn push_more(out: &mut String, more: usize) {
    if more > 0 {
        out.push_str(&format!("- … and {more} more\n"));
    }
}

struct Markdown<'p, 'a, 'w> {
    page: &'p Page<'a>,
    out: &'w mut dyn Write,
    text: String,
    /// Whether there are several agents that no other agent created.
    has_roots: bool,
    /// For each open agent: whether its last step was said by it.
    spoke: Vec<bool>,
}

impl Markdown<'_, '_, '_> {
    fn flush(&mut self) -> Result<(), PageError> {
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    fn name(&self, agent: AgentIx) -> Clean {
        let session = self.page.reading.session;
        let is_root = session.agent(agent).parent.agent().is_none();
        match session.agent(agent).own_name() {
            None if is_root && !self.has_roots => self.page.clean_line(self.page.product, 80),
            _ => self.page.clean_line(session.agent_name(agent), 80),
        }
    }

    fn heading(&mut self, who: &Clean, event: EventIx) {
        let at = self.page.reading.session.entry(event).at();
        let at = at.map_or_else(String::new, |at| format!(" · {}", self.page.time(at)));
        // Within a folded agent a heading would end nothing.
        let sign = if self.spoke.len() > 1 { "####" } else { "##" };
        self.text.push_str(&format!("{sign} {}{at}\n\n", in_text(who)));
    }

    fn parts(&self, step: &Step) -> Result<Vec<Part>, PageError> {
        let entry = self.page.reading.session.entry(step.event);
        Ok(self.page.parts_of(&step.text, [entry].into_iter())?)
    }

    fn prompt(&mut self, who: &Clean, step: &Step) -> Result<(), PageError> {
        self.heading(who, step.event);
        for part in self.parts(step)? {
            match part {
                // As a quotation, and every line as it was typed.
                Part::Text(text) => {
                    for line in text.visible().lines() {
                        self.text.push_str(&format!("> {}  \n", escaped(line)));
                    }
                    self.text.push('\n');
                }
                Part::Picture(picture) => push_picture(&mut self.text, picture.as_deref()),
            }
        }
        if let Some(spoke) = self.spoke.last_mut() {
            *spoke = false;
        }
        Ok(())
    }

    fn answer(&mut self, agent: AgentIx, step: &Step) -> Result<(), PageError> {
        let parts = self.parts(step)?;
        if !std::mem::replace(self.spoke.last_mut().unwrap_or(&mut false), true) {
            let name = self.name(agent);
            self.heading(&name, step.event);
        }
        for part in parts {
            match part {
                Part::Text(text) => self.text.push_str(&format!("{}\n\n", contained(&text))),
                Part::Picture(picture) => push_picture(&mut self.text, picture.as_deref()),
            }
        }
        Ok(())
    }

    fn aside(&mut self, word: &str, text: &Clean) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(&format!("<details><summary>{word}</summary>\n\n"));
        let text = text.clone().shortened(ASIDE_BYTES).visible();
        self.text.push_str(&format!("{}\n</details>\n\n", fenced("", &text)));
    }

    fn call(&mut self, call: &ShownCall, creates: usize) {
        let mut what = format!("{} {}", in_html(&call.tool), in_html(&call.summary));
        match call.status {
            CallStatus::Failed => what.push_str(" · failed"),
            CallStatus::Open => what.push_str(" · no result"),
            CallStatus::Success => {}
        }
        if let Some(millis) = call.millis.filter(|millis| *millis >= 1000) {
            what.push_str(&format!(" · {}", duration(millis)));
        }
        if call.status == CallStatus::Success && !call.files.is_empty() {
            for file in &call.files {
                let (added, removed) = (file.added, file.removed);
                let path = in_code(&file.path);
                self.text.push_str(&format!(
                    "**{}** {path} (+{added} −{removed})\n\n",
                    in_text(&call.tool)
                ));
                self.text.push_str(&format!("{}\n", fenced("diff", &file.diff.visible())));
            }
        } else {
            self.text.push_str(&format!("<details><summary>{what}</summary>\n\n"));
            let arguments = call.arguments.iter().filter(|_| creates == 0);
            for (name, value) in arguments {
                self.text.push_str(&format!(
                    "{}:\n\n{}\n",
                    in_text(name),
                    fenced("", &value.visible())
                ));
            }
            for part in call.results.iter().filter(|_| creates == 0) {
                match part {
                    Part::Text(text) => {
                        self.text.push_str(&format!("{}\n", fenced("", &text.visible())));
                    }
                    Part::Picture(picture) => push_picture(&mut self.text, picture.as_deref()),
                }
            }
            self.text.push_str("</details>\n\n");
        }
    }
}

impl Writer for Markdown<'_, '_, '_> {
    fn begin_agent(&mut self, agent: AgentIx, depth: usize) -> Result<(), PageError> {
        let name = self.name(agent);
        if depth > 0 {
            self.text
                .push_str(&format!("<details><summary>Agent {}</summary>\n\n", in_html(&name)));
        } else if self.has_roots {
            self.text.push_str(&format!("## Agent {}\n\n", in_text(&name)));
        }
        self.spoke.push(false);
        Ok(())
    }

    fn step(&mut self, agent: AgentIx, step: &Step, creates: usize) -> Result<(), PageError> {
        let page = self.page;
        match step.kind {
            StepKind::Prompt => {
                let session = page.reading.session;
                let is_root = session.agent(agent).parent.agent().is_none();
                self.prompt(&page.clean(if is_root { "User" } else { "Task" }), step)?;
            }
            StepKind::Message => {
                let who = page.clean_line(step.from.as_deref().unwrap_or("Agent"), 80);
                self.prompt(&who, step)?;
            }
            StepKind::Answer => self.answer(agent, step)?,
            StepKind::Thinking => self.aside("Thinking", &page.clean(&step.text)),
            StepKind::Notice => self.aside("Program", &page.clean(&step.text)),
            StepKind::Context => self.aside("Context", &page.clean(&step.text)),
            StepKind::Call => {
                if let Some(call) = &step.call {
                    self.call(&page.call(call, &step.text)?, creates);
                }
            }
        }
        self.flush()
    }

    fn end_call(&mut self) -> Result<(), PageError> {
        Ok(())
    }

    fn end_agent(&mut self, depth: usize) -> Result<(), PageError> {
        self.spoke.pop();
        if depth > 0 {
            self.text.push_str("</details>\n\n");
        }
        self.flush()
    }
}

fn push_picture(out: &mut String, address: Option<&str>) {
    match address {
        Some(address) => out.push_str(&format!("![a picture]({address})\n\n")),
        None => out.push_str("*(a picture, left out)*\n\n"),
    }
}

/// A block of code that its content cannot end.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// A text as code within a line.
fn in_code(text: &Clean) -> String {
    let mut line = String::new();
    text.push_line(&mut line);
    code(&line)
}

fn code(line: &str) -> String {
    let fence = "`".repeat(longest_run(line) + 1);
    let space = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{line}{space}{fence}")
}

/// A text as code within a line of Markdown, whatever is in it.
pub fn code_span(text: &str) -> String {
    code(&one_line(text))
}

/// A text within a line of Markdown, without any effect there.
pub fn escape_markdown(text: &str) -> String {
    escaped(&one_line(text))
}

/// A text within a line of Markdown, without any effect there.
fn in_text(text: &Clean) -> String {
    let mut line = String::new();
    text.push_line(&mut line);
    escaped(&line)
}

/// A text within an element of HTML, where Markdown has no meaning.
fn in_html(text: &Clean) -> String {
    let mut line = String::new();
    text.push_line(&mut line);
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A line in which nothing is Markdown or HTML.
fn escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut is_start = true;
    let mut before = ' ';
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let is_within_word =
            before.is_alphanumeric() && chars.peek().is_some_and(|c| c.is_alphanumeric());
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '_' if is_within_word => out.push(c),
            '*' | '_' | '`' | '[' | '\\' | '~' => out.extend(['\\', c]),
            '#' | '-' | '+' | '=' | '>' if is_start => out.extend(['\\', c]),
            // `1.` begins a list.
            '.' | ')' if before.is_ascii_digit() && chars.peek() == Some(&' ') => {
                out.extend(['\\', c]);
            }
            c => out.push(c),
        }
        is_start = is_start && c.is_whitespace();
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::clean;

    #[test]
    fn a_line_of_text_has_no_effect_in_markdown() {
        let check = |text: &str| in_text(&clean(text));
        assert_eq!(check("my_file.py _x_ *y* `z`"), "my_file.py \\_x\\_ \\*y\\* \\`z\\`");
        assert_eq!(check("# <b>&\n1. [a](b)"), "\\# &lt;b>&amp; 1\\. \\[a](b)");
        assert_eq!(in_code(&clean("a `b` ``")), "``` a `b` `` ```");
        assert_eq!(in_html(&clean("</summary><b>")), "&lt;/summary&gt;&lt;b&gt;");
        assert_eq!(fenced("", "```\nx\n```"), "````\n```\nx\n```\n````\n");
    }
}
