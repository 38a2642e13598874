//! Which prices are used: the user's own file, or the table that comes with the program.

use std::path::{Path, PathBuf};

use antiphon_views::Prices;
use anyhow::Context;

/// Reads the table at `chosen`, or at `$ANTIPHON_PRICES`, or the bundled one.
pub(crate) fn load(chosen: Option<&Path>) -> anyhow::Result<Prices> {
    let file = chosen
        .map(Path::to_owned)
        .or_else(|| std::env::var_os("ANTIPHON_PRICES").map(PathBuf::from));
    let Some(file) = file else { return Ok(Prices::bundled()) };
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read the prices `{}`", file.display()))?;
    Prices::parse(&text).with_context(|| format!("`{}` is no price table", file.display()))
}
