//! The arguments of a recorded command, without their secrets.

use crate::{Printed, Redact};

/// How many preceding words may show that a word is a secret: `mysql -h db -u root -p…`.
const WORDS_BEFORE: usize = 8;

/// Redacts a command line as it would be typed, because a word may be a secret due to the words
/// before it (`--password …`). The number of words stays the same.
pub(crate) fn redacted(command: &[String], redact: &mut Redact) -> Vec<String> {
    let mut clean: Vec<String> = Vec::with_capacity(command.len());
    for word in command {
        let before = clean.get(clean.len().saturating_sub(WORDS_BEFORE)..).unwrap_or_default();
        let before = before.iter().map(|word| format!("{word} ")).collect::<String>();
        let line = format!("{before}{word}");
        let line = redact(&line, Printed::Text);
        let word = match line.strip_prefix(&before) {
            Some(word) => word.to_owned(),
            None => redact(word, Printed::Text).into_owned(),
        };
        clean.push(word);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_be_a_secret_because_of_the_one_before_it() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut redact: Redact = Box::new(|text, _| {
            text.replace("--password hidden", "--password [x]").replace("token", "[y]").into()
        });
        let clean = redacted(&words("run --password hidden and hidden token"), &mut redact);
        assert_eq!(clean.join(" "), "run --password [x] and hidden [y]");
        assert_eq!(clean.len(), 6);
    }
}
