//! Parses numbers: arguments and times.

use super::scan::{HIGHS, ONES, Stop, container_end, text_end, token_end};
use crate::base::time;

/// A number in its packed form.
pub(super) enum Number {
    Int(i64),
    Decimal(i64, u32),
    Other,
}

/// Parses the digits from `at` on, appended to those of `value`. Returns the value and the position after them. The
/// value is correct for up to 18 digits.
#[inline]
fn digits(buf: &[u8], mut at: usize, mut value: u64) -> (u64, usize) {
    while let Some(eight) = buf.get(at..).and_then(|rest| rest.first_chunk()) {
        let (number, count) = leading_digits(u64::from_le_bytes(*eight));
        value = value.wrapping_mul(POWERS[count]).wrapping_add(number);
        at += count;
        if count < 8 {
            return (value, at);
        }
    }
    while let Some(b @ b'0'..=b'9') = buf.get(at) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(b - b'0'));
        at += 1;
    }
    (value, at)
}

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The number that the first digits of eight bytes spell, and how many there are.
#[inline]
fn leading_digits(word: u64) -> (u64, usize) {
    // A byte less '0' is above 9 if it is no digit. Carries only change bytes after the first such byte.
    let values = word ^ ZEROS;
    let others = (values.wrapping_add(ONES * 0x76) | values) & HIGHS;
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // The digits move to the end; zeros precede them.
    let mut digits = values << (64 - 8 * count);
    digits = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    digits = digits.wrapping_mul(100).wrapping_add(digits >> 16) & 0x0000_ffff_0000_ffff;
    digits = digits.wrapping_mul(10_000).wrapping_add(digits >> 32) & 0xffff_ffff;
    (digits, count)
}

const ZEROS: u64 = ONES * 0x30;

pub(super) fn number(buf: &[u8], start: usize) -> Result<(Number, usize), Stop> {
    let negative = buf[start] == b'-';
    let first = start + usize::from(negative);
    let (integer, mut end) = digits(buf, first, 0);
    let integer_digits = end - first;
    let sign = if negative { -1 } else { 1 };
    let leading_zero = buf.get(first) == Some(&b'0') && integer_digits > 1;
    let follower = *buf.get(end).ok_or(Stop::More)?;
    if integer_digits == 0 || leading_zero {
        return Err(Stop::Damaged);
    }
    if ends_value(follower) && integer_digits <= 18 && !(negative && integer == 0) {
        return Ok((Number::Int(sign * integer as i64), end));
    }
    if follower == b'.' {
        let (all, fraction_end) = digits(buf, end + 1, integer);
        let decimals = fraction_end - end - 1;
        let follower = *buf.get(fraction_end).ok_or(Stop::More)?;
        if decimals > 0 && ends_value(follower) && integer_digits + decimals <= 18 && !(negative && all == 0)
        {
            return Ok((Number::Decimal(sign * all as i64, decimals as u32), fraction_end));
        }
    }
    end = token_end(buf, start)?;
    if is_finite(&buf[start..end]) { Ok((Number::Other, end)) } else { Err(Stop::Damaged) }
}

#[inline]
fn ends_value(b: u8) -> bool {
    matches!(b, b',' | b'}' | b']') || b <= b' '
}

/// Returns the digits and the number of decimals of a complete number that [`number`] packs by its digits. It has code of
/// its own because the hot path of reading needs [`number`] to be inlined, which a second caller prevents.
pub(super) fn decimal(text: &[u8]) -> Option<(i64, u32)> {
    let point = text.iter().position(|&b| b == b'.')?;
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let decimals = text.len() - point - 1;
    if decimals == 0 || unsigned.len() > 19 || !is_number(text) {
        return None;
    }
    let (integer, end) = digits(text, text.len() - unsigned.len(), 0);
    let (all, end) = digits(text, end + 1, integer);
    let is_negative = unsigned.len() < text.len();
    let is_whole = end == text.len() && !(is_negative && all == 0);
    is_whole.then_some((if is_negative { -(all as i64) } else { all as i64 }, decimals as u32))
}

/// Whether `text` is a number of JSON's grammar, of any size.
pub(super) fn is_number(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let (_, integer_digits) = digits(text, 0, 0);
    if integer_digits == 0 || (integer_digits > 1 && text[0] == b'0') {
        return false;
    }
    let mut at = integer_digits;
    if text.get(at) == Some(&b'.') {
        let (_, end) = digits(text, at + 1, 0);
        if end == at + 1 {
            return false;
        }
        at = end;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let (_, end) = digits(text, at, 0);
        if end == at {
            return false;
        }
        at = end;
    }
    at == text.len()
}

