//! `antiphon export --as html` and `--as markdown`: a session to share.

use std::cell::RefCell;
use std::io::{self, Write as _};

use antiphon_library::root_of;
use antiphon_pages::{Page, PageError};

use super::export::{ExportArgs, target};
use crate::failure::Outcome;
use crate::price_table;
use crate::range::local_zone;
use crate::redaction::Redaction;
use crate::terminal::product;

type WritePage = fn(&Page<'_>, &mut dyn io::Write) -> Result<(), PageError>;

/// Writes a page while the session is read.
pub(super) fn run(args: &ExportArgs, write: WritePage) -> anyhow::Result<Outcome> {
    let redaction = RefCell::new(Redaction::unless(args.no_redact));
    let opened = redaction.borrow().open(&args.session)?;
    let prices = price_table::load(None)?;
    let root = root_of(opened.session.info().cwd.as_deref());
    let mut out = io::BufWriter::new(target(args)?);
    let page = Page {
        reading: opened.reading(),
        session_id: &opened.id(),
        product: product(opened.format),
        root: root.as_deref(),
        prices: &prices,
        zone: &local_zone(),
        redact: &|text| redaction.borrow_mut().text(text.to_owned()),
        is_redacted: !args.no_redact,
        with_images: args.images,
    };
    write(&page, &mut out)?;
    out.flush()?;
    redaction.borrow().report();
    Ok(opened.outcome())
}
