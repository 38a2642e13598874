//! Bytes as text, whatever they are.

use std::borrow::Cow;

/// The text of a file. Each byte that is not valid UTF-8 becomes `?`, so that offsets stay the
/// same.
pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut at = error.utf8_error().valid_up_to();
        let mut bytes = error.into_bytes();
        // In place, so that a long text is not held twice.
        while let Err(error) = std::str::from_utf8(bytes.get(at..).unwrap_or_default()) {
            at += error.valid_up_to();
            let rest = bytes.get_mut(at..).unwrap_or_default();
            let len = error.error_len().unwrap_or(rest.len());
            rest.get_mut(..len).unwrap_or_default().fill(b'?');
            at += len;
        }
        String::from_utf8(bytes).unwrap_or_default()
    })
}

/// Like [`text`], without taking the bytes.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(text(bytes.to_vec())),
    }
}
