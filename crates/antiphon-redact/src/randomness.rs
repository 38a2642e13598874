//! Whether a text is random, or consists of words.
//!
//! The length of the text in bits is computed twice: as words, in the way of prose and of programs
//! (`getAccessToken`, `DB_PASSWORD_2`), and as random characters. A random text takes more bits as
//! words; a name takes fewer.

/// The cost of a letter in words, in half bits (`a` is 0, `z` is 25): as the first of a word, and
/// then after an `a`, after a `b` and so on. Counted in the words of programs and their
/// documentation, each weighted by the logarithm of its frequency.
const LETTERS: [&[u8; 26]; 27] = [
    b"ijhiijklipnkjjkipigikllnqp",
    b"pjhiqokrksngjhsjtgiflmpnmr",
    b"gmjmhmpqgmpfmoimuiimhpsrkq",
    b"golmhnmhjtijmnfmqjjhknqrnu",
    b"immjelnpfprknnimpiiljnoqot",
    b"joiglllqnsqjkgolnfghplnjot",
    b"imkjignrfushmmhlqiikjsprnu",
    b"jonoeolihtqklijmpghmjopqpq",
    b"fqoleqqpgtpllngotjljkqnrlq",
    b"klijkkjtrtqjjehkskihrlsnuk",
    b"golpflnshojsmoflomhlgolqos",
    b"ilmjdlmngprkokllrlgjlomuor",
    b"gomkfnprftmhongntojjloqtis",
    b"fknmeooqguolknhgroiljrsspt",
    b"ipihhkgpjsmmpminsohglmrsps",
    b"mlhjollrmrmiifkitgjjiljprs",
    b"gomngonliuohnohisfjikporlu",
    b"mlmjllmqlrtimknmmljocoqqtt",
    b"golkenmrgummklhlrkiilnprlt",
    b"kpjnfnmjgsmlmnjjpnifipnqlp",
    b"hpkmfmpjfuqlmnilshikkppnkq",
    b"kjjmjkltjurhifmithhgqstour",
    b"fnlmclppgtsllnjmrmllqrroqs",
    b"folkgnpigrpkmhimphjloqpoqt",
    b"ilhkgjpmhssklnkgolkfnopmnq",
    b"kmkmjllojrrjihkerlghqnmqnn",
    b"iqmlcnophttnnpirtqlnorqtnl",
];

/// Half bits for a capital within words (`accessToken`).
const CAMEL: i32 = 9;
/// Half bits for a digit after a letter, for a letter after a digit, and for the digit itself.
const DIGIT_IN: i32 = 10;
const DIGIT_OUT: i32 = 14;
const DIGIT: i32 = 7;
/// Half bits for a separator between words, and for any other character.
const SEPARATOR: i32 = 5;
const SYMBOL: i32 = 18;
/// Additional half bits for a word of one, two or three letters.
const SHORT: [i32; 4] = [0, 12, 7, 3];

/// How many bits more a text takes as words than as random characters.
pub(crate) fn surplus_bits(text: &str) -> i32 {
    (words(text) - chance(text)) / 2
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Separator,
    Symbol,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' => Class::Lower,
        b'A'..=b'Z' => Class::Upper,
        b'0'..=b'9' => Class::Digit,
        b'_' | b'-' | b'.' | b'/' | b':' | b' ' => Class::Separator,
        _ => Class::Symbol,
    }
}

/// Half bits for a letter: of a new word, or after another letter.
fn letter(before: Option<u8>, byte: u8) -> i32 {
    let number = |byte: u8| usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'));
    let row = before.map_or(0, |before| number(before) + 1);
    let bits = LETTERS.get(row).and_then(|row| row.get(number(byte)));
    bits.map_or(SYMBOL, |bits| i32::from(bits - b'a'))
}

fn words(text: &str) -> i32 {
    let mut total = 0;
    let mut before: Option<u8> = None;
    // How many capitals, and how many letters of the word, precede.
    let (mut capitals, mut length) = (0, 0_usize);
    let short = |length: usize| SHORT.get(length).copied().unwrap_or_default();
    for byte in text.bytes() {
        let (now, last) = (class(byte), before.map(class));
        let is_letter = matches!(now, Class::Lower | Class::Upper);
        let was_letter = matches!(last, Some(Class::Lower | Class::Upper));
        total += match (last, now) {
            (Some(Class::Lower), Class::Upper) => {
                let ended = std::mem::take(&mut length);
                CAMEL + short(ended) + letter(None, byte)
            }
            // The last of several capitals begins a word: `HTTPServer`.
            (Some(Class::Upper), Class::Lower) if capitals > 1 => {
                let ended = std::mem::replace(&mut length, 1);
                CAMEL + short(ended.saturating_sub(1)) + letter(before, byte)
            }
            _ if is_letter && was_letter => letter(before, byte),
            (Some(Class::Digit), _) if is_letter => DIGIT_OUT + letter(None, byte),
            _ if is_letter => letter(None, byte),
            (Some(Class::Digit), Class::Digit) => DIGIT,
            (_, Class::Digit) if was_letter => DIGIT_IN + DIGIT + short(length),
            (_, Class::Digit) => SEPARATOR + DIGIT,
            (_, Class::Separator) => SEPARATOR + short(length),
            _ => SYMBOL,
        };
        length = if is_letter { length + 1 } else { 0 };
        capitals = if now == Class::Upper { capitals + 1 } else { 0 };
        before = Some(byte);
    }
    total + short(length)
}

/// Half bits for a text of random characters, each as likely as the others of its class.
fn chance(text: &str) -> i32 {
    let has = |of: Class| text.bytes().any(|byte| class(byte) == of);
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let letters = if is_hex { 6 } else { 26 };
    let sizes = [
        (Class::Lower, letters),
        (Class::Upper, letters),
        (Class::Digit, 10),
        (Class::Separator, 3),
        (Class::Symbol, 10),
    ];
    let size: u32 = sizes.iter().filter(|(of, _)| has(*of)).map(|(_, size)| size).sum();
    let length = i32::try_from(text.len()).unwrap_or(i32::MAX / 64);
    // Sixteenths of half bits are exact enough.
    let each = f64::from(size.max(1)).log2() * 32.0;
    #[expect(clippy::cast_possible_truncation, reason = "at most seven bits, in sixteenths")]
    let each = each as i32;
    length.saturating_mul(each) / 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_takes_fewer_bits_as_words() {
        for text in [
            "getAccessToken",
            "DB_PASSWORD_2",
            "correct-horse-battery",
            "authentication",
            "HTTPServerError",
            "x25519_dalek",
            "user.profile.email",
            "next_page",
            "application/json",
            "my-secret-name",
        ] {
            assert!(surplus_bits(text) < 0, "{text}: {}", surplus_bits(text));
        }
    }

    #[test]
    fn what_is_chosen_by_chance_takes_more() {
        for parts in [
            ["xVs71j", "hOELNA"],
            ["iOcnH", "roVau"],
            ["ciafuuchol", "swlxclqxby"],
            ["UiYIHJvg", "MBxwemoe"],
            ["82757d5007eee325", "b73d23966cfadc7a"],
            ["tgupautb", "zjeirzge"],
        ] {
            let text = parts.concat();
            assert!(surplus_bits(&text) > 3, "{text}: {}", surplus_bits(&text));
        }
    }
}
