//! The configuration in force, and where each value comes from.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::Config;
use super::read::SETTINGS;
use crate::Environment;

/// A setting in force.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigRow {
    /// The name of the setting: for those of the configuration file, with its section
    /// (`library.fresh`).
    pub key: &'static str,
    /// Its value; null if there is none.
    pub value: Value,
    /// `default`, the configuration file that sets it, or the name of an environment variable.
    pub source: String,
}

const DEFAULT: &str = "default";

/// Every setting in force: those of the configuration file, and what only variables decide.
pub fn config_rows(config: &Config, environment: &Environment) -> Vec<ConfigRow> {
    let file = config.file.as_ref().map(|file| file.display().to_string());
    let mut rows: Vec<ConfigRow> = Vec::new();
    for setting in SETTINGS {
        let own = file.clone().filter(|_| config.set.contains(setting.name));
        let source = own.unwrap_or_else(|| DEFAULT.to_owned());
        rows.push(ConfigRow { key: setting.name, value: (setting.get)(config), source });
    }
    let path = |path: Option<&Path>| -> Value {
        path.map_or(Value::Null, |path| path.to_string_lossy().into())
    };
    let by = |variable: Option<&str>| variable.unwrap_or(DEFAULT).to_owned();
    let store = environment.store_folder();
    rows.push(ConfigRow {
        key: "store",
        value: path(store.as_deref()),
        source: by(environment.store_variable()),
    });
    let prices = environment.antiphon_prices.as_deref();
    rows.push(ConfigRow {
        key: "prices",
        value: path(prices),
        source: by(prices.map(|_| "ANTIPHON_PRICES")),
    });
    let is_named =
        environment.antiphon_config.is_some() && config.file == environment.antiphon_config;
    rows.push(ConfigRow {
        key: "file",
        value: path(config.file.as_deref()),
        source: by(is_named.then_some("ANTIPHON_CONFIG")),
    });
    rows
}
