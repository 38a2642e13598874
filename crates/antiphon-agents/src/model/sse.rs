//! Server-sent events: how services stream their answers. Bytes in, events out; pure.

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// What it is, where it says so (`event:`).
    pub event: String,
    /// The lines of `data:`, joined by line feeds.
    pub data: String,
}

/// What one event may hold. A longer one is no answer of a model.
pub const EVENT_BYTES_MAX: usize = 16 << 20;

/// Splits a stream into its events, however it is cut into pieces.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    is_begun: bool,
    current: SseEvent,
    has_data: bool,
}

/// An event was longer than [`EVENT_BYTES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

impl SseParser {
    /// Takes the next piece, and calls `each` with every event that it completes.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(SseEvent)) -> Result<(), TooLong> {
        for &byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    if let Some(event) = self.end_line() {
                        each(event);
                    }
                }
                _ => {
                    self.after_return = false;
                    self.line.push(byte);
                    if self.line.len() + self.current.data.len() > EVENT_BYTES_MAX {
                        return Err(TooLong);
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes a line in; gives the event that an empty one ends.
    fn end_line(&mut self) -> Option<SseEvent> {
        let mut bytes = std::mem::take(&mut self.line);
        if !self.is_begun {
            self.is_begun = true;
            if bytes.starts_with(b"\xEF\xBB\xBF") {
                bytes.drain(..3);
            }
        }
        let line = String::from_utf8_lossy(&bytes);
        if line.is_empty() {
            let event = std::mem::take(&mut self.current);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.current.data.push('\n');
                }
                self.current.data.push_str(value);
                self.has_data = true;
            }
            "event" => self.current.event = value.to_owned(),
            // A comment, `id`, `retry`: nothing that a model's answer needs.
            _ => {}
        }
        drop(line);
        bytes.clear();
        self.line = bytes;
        None
    }
}

#[cfg(test)]
mod tests;
