//! The terminal: the only way from recorded text to a person's screen.
//!
//! Everything that is printed passes a [`Page`], which escapes it, or [`json`], which does the
//! same in JSON's own way. Nothing else in the program writes to stdout or stderr.

mod bar;
mod escape;
mod page;
mod screen;
mod table;
mod text;

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

pub(crate) use antiphon_views::{clip, count, dollars, duration, size, tokens};
pub(crate) use bar::Bar;
pub(crate) use escape::{escape, escape_json, escape_line};
pub(crate) use page::{Page, Style};
pub(crate) use screen::{Colour, Screen};
pub(crate) use table::{Column, Table};
pub(crate) use text::{ago, clip_path, pad, product, when};

/// Prints one JSON document: for a person on a terminal, in one line otherwise.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let text = match out.is_terminal() {
        true => serde_json::to_string_pretty(value)?,
        false => serde_json::to_string(value)?,
    };
    out.write_all(escape_json(&text).as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Prints one JSON document that is a list, row by row: it may be longer than memory.
pub(crate) fn json_rows<T: Serialize>(
    rows: impl Iterator<Item = anyhow::Result<T>>,
) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let is_pretty = out.get_ref().is_terminal();
    let mut is_first = true;
    out.write_all(b"[")?;
    for row in rows {
        let row = row?;
        let before = if is_first { "" } else { "," };
        is_first = false;
        match is_pretty {
            // A list is indented once more than what stands in it.
            true => {
                let text = serde_json::to_string_pretty(&row)?.replace('\n', "\n  ");
                write!(out, "{before}\n  {}", escape_json(&text))?;
            }
            false => write!(out, "{before}{}", escape_json(&serde_json::to_string(&row)?))?,
        }
    }
    out.write_all(if is_pretty && !is_first { b"\n]\n" } else { b"]\n" })?;
    out.flush()?;
    Ok(())
}

/// Lines of JSON Lines, many at a time.
#[derive(Debug, Default)]
pub(crate) struct JsonLines {
    buffer: String,
}

impl JsonLines {
    const FLUSH_BYTES: usize = 64 << 10;

    pub(crate) fn add(&mut self, line: &str) -> anyhow::Result<()> {
        self.buffer.push_str(&escape_json(line.trim_end()));
        self.buffer.push('\n');
        if self.buffer.len() >= Self::FLUSH_BYTES { self.flush() } else { Ok(()) }
    }

    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        let written = document(&self.buffer);
        self.buffer.clear();
        written
    }
}

/// Prints lines of our own making, escaped, at once.
pub(crate) fn lines(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{}\n", escape(text)).as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints a document of ours (SVG, Mermaid), whose maker has escaped what it holds.
pub(crate) fn document(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Where a document of ours goes that is written a piece at a time, by whoever has escaped what it
/// holds.
pub(crate) fn stdout() -> Box<dyn io::Write> {
    Box::new(io::stdout().lock())
}

/// Gives bytes to whoever reads stdout; not to a terminal, which would act on them. Whether it did.
pub(crate) fn bytes(bytes: &[u8]) -> anyhow::Result<bool> {
    if io::stdout().is_terminal() {
        return Ok(false);
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(true)
}

/// Shows how far something has come, in place of what it showed before.
pub(crate) fn progress(text: &str) {
    let _ = io::stderr().lock().write_all(format!("\r\u{1b}[K{}", escape(text)).as_bytes());
}

/// Says something on stderr. If even that fails there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(format!("{}\n", escape(text)).as_bytes());
}
