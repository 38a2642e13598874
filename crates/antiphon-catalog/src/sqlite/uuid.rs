//! UUIDs, which most ids are: as numbers they take less than half the room.

/// Where the dashes of a UUID are.
const DASHES: [usize; 4] = [8, 13, 18, 23];
const UUID_LEN: usize = 36;

/// The number that a UUID is, if this is one as most programs write it.
pub(super) fn uuid(text: &str) -> Option<u128> {
    if text.len() != UUID_LEN {
        return None;
    }
    let mut number = 0;
    for (at, byte) in text.bytes().enumerate() {
        let digit = match byte {
            b'-' if DASHES.contains(&at) => continue,
            _ if DASHES.contains(&at) => return None,
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        number = (number << 4) | u128::from(digit);
    }
    Some(number)
}

/// Writes it again.
pub(super) fn push(id: &mut String, number: u128) {
    for nth in 0..32 {
        if matches!(nth, 8 | 12 | 16 | 20) {
            id.push('-');
        }
        let digit = u32::try_from((number >> ((31 - nth) * 4)) & 0xf).unwrap_or_default();
        id.extend(char::from_digit(digit, 16));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_the_same_again_is_a_uuid() {
        for id in ["0f0e0d0c-0b0a-4909-8807-060504030201", "ffffffff-ffff-ffff-ffff-ffffffffffff"] {
            let mut again = String::new();
            push(&mut again, uuid(id).unwrap());
            assert_eq!(again, id);
        }
        for other in [
            "",
            "0F0E0D0C-0B0A-4909-8807-060504030201",
            "0f0e0d0c-0b0a-4909-8807-06050403020-",
            "0f0e0d0c00b0a-4909-8807-060504030201",
            "0f0e0d0c-0b0a-4909-8807-0605040302011",
        ] {
            assert_eq!(uuid(other), None, "{other}");
        }
    }
}
