//! Parses text as JSON. The parser is serde_json; this also finds keys that occur twice in an
//! object, of which serde_json would silently keep only the last.

use std::fmt;

use antiphon_model::Severity;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::at::quoted;
use super::{Code, DocumentFinding, Findings};

/// The parsed value; without one, the findings say where the text stops being JSON. The parser
/// limits nesting to 128 levels; more is an error like any other.
pub(super) fn parse(text: &str, findings: &mut Findings) -> Option<Value> {
    // A byte order mark, which some editors write, means nothing.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut repeated = Vec::new();
    let seed = DuplicateKeySeed { path: &mut String::new(), repeated: &mut repeated };
    let parsed = seed.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match parsed {
        Ok(value) => {
            for (path, key) in repeated {
                let key = quoted(&key);
                let message =
                    format!("the key {key} occurs here more than once; the last one is used");
                findings.warning(Code::DuplicateKey, path, message);
            }
            Some(value)
        }
        Err(error) => {
            findings.push(not_json(text, &error));
            None
        }
    }
}

fn not_json(text: &str, error: &serde_json::Error) -> DocumentFinding {
    let (line, byte) = (error.line(), error.column());
    let whole = error.to_string();
    let what = whole.strip_suffix(&format!(" at line {line} column {byte}")).unwrap_or(&whole);
    let what = what.replace("EOF while parsing", "the text ends inside");
    let column = column_of(text, line, byte);
    let mut message = format!("not JSON: {what} at line {line}, column {column}");
    if text.trim().is_empty() {
        message.push_str("; the file is empty");
    } else if what.starts_with("expected `,` or") {
        // By far the most frequent cause in text written by people or models.
        message.push_str("; perhaps a quotation mark inside a string is not escaped");
    }
    DocumentFinding {
        severity: Severity::Error,
        code: Code::NotJson,
        path: String::new(),
        message,
        line: Some(line),
        column: Some(column),
    }
}

/// The parser counts bytes; people and editors count characters.
fn column_of(text: &str, line: usize, byte: usize) -> usize {
    let line = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let before = line.char_indices().take_while(|(at, _)| *at < byte.saturating_sub(1));
    before.count().saturating_add(usize::from(byte > 0))
}

/// Builds a value as serde_json does, and notes duplicate keys.
struct DuplicateKeySeed<'s> {
    /// A JSON Pointer to the value being read.
    path: &'s mut String,
    /// Pointers and keys of duplicates.
    repeated: &'s mut Vec<(String, String)>,
}

impl DuplicateKeySeed<'_> {
    /// Reads a value one level down.
    fn below<T>(&mut self, step: &str, read: impl FnOnce(DuplicateKeySeed<'_>) -> T) -> T {
        let above = self.path.len();
        self.path.push('/');
        self.path.push_str(&step.replace('~', "~0").replace('/', "~1"));
        let value = read(DuplicateKeySeed { path: self.path, repeated: self.repeated });
        self.path.truncate(above);
        value
    }
}

impl<'de> DeserializeSeed<'de> for DuplicateKeySeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DuplicateKeySeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let step = list.len().to_string();
            match self.below(&step, |seed| items.next_element_seed(seed))? {
                Some(item) => list.push(item),
                None => return Ok(list.into()),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = self.below(&key, |seed| members.next_value_seed(seed))?;
            if object.contains_key(&key) {
                let path = self.below(&key, |seed| seed.path.clone());
                self.repeated.push((path, key.clone()));
            }
            object.insert(key, value);
        }
        Ok(object.into())
    }
}
