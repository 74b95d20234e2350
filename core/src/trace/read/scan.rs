//! Scanning loops over raw JSON bytes.

/// Why a scan stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes end here; more may follow.
    More,
    /// The bytes are not JSON.
    Damaged,
    /// Nested deeper than the limit.
    TooDeep,
    /// A string longer than the limit.
    TooLong,
    /// An event longer than the limit.
    TooLarge,
}

/// The first position at or after `at` that is not white space.
#[inline]
pub(super) fn skip_space(buf: &[u8], mut at: usize) -> usize {
    while at < buf.len() && matches!(buf[at], b' ' | b'\n' | b'\r' | b'\t') {
        at += 1;
    }
    at
}

/// The next byte that is not white space, and its position.
#[inline]
pub(super) fn next(buf: &[u8], at: usize) -> Result<(u8, usize), Stop> {
    let at = skip_space(buf, at);
    buf.get(at).map(|&b| (b, at)).ok_or(Stop::More)
}

/// A byte of 1 in each place.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;
/// The high bit of each byte.
pub(super) const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of the first byte that is below `n`; bytes after it may be set wrongly.
#[inline]
fn below(word: u64, n: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(n)) & !word & HIGHS
}

/// The first position at or after `at` of a quote, a backslash or a control character; the length if there is none.
#[inline]
pub(super) fn plain_end(buf: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = buf.get(at..at + 8) {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let stop = quote | backslash | below(word, 0x20);
        if stop != 0 {
            return at + (stop.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < buf.len() && buf[at] != b'"' && buf[at] != b'\\' && buf[at] >= 0x20 {
        at += 1;
    }
    at
}

/// The position of the quote that ends the string at `at`, and whether a backslash precedes it.
#[inline]
pub(super) fn text_end(buf: &[u8], at: usize) -> Result<(usize, bool), Stop> {
    let mut end = plain_end(buf, at);
    let mut escaped = false;
    loop {
        match buf.get(end) {
            None => return Err(Stop::More),
            Some(b'"') => return Ok((end, escaped)),
            Some(b'\\') => {
                escaped = true;
                end = plain_end(buf, end + 2);
                if end > buf.len() {
                    return Err(Stop::More);
                }
            }
            Some(_) => return Err(Stop::Damaged),
        }
    }
}

/// The position after the array or object that begins at `at`. Only brackets and strings are checked.
pub(super) fn container_end(buf: &[u8], at: usize, max_depth: usize) -> Result<usize, Stop> {
    let mut depth = 0usize;
    let mut i = at;
    while let Some(&b) = buf.get(i) {
        match b {
            b'"' => i = text_end(buf, i + 1)?.0,
            b'[' | b'{' => {
                depth += 1;
                if depth > max_depth {
                    return Err(Stop::TooDeep);
                }
            }
            b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Ok(i + 1);
                }
            }
            _ => {}
        }
        i += 1;
    }
    Err(Stop::More)
}

/// The position after the number, word or other bare token at `at`.
#[inline]
pub(super) fn token_end(buf: &[u8], at: usize) -> Result<usize, Stop> {
    let mut i = at;
    while let Some(&b) = buf.get(i) {
        if matches!(b, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[') || b <= b' ' {
            return Ok(i);
        }
        i += 1;
    }
    Err(Stop::More)
}

/// Skips white space and commas. Returns the position after them and the number of commas.
pub(super) fn skip_separators(buf: &[u8], at: usize) -> (usize, usize) {
    let mut at = skip_space(buf, at);
    let mut commas = 0;
    while buf.get(at) == Some(&b',') {
        commas += 1;
        at = skip_space(buf, at + 1);
    }
    (at, commas)
}

/// The members of an object, or the elements of an array with empty keys, as JSON texts. The text must be valid JSON; what follows
/// damage is left out.
pub(crate) fn items(json: &str) -> impl Iterator<Item = (&str, &str)> {
    let buf = json.as_bytes();
    let has_keys = json.trim_start().starts_with('{');
    let mut at = skip_space(buf, 0) + 1;
    core::iter::from_fn(move || {
        let value = |from: usize| {
            let end = match buf.get(from)? {
                b'"' => text_end(buf, from + 1).ok()?.0 + 1,
                b'[' | b'{' => container_end(buf, from, usize::MAX).ok()?,
                _ => token_end(buf, from).ok()?,
            };
            Some((json.get(from..end)?, end)).filter(|item| !item.0.is_empty())
        };
        let (mut from, mut key) = (skip_separators(buf, at).0, "");
        if has_keys {
            let end;
            (key, end) = value(from)?;
            from = next(buf, next(buf, end).ok()?.1 + 1).ok()?.1;
        }
        let (text, end) = value(from)?;
        at = end;
        Some((key, text))
    })
}

/// The result of a search for the next event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// An event probably starts here.
    Event(usize),
    /// The bytes end where an event may start.
    Perhaps(usize),
    /// No event starts in these bytes.
    Nothing,
}

/// Finds the next position at or after `at` that looks like the start of an event: `{"`, a common key of events and
/// `:`.
pub(super) fn find_event(buf: &[u8], mut at: usize) -> Found {
    const KEYS: [&[u8]; 8] = [b"ph", b"name", b"cat", b"pid", b"tid", b"ts", b"id", b"dur"];
    while let Some(brace) = buf.get(at..).and_then(|rest| rest.iter().position(|&b| b == b'{')) {
        at += brace;
        let quote = skip_space(buf, at + 1);
        let Some(&b) = buf.get(quote) else { return Found::Perhaps(at) };
        let rest = &buf[quote + 1..];
        let key = rest.iter().take(8).position(|&b| b == b'"');
        match key {
            None if b == b'"' && rest.len() < 8 => return Found::Perhaps(at),
            Some(length) if b == b'"' && KEYS.contains(&&rest[..length]) => {
                match buf.get(skip_space(buf, quote + 2 + length)) {
                    None => return Found::Perhaps(at),
                    Some(b':') => return Found::Event(at),
                    Some(_) => {}
                }
            }
            _ => {}
        }
        at += 1;
    }
    Found::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn plain_end_reference(buf: &[u8], at: usize) -> usize {
        (at..buf.len()).find(|&i| buf[i] == b'"' || buf[i] == b'\\' || buf[i] < 0x20).unwrap_or(buf.len())
    }

    #[test]
    fn plain_end_equals_the_reference_implementation() {
        for stop in 0..=255u8 {
            for place in 0..20 {
                for filler in [b' ', b'!', b'a', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                    let mut buf = vec![filler; 20];
                    buf[place] = stop;
                    assert_eq!(
                        plain_end(&buf, 1),
                        plain_end_reference(&buf, 1),
                        "{stop} at {place} in {filler}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_cut_requires_more_bytes() {
        let text = br#"{"a": ["b\"]", {"c": 1}], "d": "\\"} "#;
        let end = container_end(text, 0, 10).unwrap();
        assert_eq!(end, text.len() - 1);
        for cut in 0..end {
            assert_eq!(container_end(&text[..cut], 0, 10), Err(Stop::More), "{cut}");
        }
        assert_eq!(container_end(text, 0, 2), Err(Stop::TooDeep));
    }
}
