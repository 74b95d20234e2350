//! Texts that are a part of the engine, without the comments in their files: they would make it larger.

/// The length of a text without the lines that begin with `#` and without empty lines.
const fn length(text: &[u8]) -> usize {
    let (mut at, mut length) = (0, 0);
    while at < text.len() {
        let end = line_end(text, at);
        if is_kept(text, at) {
            length += end - at;
        }
        at = end;
    }
    length
}

const fn is_kept(text: &[u8], at: usize) -> bool {
    text[at] != b'#' && text[at] != b'\n'
}

/// The position after the line feed of the line that begins at a position.
const fn line_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < text.len() {
        if text[at] == b'\n' {
            return at + 1;
        }
        at += 1;
    }
    at
}

/// Returns the length of what [`strip`] returns.
pub(crate) const fn stripped_length(text: &str) -> usize {
    length(text.as_bytes())
}

/// Returns a text without the lines that begin with `#` and without empty lines. `N` is the [`stripped_length`].
pub(crate) const fn strip<const N: usize>(text: &str) -> [u8; N] {
    let text = text.as_bytes();
    let mut out = [0; N];
    let (mut at, mut length) = (0, 0);
    while at < text.len() {
        let end = line_end(text, at);
        let is_kept = is_kept(text, at);
        while at < end {
            if is_kept {
                out[length] = text[at];
                length += 1;
            }
            at += 1;
        }
    }
    out
}

/// The text of a file without its comments.
macro_rules! include_without_comments {
    ($file:literal) => {{
        const TEXT: &str = include_str!($file);
        const LENGTH: usize = crate::base::without_comments::stripped_length(TEXT);
        const STRIPPED: [u8; LENGTH] = crate::base::without_comments::strip(TEXT);
        const RESULT: &str = match core::str::from_utf8(&STRIPPED) {
            Ok(text) => text,
            Err(_) => panic!("the file is not UTF-8"),
        };
        RESULT
    }};
}

pub(crate) use include_without_comments;

#[cfg(test)]
mod tests {
    use super::{strip, stripped_length};

    #[test]
    fn comments_and_empty_lines_are_left_out() {
        const TEXT: &str = "# one\n\na,b # c\n#\nd\n\n# é\ne";
        const LENGTH: usize = stripped_length(TEXT);
        const STRIPPED: [u8; LENGTH] = strip(TEXT);
        assert_eq!(core::str::from_utf8(&STRIPPED), Ok("a,b # c\nd\ne"));
    }
}
