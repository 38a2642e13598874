//! A session as one self-contained picture: lanes, calls, and messages between lanes.

use antiphon_model::{BodyError, is_dangerous};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::Reading;
use crate::score::{Mark, Row, Score, score};

const MARGIN: f64 = 28.0;
const TITLE: f64 = 44.0;
const HEADER: f64 = 54.0;
const ROW: f64 = 46.0;
const CHAR: f64 = 6.6;
/// The maximum number of rows; the rest is counted at the foot.
const ROWS_MAX: usize = 400;

/// One colour per lane, distinguishable on light and dark backgrounds.
const COLOURS: [&str; 8] =
    ["#6366f1", "#0ea5e9", "#ec4899", "#22a06b", "#d97706", "#8b5cf6", "#0d9488", "#e11d48"];

const STYLE: &str = "\
svg{font-family:ui-sans-serif,system-ui,'Segoe UI',Helvetica,Arial,sans-serif;font-size:12px}\
.bg{fill:#fff}.ink{fill:#1f2430}.soft{fill:#667085}.rail{stroke:#d5d9e2}.halo{stroke:#fff}\
.call{fill:#f97316}.fail{stroke:#dc2626}.changed{stroke-dasharray:2 4}.made{stroke-dasharray:5 4}\
text.on{paint-order:stroke;stroke-width:5px;stroke-linejoin:round}\
@media(prefers-color-scheme:dark){.bg{fill:#12151c}.ink{fill:#e7eaf0}.soft{fill:#98a1b3}\
.rail{stroke:#2c3240}.halo{stroke:#12151c}}";

/// The picture of a session, with a title.
pub fn svg(reading: &Reading<'_>, title: &str) -> Result<String, BodyError> {
    Ok(draw(&score(reading)?, title))
}

fn draw(score: &Score, title: &str) -> String {
    let shown = score.rows.get(..ROWS_MAX).unwrap_or(&score.rows);
    let hidden = score.rows.len() - shown.len();
    let lanes = score.lanes.len().max(1) as f64;
    let step = (860.0 / lanes).clamp(130.0, 230.0);
    let page = Page { step, width: MARGIN * 2.0 + step * lanes };
    let foot = TITLE + HEADER + ROW * shown.len() as f64;
    let height = foot + MARGIN + if hidden > 0 { 20.0 } else { 0.0 };
    let width = page.width;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\"><title>{}</title>\
         <style>{STYLE}</style>\
         <rect class=\"bg\" width=\"100%\" height=\"100%\" rx=\"12\"/>\
         <text class=\"ink\" x=\"{MARGIN}\" y=\"34\" font-size=\"17\" font-weight=\"600\">{}</text>\n",
        escape(title),
        escape(&clip(title, width - 2.0 * MARGIN)),
    );
    for (at, lane) in score.lanes.iter().enumerate() {
        page.lane(&mut out, at, lane, foot);
    }
    for (at, row) in shown.iter().enumerate() {
        let is_agent = score.lanes.get(row.lane).is_none_or(|lane| lane.is_agent);
        page.row(
            &mut out,
            row,
            &colour(row.lane, is_agent),
            TITLE + HEADER + ROW * at as f64 + ROW / 2.0,
        );
    }
    if hidden > 0 {
        let y = foot + 24.0;
        out.push_str(&format!(
            "<text class=\"soft\" x=\"{MARGIN}\" y=\"{y:.0}\">… and {hidden} more</text>\n"
        ));
    }
    out.push_str("</svg>\n");
    out
}

struct Page {
    step: f64,
    width: f64,
}

impl Page {
    fn x(&self, lane: usize) -> f64 {
        MARGIN + self.step * (lane as f64 + 0.5)
    }

    fn lane(&self, out: &mut String, at: usize, lane: &crate::score::Lane, foot: f64) {
        let (x, fill) = (self.x(at), colour(at, lane.is_agent));
        let name = clip(&lane.name, self.step - 34.0);
        let half = (name.width() as f64 * CHAR / 2.0 + 13.0).min(self.step / 2.0 - 4.0);
        // Every lane is named at the top; its line begins where the agent does.
        let from = TITLE + HEADER - 6.0 + ROW * lane.from as f64;
        let (left, wide) = (x - half, half * 2.0);
        let (top, baseline) = (TITLE + 12.0, TITLE + 29.0);
        out.push_str(&format!(
            "<line class=\"rail\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from:.1}\" y2=\"{foot:.1}\" \
             stroke-width=\"1.5\"/>\
             <rect x=\"{left:.1}\" y=\"{top}\" width=\"{wide:.1}\" height=\"26\" rx=\"13\" \
             fill=\"{fill}\"/>\
             <text x=\"{x:.1}\" y=\"{baseline}\" fill=\"#fff\" text-anchor=\"middle\" \
             font-weight=\"600\">{}</text>\n",
            escape(&name)
        ));
    }

