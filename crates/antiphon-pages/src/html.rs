//! One HTML page: everything in one file, nothing from outside, no script.

mod call;
mod head;
mod steps;

use std::io::Write;

use crate::walk::walk;
use crate::{Page, PageError};

/// Writes a page.
pub fn write_html(page: &Page<'_>, out: &mut dyn Write) -> Result<(), PageError> {
    let facts = page.facts()?;
    let mut text = String::new();
    head::push_head(&mut text, page, &facts);
    out.write_all(text.as_bytes())?;
    let mut writer = steps::Steps::new(page, out, &facts);
    walk(page, &mut writer)?;
    writer.finish()
}
