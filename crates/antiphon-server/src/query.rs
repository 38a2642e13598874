//! The parameters of a request: every one is known, and each is there once unless it may be
//! repeated.

use percent_encoding::percent_decode_str;

use crate::problem::Problem;

/// The parameters that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    pub(crate) fn parse(raw: &str) -> Result<Self, Problem> {
        let decode = |text: &str| {
            let text = text.replace('+', " ");
            let decoded = percent_decode_str(&text).decode_utf8();
            decoded.map(|it| it.into_owned()).map_err(|_| not_text())
        };
        let pairs = raw.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        });
        Ok(Self { pairs: pairs.collect::<Result<_, _>>()? })
    }

    /// All values of a parameter.
    pub(crate) fn all(&mut self, name: &str) -> Vec<String> {
        let taken = self.pairs.extract_if(.., |(known, _)| known == name);
        taken.map(|(_, value)| value).collect()
    }

    /// The value of a parameter that is there at most once. An empty one is none.
    pub(crate) fn one(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let mut values = self.all(name);
        match values.len() {
            0 | 1 => Ok(values.pop().filter(|value| !value.is_empty())),
            _ => Err(Problem::bad_request(format!("`{name}` is there more than once"))),
        }
    }

    /// The same, as any kind of number.
    pub(crate) fn number<N: std::str::FromStr>(
        &mut self,
        name: &str,
    ) -> Result<Option<N>, Problem> {
        let refused = || Problem::bad_request(format!("`{name}` is not a number that fits"));
        self.one(name)?.map(|text| text.parse().map_err(|_| refused())).transpose()
    }

    /// The same, as one of a few words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, Problem> {
        let Some(word) = self.one(name)? else { return Ok(None) };
        match choices.iter().find(|(known, _)| *known == word) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
                let known = known.join(", ");
                Err(Problem::bad_request(format!("`{name}` is one of {known}")))
            }
        }
    }

    /// A flag: `name=true`, or not there.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, Problem> {
        Ok(self.choice(name, &[("true", true), ("false", false)])?.unwrap_or_default())
    }

    /// What nobody has taken is refused: a misspelt parameter must not look as if it had worked.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        match self.pairs.first() {
            None => Ok(()),
            Some((name, _)) => {
                let name: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
                Err(Problem::bad_request(format!("there is no parameter `{name}`")))
            }
        }
    }
}

fn not_text() -> Problem {
    Problem::bad_request("a parameter is not UTF-8")
}

#[cfg(test)]
mod tests;
