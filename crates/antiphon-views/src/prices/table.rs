//! The table on disk. Everything wrong in it is an error with its place: a misunderstood price must
//! not become a wrong sum.

use std::collections::BTreeMap;
use std::fmt;

use antiphon_model::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ModelPrices, Period, Prices, Rates};

/// Why a table cannot be used.
#[derive(Debug)]
pub enum PricesError {
    /// It is not JSON, or a field is missing or unknown; the cause has line and column.
    Json(serde_json::Error),
    /// A value that is not allowed; `place` is a path like `models[3].prices[0].input`.
    Value { place: String, what: &'static str },
}

impl fmt::Display for PricesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(_) => f.write_str("the price table does not have the expected structure"),
            Self::Value { place, what } => write!(f, "price table, {place}: {what}"),
        }
    }
}

impl std::error::Error for PricesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(cause) => Some(cause),
            Self::Value { .. } => None,
        }
    }
}

fn wrong(place: impl Into<String>, what: &'static str) -> PricesError {
    PricesError::Value { place: place.into(), what }
}

pub(super) fn parse(json: &str) -> Result<Prices, PricesError> {
    let raw: RawTable<'_> = serde_json::from_str(json).map_err(PricesError::Json)?;
    if raw.currency != "USD" {
        return Err(wrong("currency", "only `USD` is supported"));
    }
    if raw.unit != "per million tokens" {
        return Err(wrong("unit", "only `per million tokens` is supported"));
    }
    day(&raw.date, || "date".to_owned())?;
    let mut models = Vec::new();
    let mut names = BTreeMap::new();
    for (n, raw) in raw.models.into_iter().enumerate() {
        let place = format!("models[{n}]");
        let aliases = raw.aliases.iter().enumerate();
        let aliases = aliases.map(|(n, alias)| (format!("{place}.aliases[{n}]"), alias));
        for (place, name) in [(format!("{place}.model"), &raw.model)].into_iter().chain(aliases) {
            if name.trim().is_empty() {
                return Err(wrong(place, "the name is empty"));
            }
            if names.insert(name.trim().to_ascii_lowercase(), n).is_some() {
                return Err(wrong(place, "the name is already in the table"));
            }
        }
        models.push(ModelPrices { periods: periods(&place, raw.prices)?, name: raw.model });
    }
    Ok(Prices { source: raw.source, date: raw.date, models, names })
}

fn periods(place: &str, raw: Vec<Fields<'_>>) -> Result<Vec<Period>, PricesError> {
    let mut periods: Vec<Period> = Vec::new();
    for (n, mut fields) in raw.into_iter().enumerate() {
        let place = format!("{place}.prices[{n}]");
        let mut date = |key: &str| match fields.remove(key) {
            Some(raw) => day(raw.get().trim_matches('"'), || format!("{place}.{key}")).map(Some),
            None => Ok(None),
        };
        let (from, until) = (date("from")?, date("until")?);
        if from.zip(until).is_some_and(|(from, until)| until <= from) {
            return Err(wrong(format!("{place}.until"), "the period ends before it begins"));
        }
        if periods.last().is_some_and(|before| from <= before.from) {
            return Err(wrong(format!("{place}.from"), "prices must be in the order of `from`"));
        }
        let steps = fields.remove("above");
        let base = Given::read(&place, fields)?;
        let above = steps.map_or(Ok(Vec::new()), |raw| steps_above(&place, raw, base))?;
        periods.push(Period { from, until, rates: base.resolve(&place)?, above });
    }
    if periods.is_empty() {
        return Err(wrong(format!("{place}.prices"), "the model has no prices"));
    }
    Ok(periods)
}

