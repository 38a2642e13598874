//! A chat on a terminal: each agent in its colour, as deep as it is in the tree, while it speaks.

use std::collections::BTreeMap;

use antiphon_agents::{Answer, News, Who};
use antiphon_model::{Json, short_arguments};

use super::input::Printer;
use crate::terminal::{self, Page, Style, clip};

/// How far in an agent stands for each step of its depth.
const INDENT: usize = 2;
/// What is shown of a call or a result where the terminal does not say how wide it is.
const WIDTH: usize = 80;

/// The terminal.
pub(super) struct Screen {
    page: Page,
    /// The number of each agent's colour, by name, in the order in which they spoke.
    colours: BTreeMap<String, usize>,
    /// Whose words are being printed, and how deep that agent is.
    speaker: Option<(String, usize)>,
    /// Prints above a prompt that is being edited.
    printer: Printer,
    is_aside: bool,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Screen({} agents)", self.colours.len())
    }
}

impl Screen {
    pub(super) fn new(printer: Printer) -> Self {
        let (colours, speaker) = (BTreeMap::new(), None);
        Self { page: Page::live(), colours, speaker, printer, is_aside: false }
    }

    /// Says whether a prompt is being edited: then only whole lines are printed, above it.
    pub(super) fn set_aside(&mut self, is_aside: bool) {
        self.end_line();
        self.is_aside = is_aside;
    }

    /// Shows what happens.
    pub(super) fn show(&mut self, news: News<'_>) {
        match news {
            News::Words { who, words } => self.words(who, words),
            News::Answered { who, answer } => self.answered(who, answer),
            News::Result { who, text, is_error, .. } => {
                let style = if is_error { Style::Bad } else { Style::Faint };
                let room = self.room(who.depth + 1);
                self.line(who.depth + 1, style, &format!("= {}", clip(text, room)));
            }
            News::Retry { who, error, after } => {
                let seconds = after.as_secs_f32();
                let words = format!("{}: {error}; trying again in {seconds:.1} s", who.name);
                self.note(&words);
            }
            News::Note(note) => self.note(note),
        }
    }

    /// Says something that no agent says.
    pub(super) fn note(&mut self, words: &str) {
        for line in words.lines() {
            self.line(0, Style::Faint, line);
        }
    }

    fn words(&mut self, who: Who<'_>, words: &str) {
        let is_same = self.speaker.as_ref().is_some_and(|(name, _)| name == who.name);
        if !is_same {
            self.end_line();
            let next = self.colours.len();
            let colour = *self.colours.entry(who.name.to_owned()).or_insert(next);
            self.page.plain(&indent(who.depth));
            self.page.add(Style::Agent(colour), who.name).plain(": ");
            self.speaker = Some((who.name.to_owned(), who.depth));
        }
        for (number, line) in words.split('\n').enumerate() {
            if number > 0 {
                let _ = self.page.end();
                self.page.plain(&indent(who.depth + 1));
            }
            self.page.plain(line);
        }
        if !self.is_aside {
            self.print();
        }
    }

    fn answered(&mut self, who: Who<'_>, answer: &Answer) {
        if self.speaker.is_none() && !answer.content.is_blank() {
            self.words(who, &answer.content.words());
        }
        self.end_line();
        for call in &answer.calls {
            let arguments = short_arguments(Json::text(&call.arguments).as_str());
            let room = self.room(who.depth + 1);
            let words = clip(&format!("{} {}({arguments})", who.name, call.name), room);
            self.line(who.depth + 1, Style::Call, &words);
        }
    }

    fn room(&self, depth: usize) -> usize {
        self.page.width.unwrap_or(WIDTH).saturating_sub(INDENT * depth + 3)
    }

    fn line(&mut self, depth: usize, style: Style, text: &str) {
        self.end_line();
        self.page.plain(&indent(depth)).add(style, text);
        let _ = self.page.end();
        self.print();
    }

    /// Ends the line of whoever is speaking.
    fn end_line(&mut self) {
        if self.speaker.take().is_some() {
            let _ = self.page.end();
        }
        self.print();
    }

    /// Prints what there is. If nobody sees it, the log has it.
    fn print(&mut self) {
        let text = self.page.take();
        if text.is_empty() {
            return;
        }
        let _ = match self.is_aside {
            true => self.printer.print(text).map_err(Into::into),
            false => terminal::document(&text),
        };
    }
}

fn indent(depth: usize) -> String {
    // However deep an agent is, its words have room.
    " ".repeat(INDENT * depth.min(10))
}
