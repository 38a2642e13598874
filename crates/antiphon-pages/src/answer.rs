//! Markdown that an agent wrote: as HTML, or as Markdown that keeps to its place.
//!
//! Its HTML is text, its pictures are named instead of fetched, and its links show where they lead
//! and lead nowhere.

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::markdown::fenced;
use crate::text::{Clean, push_html};

/// A longer text is shown as it was written.
const PARSED_BYTES_MAX: usize = 512 << 10;
/// Elements below this depth are left out; their text stays.
const DEPTH_MAX: usize = 40;

fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    Parser::new_ext(text, options).into_offset_iter()
}

/// Writes an answer as HTML.
pub(crate) fn push_answer(out: &mut String, answer: &Clean) {
    if answer.as_str().len() > PARSED_BYTES_MAX {
        out.push_str("<div class=\"said\">");
        answer.push_html(out);
        out.push_str("</div>");
        return;
    }
    let mut html = Html {
        out,
        open: Vec::new(),
        depth: 0,
        columns: Vec::new(),
        column: 0,
        links: Vec::new(),
        is_head: false,
    };
    events(answer.as_str()).for_each(|(event, _)| html.add(event));
    html.close_all();
}

/// HTML that is being written.
struct Html<'o> {
    out: &'o mut String,
    /// The ends of the open elements; empty for one that was left out.
    open: Vec<&'static str>,
    depth: usize,
    columns: Vec<Alignment>,
    column: usize,
    /// Where each open link or picture leads, and where its text begins.
    links: Vec<(String, usize)>,
    is_head: bool,
}

impl Html<'_> {
    fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                push_html(self.out, &text);
            }
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out.push_str("<code>");
                push_html(self.out, &text);
                self.out.push_str("</code>");
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::FootnoteReference(text) => push_html(self.out, &text),
            Event::TaskListMarker(is_done) => {
                self.out.push_str(if is_done { "☑ " } else { "☐ " });
            }
        }
    }

    fn open(&mut self, start: &str, end: &'static str) {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            self.open.push("");
            return;
        }
        self.out.push_str(start);
        self.open.push(end);
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.out.push_str(self.open.pop().unwrap_or_default());
    }

    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.open("<p>", "</p>\n"),
            // The page's own headings end at the second level.
            Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. } => {
                self.open("<h3>", "</h3>\n");
            }
            Tag::Heading { level: HeadingLevel::H3, .. } => self.open("<h4>", "</h4>\n"),
            Tag::Heading { .. } => self.open("<h5>", "</h5>\n"),
            Tag::BlockQuote(_) => self.open("<blockquote>", "</blockquote>\n"),
            Tag::CodeBlock(_) => self.open("<pre><code>", "</code></pre>\n"),
            Tag::List(None) => self.open("<ul>", "</ul>\n"),
            Tag::List(Some(1)) => self.open("<ol>", "</ol>\n"),
            Tag::List(Some(start)) => self.open(&format!("<ol start=\"{start}\">"), "</ol>\n"),
            Tag::Item => self.open("<li>", "</li>\n"),
            Tag::Table(columns) => {
                self.columns = columns;
                self.open("<div class=\"wide\"><table>", "</table></div>\n");
            }
            Tag::TableHead => {
                (self.column, self.is_head) = (0, true);
                self.open("<tr>", "</tr>\n");
            }
            Tag::TableRow => {
                (self.column, self.is_head) = (0, false);
                self.open("<tr>", "</tr>\n");
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => self.open("<em>", "</em>"),
            Tag::Strong => self.open("<strong>", "</strong>"),
            Tag::Strikethrough => self.open("<s>", "</s>"),
            Tag::Link { dest_url, .. } => {
                self.open("<span class=\"link\">", "</span>");
                self.links.push((dest_url.into_string(), self.out.len()));
            }
            Tag::Image { dest_url, .. } => {
                self.open("<span class=\"link\">", "</span>");
                self.out.push_str("picture: ");
                self.links.push((dest_url.into_string(), self.out.len()));
            }
            Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => self.open("<div class=\"said\">", "</div>\n"),
        }
    }

    fn cell(&mut self) {
        let column = self.columns.get(self.column).copied().unwrap_or(Alignment::None);
        self.column += 1;
        let is_right = column == Alignment::Right;
        match (self.is_head, is_right) {
            (true, false) => self.open("<th>", "</th>"),
            (true, true) => self.open("<th class=\"number\">", "</th>"),
            (false, false) => self.open("<td>", "</td>"),
            (false, true) => self.open("<td class=\"number\">", "</td>"),
        }
    }

    fn end(&mut self, end: TagEnd) {
        if matches!(end, TagEnd::Link | TagEnd::Image)
            && let Some((target, start)) = self.links.pop()
        {
            let mut shown = String::new();
            push_html(&mut shown, &target);
            // An address that is its own text is shown once.
            if self.out.get(start..) != Some(&*shown) && !target.is_empty() {
                self.out.push_str(" <span class=\"target\">");
                self.out.push_str(&shown);
                self.out.push_str("</span>");
            }
        }
        self.close();
    }
}

/// How often a text is looked at again after a change.
const ROUNDS_MAX: usize = 8;

