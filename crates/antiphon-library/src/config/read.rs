//! From the text of a configuration to its values, with the place of what is wrong.

use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Config;

/// What is wrong, and where in the text.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) message: String,
    span: Range<usize>,
}

impl Wrong {
    /// Line and column, each from 1.
    pub(super) fn place(&self, text: &str) -> (usize, usize) {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }
}

/// A setting.
pub(super) struct Setting {
    /// Its full name.
    pub(super) name: &'static str,
    /// Takes a value, or says what kind of value is expected.
    set: fn(&mut Config, &DeValue<'_>) -> Result<(), &'static str>,
    /// The value in force.
    pub(super) get: fn(&Config) -> serde_json::Value,
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "logging.agentSessions",
        set: |config, value| switch(&mut config.logging.agent_sessions, value),
        get: |config| config.logging.agent_sessions.into(),
    },
    Setting {
        name: "logging.logsDir",
        set: |config, value| {
            let path = value.as_str().filter(|path| !path.is_empty());
            config.logging.logs_dir = PathBuf::from(path.ok_or("the path of a folder, in quotes")?);
            Ok(())
        },
        get: |config| config.logging.logs_dir.to_string_lossy().into(),
    },
    Setting {
        name: "redaction.enabled",
        set: |config, value| switch(&mut config.redaction.enabled, value),
        get: |config| config.redaction.enabled.into(),
    },
    Setting {
        name: "library.fresh",
        set: |config, value| switch(&mut config.library.fresh, value),
        get: |config| config.library.fresh.into(),
    },
];

fn switch(setting: &mut bool, value: &DeValue<'_>) -> Result<(), &'static str> {
    *setting = value.as_bool().ok_or("true or false")?;
    Ok(())
}

pub(super) fn read(text: &str, config: &mut Config) -> Result<(), Wrong> {
    let tables = DeTable::parse(text).map_err(|error| Wrong {
        message: error.message().to_owned(),
        span: error.span().unwrap_or_default(),
    })?;
    // In the order of the file, so that the first that is wrong is told.
    for (name, value) in in_order(tables.get_ref()) {
        let inside = format!("{}.", name.get_ref());
        if !SETTINGS.iter().any(|setting| setting.name.starts_with(&inside)) {
            return Err(unknown(name.get_ref(), name.span()));
        }
        let DeValue::Table(table) = value.get_ref() else {
            return Err(wrong_type(name.get_ref(), "a table", value));
        };
        for (key, value) in in_order(table) {
            let full = format!("{inside}{}", key.get_ref());
            let known = SETTINGS.iter().find(|setting| setting.name == full);
            let Setting { name, set, .. } = known.ok_or_else(|| unknown(&full, key.span()))?;
            set(config, value.get_ref()).map_err(|wanted| wrong_type(&full, wanted, value))?;
            config.set.insert(name);
        }
    }
    Ok(())
}

type Entry<'t, 'i> = (&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>);

fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn unknown(key: &str, span: Range<usize>) -> Wrong {
    let known: Vec<_> = SETTINGS.iter().map(|it| format!("`{}`", it.name)).collect();
    let message = format!("unknown setting `{key}`; known settings: {}", known.join(", "));
    Wrong { message, span }
}

fn wrong_type(key: &str, wanted: &str, value: &Spanned<DeValue<'_>>) -> Wrong {
    let kind = value.get_ref().type_str();
    let article = if kind.starts_with(['a', 'i']) { "an" } else { "a" };
    let message = format!("`{key}` must be {wanted}, not {article} {kind}");
    Wrong { message, span: value.span() }
}
