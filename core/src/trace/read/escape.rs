//! JSON escapes in strings.

use super::scan::Stop;
use alloc::vec::Vec;

/// Decodes JSON escapes. Returns [`Stop::Damaged`] for an unknown escape or half of a surrogate pair.
pub(super) fn unescape(text: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
    out.clear();
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&b| b == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let escape = *rest.get(at + 1).ok_or(Stop::Damaged)?;
        let mut used = at + 2;
        match escape {
            b'"' | b'\\' | b'/' => out.push(escape),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let (c, length) = unicode_escape(&rest[at..]).ok_or(Stop::Damaged)?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                used = at + length;
            }
            _ => return Err(Stop::Damaged),
        }
        rest = &rest[used..];
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Decodes the `\uXXXX` (or the pair of them) at the start of `text`. Returns the character and the length of the
/// escape.
pub(super) fn unicode_escape(text: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let hex = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        hex.iter().try_fold(0u32, |n, &b| Some(n * 16 + (b as char).to_digit(16)?))
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 6));
    }
    let second = unit(6)?;
    let pair = char::decode_utf16([first as u16, second as u16]).next()?;
    pair.ok().map(|c| (c, 12))
}
