//! The ways in which a name is written: `api_key`, `apiKey`, `X-API-Key`, `API key`.

type Style = fn(&str) -> String;

/// What joins words, and how the first of them and the others are written: `Api_key` and `APIkey`
/// do not occur.
const STYLES: &[(&str, &[[Style; 2]])] = &[
    ("_", &[[lower, lower], [title, title], [upper, title], [upper, upper]]),
    ("-", &[[lower, lower], [title, lower], [title, title], [upper, title], [upper, upper]]),
    (" ", &[[lower, lower], [title, lower], [title, title], [upper, lower], [upper, title]]),
    ("", &[[lower, lower], [lower, title], [title, title], [upper, title], [upper, upper]]),
];

/// All spellings of a name that is given as words with spaces between them.
pub(crate) fn all(name: &str) -> Vec<String> {
    let words: Vec<&str> = name.split(' ').collect();
    let mut spelt = Vec::new();
    for (between, styles) in STYLES {
        for [first, next] in *styles {
            let style = |at: usize| if at == 0 { first } else { next };
            let parts: Vec<String> =
                words.iter().enumerate().map(|(at, word)| (style(at))(word)).collect();
            spelt.push(parts.join(between));
        }
    }
    spelt.sort_unstable();
    spelt.dedup();
    spelt
}

fn lower(word: &str) -> String {
    word.to_owned()
}

fn upper(word: &str) -> String {
    word.to_ascii_uppercase()
}

fn title(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    format!("{}{rest}", first.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_in_many_ways() {
        let spelt = all("api key");
        for way in ["api_key", "apiKey", "API-Key", "API_Key", "APIKey", "Api-Key", "API key"] {
            assert!(spelt.iter().any(|own| own == way), "{way}");
        }
        assert_eq!(all("token"), ["TOKEN", "Token", "token"]);
    }
}