/// The rates above a number of tokens; a price that is left out is that of the base.
fn steps_above(place: &str, raw: &RawValue, base: Given) -> Result<Vec<(u64, Rates)>, PricesError> {
    let place = format!("{place}.above");
    let raw: Vec<Fields<'_>> =
        serde_json::from_str(raw.get()).map_err(|_| wrong(&place, "not a list of steps"))?;
    let mut steps: Vec<(u64, Rates)> = Vec::new();
    for (n, mut fields) in raw.into_iter().enumerate() {
        let place = format!("{place}[{n}]");
        let tokens = fields.remove("input_tokens").and_then(|raw| raw.get().parse().ok());
        let tokens = tokens
            .filter(|&tokens| steps.last().is_none_or(|&(before, _)| before < tokens))
            .ok_or_else(|| {
                wrong(
                    format!("{place}.input_tokens"),
                    "not a number of tokens above the previous one",
                )
            })?;
        steps.push((tokens, Given::read(&place, fields)?.or(base).resolve(&place)?));
    }
    Ok(steps)
}

/// The first moment of a day, `YYYY-MM-DD`.
fn day(text: &str, place: impl FnOnce() -> String) -> Result<Timestamp, PricesError> {
    let moment = Timestamp::parse(&format!("{text}T00:00:00.000Z"));
    moment.ok_or_else(|| wrong(place(), "not a date of the form YYYY-MM-DD"))
}

/// Prices as given: those that are left out follow from others.
#[derive(Debug, Clone, Copy, Default)]
struct Given {
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    cache_write_1h: Option<u64>,
}

impl Given {
    fn read(place: &str, fields: Fields<'_>) -> Result<Self, PricesError> {
        let mut given = Self::default();
        for (key, raw) in fields {
            let slot = match key.as_str() {
                "input" => &mut given.input,
                "output" => &mut given.output,
                "reasoning" => &mut given.reasoning,
                "cache_read" => &mut given.cache_read,
                "cache_write" => &mut given.cache_write,
                "cache_write_1h" => &mut given.cache_write_1h,
                _ => return Err(wrong(format!("{place}.{key}"), "unknown field")),
            };
            let micros = micros(raw.get());
            let what = "not a number of dollars with at most six decimals";
            *slot = Some(micros.ok_or_else(|| wrong(format!("{place}.{key}"), what))?);
        }
        Ok(given)
    }

    fn or(self, base: Self) -> Self {
        Self {
            input: self.input.or(base.input),
            output: self.output.or(base.output),
            reasoning: self.reasoning.or(base.reasoning),
            cache_read: self.cache_read.or(base.cache_read),
            cache_write: self.cache_write.or(base.cache_write),
            cache_write_1h: self.cache_write_1h.or(base.cache_write_1h),
        }
    }

    /// Fills in what is left out: cache reads and writes cost as much as input, reasoning as
    /// output.
    fn resolve(self, place: &str) -> Result<Rates, PricesError> {
        let missing = |key| wrong(format!("{place}.{key}"), "the price is missing");
        let input = self.input.ok_or_else(|| missing("input"))?;
        let output = self.output.ok_or_else(|| missing("output"))?;
        let cache_write = self.cache_write.unwrap_or(input);
        Ok(Rates {
            input,
            output,
            reasoning: self.reasoning.unwrap_or(output),
            cache_read: self.cache_read.unwrap_or(input),
            cache_write,
            cache_write_1h: self.cache_write_1h.unwrap_or(cache_write),
        })
    }
}

/// Dollars with at most six decimals as millionths of a dollar, without floating point.
fn micros(number: &str) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let decimals = decimals.trim_end_matches('0');
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 9 || decimals.len() > 6 || !is_digits(decimals) {
        return None;
    }
    format!("{whole}{decimals:0<6}").parse().ok()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable<'j> {
    source: String,
    date: String,
    currency: String,
    unit: String,
    #[serde(borrow)]
    models: Vec<RawModel<'j>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel<'j> {
    model: String,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(borrow)]
    prices: Vec<Fields<'j>>,
}

/// Read field by field, so that errors can name the field. Numbers are taken as they are written.
type Fields<'j> = BTreeMap<String, &'j RawValue>;