    fn row(&self, out: &mut String, row: &Row, fill: &str, y: f64) {
        let x = self.x(row.lane);
        for arrow in &row.arrows {
            let class = match (row.mark, arrow.changed) {
                (Mark::Made, _) => "made",
                (_, true) => "changed",
                (_, false) => "",
            };
            self.arrow(out, x, self.x(arrow.to), y + 9.0, fill, class);
        }
        let y = y + 9.0;
        out.push_str(&match row.mark {
            Mark::Said => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{fill}\"/>"),
            Mark::Received => format!(
                "<circle class=\"bg\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" stroke=\"{fill}\" \
                 stroke-width=\"1.8\"/>"
            ),
            Mark::Made => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{fill}\"/>"),
            Mark::Called => format!(
                "<path class=\"call\" d=\"M{x:.1} {:.1}l6.5 6.5l-6.5 6.5l-6.5 -6.5z\"/>",
                y - 6.5
            ),
            Mark::Failed => format!(
                "<path class=\"fail\" d=\"M{:.1} {:.1}l10 10m0 -10l-10 10\" stroke-width=\"2.4\" \
                 fill=\"none\"/>",
                x - 5.0,
                y - 5.0
            ),
        });
        self.label(out, row, x, y - 13.0);
    }

    /// A line to a lane, with its own arrow head: a shared marker could not have its colour.
    fn arrow(&self, out: &mut String, from: f64, to: f64, y: f64, stroke: &str, class: &str) {
        let side = if to > from { -1.0 } else { 1.0 };
        let (tip, back) = (to + side * 2.0, to + side * 9.0);
        out.push_str(&format!(
            "<path class=\"{class}\" d=\"M{from:.1} {y:.1}H{back:.1}\" stroke=\"{stroke}\" \
             stroke-width=\"1.5\" fill=\"none\"/>\
             <path d=\"M{tip:.1} {y:.1}L{back:.1} {:.1}V{:.1}z\" fill=\"{stroke}\"/>",
            y - 4.0,
            y + 4.0
        ));
    }

    /// The text above the mark: to the right if there is more room, else to the left.
    fn label(&self, out: &mut String, row: &Row, x: f64, y: f64) {
        let right = self.width - MARGIN / 2.0 - x;
        let left = x - MARGIN / 2.0;
        let (anchor, room, at) =
            if right >= left { ("start", right, x - 4.0) } else { ("end", left, x + 4.0) };
        let class = match row.mark {
            Mark::Said | Mark::Received => "ink",
            Mark::Made | Mark::Called | Mark::Failed => "soft",
        };
        let words = row.text.split_whitespace().collect::<Vec<_>>().join(" ");
        out.push_str(&format!(
            "<text class=\"{class} on halo\" x=\"{at:.1}\" y=\"{y:.1}\" \
             text-anchor=\"{anchor}\">{}</text>\n",
            escape(&clip(&words, room))
        ));
    }
}

fn colour(lane: usize, is_agent: bool) -> String {
    if !is_agent {
        return "#7c8497".to_owned();
    }
    COLOURS.get(lane % COLOURS.len()).copied().unwrap_or("#7c8497").to_owned()
}

/// As much of a text as fits into `room` pixels.
fn clip(text: &str, room: f64) -> String {
    if text.width() as f64 * CHAR <= room {
        return text.to_owned();
    }
    let mut used = CHAR;
    let mut out = String::new();
    for c in text.chars() {
        used += c.width().unwrap_or_default() as f64 * CHAR;
        if used > room {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// The only way from recorded text into markup.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML does not allow control characters, nor these two.
            c if is_dangerous(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_text_cannot_leave_its_element() {
        let hostile = "</text><script>alert(1)</script>\u{1b}[2J\u{202e}\"'&";
        let safe = escape(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{1b}', '\u{202e}']), "{safe}");
        assert!(safe.contains("&amp;"));
    }

    #[test]
    fn wide_characters_take_the_room_of_two() {
        assert_eq!(clip("abcdef", 100.0), "abcdef");
        assert_eq!(clip("abcdefghij", 5.0 * CHAR), "abcd…");
        assert_eq!(clip("日本語日本語", 5.0 * CHAR), "日本…");
    }
}
