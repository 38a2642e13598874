//! A table: headers, rows, and one column that gives way where the terminal is narrow.

use unicode_width::UnicodeWidthStr;

use super::escape::escape_line;
use super::page::{Page, Style};
use super::text::{clip_end, clip_path, pad};

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    head: &'static str,
    side: Side,
    cut: Cut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// What happens to a column where there is no room for all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Never,
    /// Cells lose their end.
    End,
    /// Cells lose their middle, as paths do.
    Middle,
}

impl Column {
    pub(crate) const fn text(head: &'static str) -> Self {
        Self { head, side: Side::Left, cut: Cut::Never }
    }

    pub(crate) const fn number(head: &'static str) -> Self {
        Self { head, side: Side::Right, cut: Cut::Never }
    }

    /// This column is cut where there is no room.
    pub(crate) const fn cut(self) -> Self {
        Self { cut: Cut::End, ..self }
    }

    /// This column is cut in the middle where there is no room.
    pub(crate) const fn cut_in_the_middle(self) -> Self {
        Self { cut: Cut::Middle, ..self }
    }
}

/// Rows of cells. A row is never broken into several lines.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<(Style, String)>>,
}

/// The space between columns.
const GAP: usize = 2;

/// A column that is cut keeps at least this much.
const LEAST: usize = 12;

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<(Style, String)>) {
        let escaped = |(style, text): (Style, String)| (style, escape_line(&text).into_owned());
        self.rows.push(cells.into_iter().map(escaped).collect());
    }

    pub(crate) fn print(&self, page: &mut Page) -> anyhow::Result<()> {
        let widths = self.widths(page.width);
        let heads = self.columns.iter().map(|column| (Style::Faint, column.head.to_owned()));
        self.line(page, &widths, &heads.collect::<Vec<_>>())?;
        self.rows.iter().try_for_each(|row| self.line(page, &widths, row))
    }

    /// Prints the rows without headers, where a heading says what they are.
    pub(crate) fn print_rows(&self, page: &mut Page) -> anyhow::Result<()> {
        let widths = self.widths(page.width);
        self.rows.iter().try_for_each(|row| self.line(page, &widths, row))
    }

    fn line(
        &self,
        page: &mut Page,
        widths: &[usize],
        cells: &[(Style, String)],
    ) -> anyhow::Result<()> {
        let last = cells.iter().rposition(|(_, text)| !text.is_empty()).unwrap_or_default();
        let columns = self.columns.iter().zip(widths).zip(cells).enumerate();
        for (at, ((column, &width), (style, text))) in columns.take(last + 1) {
            let text = match column.cut {
                Cut::Never => text.clone(),
                Cut::End => clip_end(text, width),
                Cut::Middle => clip_path(text, width),
            };
            let before = if at == 0 { 0 } else { GAP };
            let space = " ".repeat(width.saturating_sub(text.width()));
            match column.side {
                Side::Right => {
                    page.plain(&" ".repeat(before)).plain(&space).add(*style, &text);
                }
                // No spaces at the end of a line.
                Side::Left if at == last => {
                    page.plain(&" ".repeat(before)).add(*style, &text);
                }
                Side::Left => {
                    page.plain(&" ".repeat(before)).add(*style, &pad(&text, width));
                }
            }
        }
        page.end()
    }

    /// The width of each column; those that may be cut share what the others leave.
    fn widths(&self, room: Option<usize>) -> Vec<usize> {
        let widest = |(at, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            let cells = cells.map(|(_, text)| text.width()).max().unwrap_or_default();
            cells.max(column.head.width())
        };
        let mut widths: Vec<usize> = self.columns.iter().enumerate().map(widest).collect();
        let Some(room) = room else { return widths };
        let all = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let mut missing = all.saturating_sub(room);
        while missing > 0 {
            let may_shrink = self.columns.iter().zip(&mut widths);
            let widest = may_shrink
                .filter(|(column, width)| column.cut != Cut::Never && **width > LEAST)
                .map(|(_, width)| width)
                .max();
            let Some(widest) = widest else { break };
            *widest -= 1;
            missing -= 1;
        }
        widths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [
            Column::text("name").cut(),
            Column::number("calls"),
            Column::text("path").cut_in_the_middle(),
        ];
        let mut table = Table::new(&columns);
        let cells = |cells: [&str; 3]| cells.map(|it| (Style::Plain, it.to_owned())).to_vec();
        table.row(cells(["a short one", "12", "/srv/shop/src/deeply/nested/file.rs"]));
        table.row(cells(["a name that goes on and on\u{7}", "1,234", ""]));
        table
    }

    fn printed(width: Option<usize>) -> String {
        let mut page = Page::live();
        page.width = width;
        table().print(&mut page).unwrap();
        page.take()
    }

    #[test]
    fn without_a_terminal_nothing_is_cut() {
        assert_eq!(
            printed(None),
            "name                             calls  path\n\
             a short one                         12  /srv/shop/src/deeply/nested/file.rs\n\
             a name that goes on and on\\u{7}  1,234\n"
        );
    }

    #[test]
    fn on_a_narrow_terminal_texts_lose_their_end_and_paths_their_middle() {
        let text = printed(Some(40));
        assert!(text.lines().all(|line| line.width() <= 40), "{text}");
        assert!(text.contains("a name tha") && text.contains("e.rs"), "{text}");
        assert_eq!(text.matches('…').count(), 2, "{text}");
    }
}
