//! Texts of limited length.

/// Returns the start of a text that has at most this many bytes and ends between two characters.
pub(crate) fn up_to(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
