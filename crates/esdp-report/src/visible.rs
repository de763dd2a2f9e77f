//! Text of unknown origin on a terminal: what would steer the terminal is shown instead of obeyed.
//!
//! Names, labels and values come from files that others wrote. An escape sequence among them could change the
//! terminal's title, colours or contents, and a mark of writing direction the order in which a line is read.

/// A sentence, or a cell of a table: no control characters at all, so it stays on its line.
pub fn line(text: &str) -> String {
    text.chars().map(picture).collect()
}

/// What is best in a table.
pub const BEST: &str = "\x1b[1;32m";
/// What matters less.
pub const FAINT: &str = "\x1b[2m";
/// The end of a style.
pub const RESET: &str = "\x1b[0m";
/// Our own styles.
pub const STYLES: [&str; 3] = [BEST, FAINT, RESET];

/// Many lines, in which some styles may occur.
pub fn lines(text: &str, styles: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(style) = styles.iter().find(|style| rest.starts_with(**style)) {
            out.push_str(style);
            style.len()
        } else {
            out.push(if matches!(first, '\n' | '\t') { first } else { picture(first) });
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    out
}

/// The character, or what stands for one that has no shape: ␛ for ESC, ␊ for a new line.
fn picture(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown() {
        assert_eq!(line("a\x1b]0;x\x07b\nc\x7f"), "a␛]0;x␇b␊c␡");
        // A control sequence introducer of eight bits, and a turn of the writing direction.
        assert_eq!(line("\u{9b}2J \u{202e}txt"), "\u{fffd}2J \u{fffd}txt");
        assert_eq!(line("µs, ±, …, 日本, e\u{301}"), "µs, ±, …, 日本, e\u{301}");
    }

    #[test]
    fn lines_keep_their_ends_and_our_styles() {
        let text = "\x1b[1mbest\x1b[0m\ta\n\x1b[2Jb\r\n";
        assert_eq!(lines(text, &["\x1b[1m", "\x1b[0m"]), "\x1b[1mbest\x1b[0m\ta\n␛[2Jb␍\n");
        assert_eq!(lines(text, &[]), "␛[1mbest␛[0m\ta\n␛[2Jb␍\n");
    }
}