/// Whether `text` is a number of JSON's grammar within the range of `f64`. Other JSON parsers reject larger numbers or
/// read them as infinity.
pub(super) fn is_finite(text: &[u8]) -> bool {
    let value = || core::str::from_utf8(text).ok()?.parse::<f64>().ok();
    is_number(text) && value().is_some_and(f64::is_finite)
}

/// A parsed time. Times beyond `i64` are saturated, which no valid time is.
pub(super) struct Time {
    pub(super) ns: i64,
    pub(super) rounded: bool,
}

/// Parses a `ts` or `dur`: a number, or a string that spells one. Any other value gives [`time::NONE`].
#[inline]
pub(super) fn time_value(buf: &[u8], at: usize) -> Result<(Time, usize), Stop> {
    let (integer, point) = digits(buf, at, 0);
    let (mut ns, mut end) = (integer.wrapping_mul(1000), point);
    if buf.get(point) == Some(&b'.') {
        let (all, fraction_end) = digits(buf, point + 1, integer);
        end = fraction_end;
        ns = match fraction_end - point - 1 {
            1 => all.wrapping_mul(100),
            2 => all.wrapping_mul(10),
            3 => all,
            _ => return time_text(buf, at),
        };
    }
    match buf.get(end) {
        None => Err(Stop::More),
        Some(&b) if ends_value(b) && end > at && point - at <= MOST_DIGITS => {
            i64::try_from(ns).map_or_else(|_| time_text(buf, at), |ns| Ok((Time { ns, rounded: false }, end)))
        }
        Some(_) => time_text(buf, at),
    }
}

/// Microseconds with more digits before the point can exceed an unsigned integer in ns. The times since 1970 have this number.
const MOST_DIGITS: usize = 16;

fn time_text(buf: &[u8], at: usize) -> Result<(Time, usize), Stop> {
    let (text, end) = if buf[at] == b'"' {
        let end = text_end(buf, at + 1)?.0;
        (buf[at + 1..end].trim_ascii(), end + 1)
    } else if matches!(buf[at], b'{' | b'[') {
        let end = container_end(buf, at, 8)?;
        (&buf[at..end], end)
    } else {
        let end = token_end(buf, at)?;
        if !is_number(&buf[at..end]) && &buf[at..end] != b"null" {
            return Err(Stop::Damaged);
        }
        (&buf[at..end], end)
    };
    Ok(match time::parse_micros(text) {
        Some(p) => (Time { ns: p.ns, rounded: p.rounded }, end),
        None => (Time { ns: time::NONE, rounded: false }, end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn digits_equal_those_of_a_loop() {
        for count in 0..20 {
            for follower in 0..=255u8 {
                let mut text: alloc::vec::Vec<u8> =
                    (0..count).map(|at| b'0' + (at * 7 + count) % 10).collect();
                let expected =
                    text.iter().fold(5u64, |n, b| n.wrapping_mul(10).wrapping_add(u64::from(b - b'0')));
                let end = text.len() + usize::from(follower.is_ascii_digit());
                let expected = if follower.is_ascii_digit() {
                    expected.wrapping_mul(10).wrapping_add(u64::from(follower - b'0'))
                } else {
                    expected
                };
                text.extend(
                    [follower, b'x', 0xff, 0x2f, 0x3a, b'1', b'x', b'x', b'x', b'x', b'x']
                        .iter()
                        .take(if count % 2 == 0 { 1 } else { 11 }),
                );
                assert_eq!(digits(&text, 0, 5), (expected, end), "{count} digits before {follower}");
            }
        }
    }

    #[test]
    fn times_of_any_size_are_exact() {
        let integers = [
            "0",
            "7",
            "999999999999999",
            "1695835535093254",
            "9223372036854775",
            "9223372036854776",
            "9999999999999999",
            "10000000000000000",
            "18446744073709551",
            "18446744073709552",
            "99999999999999999999",
        ];
        for integer in integers {
            for fraction in ["", ".0", ".07", ".807", ".808", ".8075"] {
                let text = format!("{integer}{fraction}");
                let Ok((time, end)) = time_value(format!("{text},").as_bytes(), 0) else { panic!("{text}") };
                let exact = time::parse_micros(text.as_bytes()).expect("a number");
                assert_eq!((time.ns, time.rounded, end), (exact.ns, exact.rounded, text.len()), "{text}");
            }
        }
    }

    #[test]
    fn both_parsers_of_decimals_agree() {
        let texts = ["1.5", "-1.25", "0.000", "-0.0", "01.5", "1.", ".5", "12", "1e5", "1.5e3", "-", ""];
        for text in texts.iter().copied().chain(["123456789012345.678", "1234567890123456.789"]) {
            let packed = match number(format!("{text},").as_bytes(), 0) {
                Ok((Number::Decimal(digits, decimals), end)) if end == text.len() => Some((digits, decimals)),
                _ => None,
            };
            assert_eq!(decimal(text.as_bytes()), packed, "{text}");
        }
    }
}
