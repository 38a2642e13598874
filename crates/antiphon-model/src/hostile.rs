//! Characters in recorded text that could fool a terminal, a page or the eye.

/// Controls (C0, DEL, C1), line and paragraph separators, bidirectional controls, invisible
/// characters, and the tag block. Joiners are allowed: scripts and emoji need them.
pub fn is_dangerous(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}'
    )
}