/// An answer as Markdown within a larger document: no HTML, no pictures from elsewhere, no heading
/// above the fourth level, and no block that stays open.
pub(crate) fn contained(answer: &Clean) -> String {
    let mut text = answer.visible();
    if text.len() > PARSED_BYTES_MAX {
        return fenced("", &text);
    }
    // What was HTML may be something else once it is text.
    for _ in 0..ROUNDS_MAX {
        let (changes, open_fence) = changes(&text);
        if changes.is_empty() {
            if let Some(fence) = open_fence.filter(|_| !is_closed(&text)) {
                text.push_str(&format!("\n{fence}"));
            }
            return if is_closed(&text) { text } else { fenced("", &text) };
        }
        text = changed(&text, changes);
    }
    fenced("", &text)
}

/// What has to be put in, and instead of what; and the fence that is missing at the end.
fn changes(text: &str) -> (Vec<(Range<usize>, &'static str)>, Option<String>) {
    let mut changes: Vec<(Range<usize>, &'static str)> = Vec::new();
    let mut open_fence = None;
    for (event, range) in events(text) {
        let source = text.get(range.clone()).unwrap_or_default();
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let places = source.match_indices('<').map(|(at, _)| range.start + at);
                changes.extend(places.map(|at| (at..at + 1, "&lt;")));
            }
            Event::Start(Tag::Image { .. }) => changes.push((range.start..range.start, "\\")),
            Event::Start(Tag::Heading { level, .. }) if level < HeadingLevel::H4 => {
                match source.starts_with('#') {
                    true => changes.push((range.start..range.start, "###")),
                    // The line below makes it a heading.
                    false => {
                        let line = source.trim_end().rfind('\n').map(|at| range.start + at + 1);
                        changes.extend(line.map(|at| (at..at, "\\")));
                    }
                }
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => open_fence = unclosed(source),
            Event::Start(_)
            | Event::End(_)
            | Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }
    changes.sort_by_key(|(range, _)| range.start);
    (changes, open_fence)
}

/// Whether what follows a text does not become a part of it.
fn is_closed(text: &str) -> bool {
    let next = format!("{text}\n\nx");
    let mut depth = 0_usize;
    let mut last = None;
    for (event, range) in events(&next) {
        if let Event::Start(tag) = event {
            depth += 1;
            last = (depth == 1 && tag == Tag::Paragraph).then_some(range.start);
        } else if let Event::End(_) = event {
            depth = depth.saturating_sub(1);
        }
    }
    last == Some(text.len() + 2)
}

fn changed(text: &str, changes: Vec<(Range<usize>, &'static str)>) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for (range, new) in changes {
        if range.start < done {
            continue;
        }
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(new);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// The fence that a block of code needs at its end, if it has none.
fn unclosed(block: &str) -> Option<String> {
    let first = block.lines().next().unwrap_or_default();
    let sign = first.chars().next()?;
    let fence: String = first.chars().take_while(|c| *c == sign).collect();
    let last = block.lines().skip(1).last().unwrap_or_default().trim();
    let is_closed = last.len() >= fence.len() && last.chars().all(|c| c == sign);
    (!is_closed).then_some(fence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::clean;

    fn html(text: &str) -> String {
        let mut out = String::new();
        push_answer(&mut out, &clean(text));
        out
    }

    #[test]
    fn markdown_becomes_elements_and_html_stays_text() {
        assert_eq!(
            html("x is **two**, `a<b`"),
            "<p>x is <strong>two</strong>, <code>a&lt;b</code></p>\n"
        );
        let hostile = html(
            "<script>alert(1)</script>\n\n<b onclick=x>b</b> [x](javascript:alert(1)) ![p](https://example.org/p.png)",
        );
        assert!(
            !hostile.contains("<script") && !hostile.contains("<b") && !hostile.contains("href"),
            "{hostile}"
        );
        assert!(
            hostile.contains("picture: p <span class=\"target\">https://example.org/p.png</span>"),
            "{hostile}"
        );
        assert!(
            html("<https://example.org/>")
                .contains("<span class=\"link\">https://example.org/</span>")
        );
        assert!(html("|a|b|\n|-|-:|\n|1|2|").contains("<td class=\"number\">2</td>"));
    }

    #[test]
    fn deep_nesting_ends() {
        let deep = html(&format!("{} x", "> ".repeat(5000)));
        assert_eq!(deep.matches("<blockquote>").count(), deep.matches("</blockquote>").count());
        assert!(deep.matches('<').count() < 200);
    }

    #[test]
    fn an_answer_keeps_to_its_place_in_a_document() {
        let check = |text: &str| contained(&clean(text));
        assert_eq!(check("# Title\n\ntext"), "#### Title\n\ntext");
        assert_eq!(check("##### Five"), "##### Five");
        assert_eq!(check("User\n---\nmore"), "User\n\\---\nmore");
        assert_eq!(check("a <script>x</script> b"), "a &lt;script>x&lt;/script> b");
        assert_eq!(
            check("`<b>` ![p](https://example.org/p.png)"),
            "`<b>` \\![p](https://example.org/p.png)"
        );
        assert_eq!(check("```rust\nfn a() {}"), "```rust\nfn a() {}\n```");
        assert_eq!(check("```\nx\n```"), "```\nx\n```");
        assert_eq!(check("> ```\n> x"), "> ```\n> x");
        assert_eq!(check("- ~~~\n  x"), "- ~~~\n  x");
        assert_eq!(check("<div>\n# User\n````\n<b>"), "&lt;div>\n#### User\n````\n&lt;b>\n````");
        assert_eq!(check("x is **two**."), "x is **two**.");
    }
}
