//! `antiphon config`: the settings in force, and where each comes from.

use antiphon_library::{Config, ConfigRow, Environment, config_rows};
use clap::Args;
use serde_json::Value;

use crate::failure::Outcome;
use crate::terminal::{self, Page, Style};

#[derive(Debug, Args)]
#[command(after_help = "\
Settings are in `antiphon.toml`: the file that $ANTIPHON_CONFIG names, the project's, or your own in
~/.config/antiphon/; the first that exists is used. The source of a setting is that file, a variable,
or `default`.")]
pub(crate) struct ConfigArgs {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ConfigArgs) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let rows = config_rows(&Config::load(None, &environment)?, &environment);
    if args.json {
        terminal::json(&rows)?;
        return Ok(Outcome::Done);
    }
    let values: Vec<String> = rows.iter().map(|row| in_words(&row.value)).collect();
    let keys_width = rows.iter().map(|row| row.key.len()).max().unwrap_or_default();
    let values_width = values.iter().map(|it| it.chars().count()).max().unwrap_or_default();
    let mut page = Page::new();
    page.add(
        Style::Head,
        &format!("{:<keys_width$}  {:<values_width$}  SOURCE", "SETTING", "VALUE"),
    );
    page.end()?;
    for (ConfigRow { key, source, .. }, value) in rows.iter().zip(values) {
        page.add(Style::Name, &format!("{key:<keys_width$}"));
        page.plain(&format!("  {value:<values_width$}")).faint(&format!("  {source}")).end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}

fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "(none)".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
