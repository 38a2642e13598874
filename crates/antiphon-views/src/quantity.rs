//! Numbers, times and sizes as people write them.

use crate::Usd;

/// `1 call`, `3 calls`, `1,234 calls`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(&number.to_string()))
}

/// Digits with a comma before every third from the end: `1,234,567`.
fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A duration as a person says it: `340 ms`, `12.5 s`, `3 min 20 s`, `2 h 05 min`.
pub fn duration(millis: i64) -> String {
    let sign = if millis < 0 { "-" } else { "" };
    let millis = millis.unsigned_abs();
    let (seconds, minutes) = (millis / 1000, millis / 60_000);
    match millis {
        0..1_000 => format!("{sign}{millis} ms"),
        1_000..60_000 => format!("{sign}{}.{} s", seconds, millis % 1000 / 100),
        60_000..3_600_000 => format!("{sign}{minutes} min {:02} s", seconds % 60),
        _ => format!("{sign}{} h {:02} min", minutes / 60, minutes % 60),
    }
}

/// A number of tokens: `940`, `12.3 k`, `1.2 M`.
pub fn tokens(number: u64) -> String {
    let scaled = |unit: u64, name: &str| {
        let tenths = (u128::from(number) * 10 + u128::from(unit) / 2) / u128::from(unit);
        match tenths {
            ..1000 => format!("{}.{} {name}", tenths / 10, tenths % 10),
            _ => format!("{} {name}", tenths / 10),
        }
    };
    match number {
        0..1_000 => number.to_string(),
        // What rounds to 1000 k is 1.0 M.
        1_000..999_500 => scaled(1_000, "k"),
        999_500..999_500_000 => scaled(1_000_000, "M"),
        _ => scaled(1_000_000_000, "G"),
    }
}

/// A number of bytes: `940 bytes`, `12 KB`, `1.5 MB`.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => count(bytes, "byte"),
        1_000..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// An amount of money: `$1,234.50`, `$0.0042`. What is less than a cent is still something.
pub fn dollars(amount: Usd) -> String {
    let text = format!("{amount:.2}");
    if text == "0.00" && amount > Usd::ZERO {
        return format!("${amount:.4}");
    }
    match text.split_once('.') {
        Some((whole, cents)) => format!("${}.{cents}", grouped(whole)),
        None => format!("${text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_times_and_sizes_read_as_words() {
        assert_eq!(count(1, "call"), "1 call");
        assert_eq!(count(1_234_567, "event"), "1,234,567 events");
        let usd = |amount: f64| dollars(Usd::from_f64(amount).unwrap());
        assert_eq!(
            [0.0, 0.004_2, 0.25, 12_345.6].map(usd),
            ["$0.00", "$0.0042", "$0.25", "$12,345.60"]
        );
        assert_eq!(duration(340), "340 ms");
        assert_eq!(duration(12_540), "12.5 s");
        assert_eq!(duration(200_000), "3 min 20 s");
        assert_eq!(duration(7_500_000), "2 h 05 min");
        assert_eq!(size(12), "12 bytes");
        assert_eq!(size(12_001), "13 KB");
        assert_eq!(size(1_560_000), "1.5 MB");
        let numbers = [0, 999, 1_000, 12_345, 99_960, 999_499, 999_500, 1_234_567, 5_000_000_000];
        let shown = ["0", "999", "1.0 k", "12.3 k", "100 k", "999 k", "1.0 M", "1.2 M", "5.0 G"];
        assert_eq!(numbers.map(tokens), shown);
    }
}
