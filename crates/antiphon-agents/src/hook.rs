//! What a hook answered: the first word decides, whatever its case and punctuation.

/// A verdict on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    Approve,
    Deny(String),
}

/// A verdict on words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Review {
    Accept,
    Reject(String),
    /// Deliver them, and tell the speaker something.
    Remind(String),
}

impl Approval {
    pub fn parse(answer: &str) -> Self {
        let (word, reason) = first_word(answer);
        match word.as_str() {
            "APPROVE" | "APPROVED" => Self::Approve,
            "DENY" | "DENIED" => Self::Deny(reason),
            _ => Self::Deny(not_understood("APPROVE or DENY")),
        }
    }
}

impl Review {
    pub fn parse(answer: &str) -> Self {
        let (word, reason) = first_word(answer);
        match word.as_str() {
            "ACCEPT" | "ACCEPTED" => Self::Accept,
            "REJECT" | "REJECTED" => Self::Reject(reason),
            "REMIND" => Self::Remind(reason),
            _ => Self::Reject(not_understood("ACCEPT, REJECT or REMIND")),
        }
    }
}

fn not_understood(wanted: &str) -> String {
    format!("the hook's answer was not understood (it must begin with {wanted})")
}

/// The first word in upper case, and what follows it.
fn first_word(answer: &str) -> (String, String) {
    let from = answer.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = from.find(|c: char| !c.is_alphanumeric()).unwrap_or(from.len());
    let (word, rest) = from.split_at(end);
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ".:,;!-–—*_`\"'".contains(c));
    let reason = match rest.trim_end() {
        "" => "no reason was given".to_owned(),
        reason => reason.to_owned(),
    };
    (word.to_uppercase(), reason)
}

#[cfg(test)]
mod tests;
