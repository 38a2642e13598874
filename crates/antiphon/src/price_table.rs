//! Choosing a price table: the user's own file, or the bundled one.

use std::path::Path;

use antiphon_journal::regular;
use antiphon_library::Environment;
use antiphon_views::Prices;
use anyhow::Context;

/// Reads the table at `chosen`, or at `$ANTIPHON_PRICES`, or the bundled one.
pub(crate) fn load(chosen: Option<&Path>) -> anyhow::Result<Prices> {
    Ok(own(chosen)?.unwrap_or_else(Prices::bundled))
}

/// Like [`load`], but `None` for the bundled table.
pub(crate) fn own(chosen: Option<&Path>) -> anyhow::Result<Option<Prices>> {
    let named = || Environment::of_process().antiphon_prices;
    let file = chosen.map(Path::to_owned).or_else(named);
    let Some(file) = file else { return Ok(None) };
    let text = regular::read_text(&file)
        .with_context(|| format!("cannot read the price table `{}`", file.display()))?;
    let prices = Prices::parse(&text);
    prices.map(Some).with_context(|| format!("`{}` is not a valid price table", file.display()))
}
