//! A filter never denies what is there, and mostly denies what is not.

use super::maker::SHORT_BYTES;
use super::*;

fn text(seed: u64, len: usize) -> String {
    let mut state = seed;
    let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGH0123456789 \n\"{}:,";
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        letters[(state >> 33) as usize % letters.len()] as char
    };
    (0..len).map(|_| next()).collect()
}

fn may_hold(filter: &Filter, word: &Grams) -> bool {
    word.segments().all(|(nth, grams)| super::may_hold(nth, filter.segment(nth), grams))
}

#[test]
fn no_block_that_holds_a_word_is_passed_over() {
    let mut maker = FilterMaker::new();
    for len in [0, 2, 3, 50, 5_000, 300_000] {
        let block = text(len as u64 + 7, len);
        let filter = maker.make(&[block.as_bytes()]);
        for start in (0..len.saturating_sub(12)).step_by(len / 40 + 1) {
            let word = &block[start..start + 12];
            assert!(may_hold(&filter, &Grams::of(word)), "{word:?} in {len}");
            assert!(may_hold(&filter, &Grams::of(&word.to_uppercase())));
        }
    }
}

#[test]
fn a_word_that_is_nowhere_is_mostly_known_to_be_nowhere() {
    let mut maker = FilterMaker::new();
    let blocks: Vec<Filter> = (0..200)
        .map(|seed| maker.make(&[format!("{{\"text\":\"plain words {seed}\"}}").as_bytes()]))
        .collect();
    let word = Grams::of("zqneedle4110e914");
    let wrong = blocks.iter().filter(|filter| may_hold(filter, &word)).count();
    assert_eq!(wrong, 0);
}

#[test]
fn a_short_text_has_the_trigrams_that_it_would_have_in_a_long_one() {
    let mut maker = FilterMaker::new();
    for len in [0, 1, 2, 3, 9, 1000, SHORT_BYTES - 4] {
        let text = text(11, len);
        let short = maker.make(&[text.as_bytes(), b"ab", b"cd"]);
        let spaces = " ".repeat(SHORT_BYTES);
        let long = maker.make(&[text.as_bytes(), b"ab", b"cd", spaces.as_bytes()]);
        for segment in 0..TRIGRAM_SEGMENTS {
            assert_eq!(short.segment(segment), long.segment(segment), "{len}");
        }
        assert!((TRIGRAM_SEGMENTS..SEGMENTS).all(|segment| short.segment(segment).is_empty()));
    }
}

/// English of so many bytes: words that are put together from syllables.
fn prose(len: usize) -> String {
    let syllables = ["re", "turn", "con", "tain", "er", "able", "in", "ter", "face", "set", "ing"];
    let mut state = 5_u64;
    let mut prose = String::new();
    while prose.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        prose.push_str(syllables[(state >> 33) as usize % 3]);
        prose.push_str(syllables[(state >> 40) as usize % syllables.len()]);
        prose.push_str(["", " ", "\\n", "_"][(state >> 50) as usize % 4]);
    }
    prose
}

#[test]
fn a_long_text_that_has_all_trigrams_of_a_word_need_not_have_the_word() {
    let text = prose(40_000) + " candid Andover remain ainsley";
    let filter = FilterMaker::new().make(&[text.as_bytes()]);
    let trigrams = |word: &Grams| {
        let mut segments = word.segments().filter(|(nth, _)| !is_of_fives(*nth));
        segments.all(|(nth, grams)| super::may_hold(nth, filter.segment(nth), grams))
    };
    for word in ["candover", "remainsley"] {
        let word = Grams::of(word);
        assert!(trigrams(&word) && !may_hold(&filter, &word));
    }
    for word in ["candid", "ANDOVER", "ndove", "emain", "Ainsley", "returnset"] {
        assert!(may_hold(&filter, &Grams::of(word)), "{word}");
    }
}

#[test]
fn a_word_is_found_wherever_it_stands_in_a_long_text() {
    let mut maker = FilterMaker::new();
    for before in (50..70).chain([0, 1, 2, 119, 120, 121]) {
        for after in [0, 3, 70] {
            let text = [&"-".repeat(before), "Abandonment", &"-".repeat(after)].concat();
            let filler = " ".repeat(SHORT_BYTES);
            let filter = maker.make(&[filler.as_bytes(), text.as_bytes()]);
            assert!(may_hold(&filter, &Grams::of("abandonment")), "{before} {after}");
            assert!(!filter.segment(Gram::five(five_of("aband")).segment()).is_empty());
        }
    }
}

fn five_of(letters: &str) -> u16 {
    let mut bytes = [0; 8];
    bytes[..5].copy_from_slice(letters.as_bytes());
    maker::five(bytes)
}

#[test]
fn a_small_block_has_a_small_filter() {
    let mut maker = FilterMaker::new();
    assert!(maker.make(&[b"few words"]).bits.len() <= 4);
    assert_eq!(maker.make(&[]).bits.len(), 0);
    assert!(maker.make(&[text(3, 1 << 20).as_bytes()]).bits.len() < 50_000);
}

#[test]
fn what_is_rare_is_asked_first() {
    for word in ["the zqj", "return zqj"] {
        assert_eq!(Grams::of(word).segments().next(), Grams::of("zqj").segments().next(), "{word}");
    }
    let first = |word: &str| Grams::of(word).segments().next().map(|(_, grams)| grams.to_vec());
    assert!(matches!(first("return").as_deref(), Some([Gram::Five(_), ..])));
}

#[test]
fn what_may_be_written_otherwise_is_not_asked_for() {
    let mut maker = FilterMaker::new();
    let filter = maker.make(&[br#"{"text":"caf\u00e9 au\nlait https:\/\/example.org"}"#]);
    for word in ["café au", "au\nlait", "https://example.org", "é"] {
        assert!(may_hold(&filter, &Grams::of(word)), "{word}");
    }
    assert_eq!(Grams::of("é\u{fc}").segments().count(), 0);
}
