//! `view context-links`.

use antiphon_views::{ContextLink, FactBasis, context_links};

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::terminal::{Page, Style};

pub(crate) fn run(args: &SessionArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(args)?;
    let links = context_links(&opened.reading())?;
    super::present(&opened, args.json, &links, |page, links| {
        if links.is_empty() {
            return page.plain("No call used what another call had read or found.").end();
        }
        links.iter().try_for_each(|link| print(page, link))
    })
}

fn print(page: &mut Page, link: &ContextLink) -> anyhow::Result<()> {
    page.add(Style::Call, &link.from_call).plain(" ──▶ ").add(Style::Call, &link.to_call);
    page.plain(&format!("  {}", link.source));
    let how = match link.basis {
        FactBasis::Recorded => link.basis.as_str().to_owned(),
        FactBasis::Inferred => format!("{}: {}", link.basis.as_str(), link.rule.as_str()),
    };
    page.faint(&format!("  {} ({how})", link.kind)).end()
}
