//! Time as `i64` nanoseconds, and its exact conversion from and to the decimal microseconds of trace files.
//!
//! Invariant: timestamps are never converted to floating point. Traces have `ts` and `dur` in microseconds as decimal
//! text of any length. `parse_micros` shifts the decimal point by three digits. It rounds what is finer than a
//! nanosecond, with halves away from zero, and reports that it did.

use alloc::string::String;
use core::fmt::Write;

/// The value of a time column if the event has no such time.
pub const NONE: i64 = i64::MIN;

/// The earliest timestamp, in ns after the table's base: about 73 years before it. Values out of range are left out and
/// counted; see [`bounds`](crate::trace::table::bounds) for what that guarantees.
pub const EARLIEST: i64 = -(1 << 61);
/// The latest timestamp, in ns after the table's base: about 146 years. See [`EARLIEST`].
pub const LATEST: i64 = 1 << 62;
/// The longest duration, in ns: about 104 days. A longer one is shortened and counted.
pub const LONGEST: i64 = 1 << 53;

/// The result of [`parse_micros`] and [`parse_nanos`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// The time in nanoseconds, saturated to the range of `i64`.
    pub ns: i64,
    /// Whether digits finer than a nanosecond were rounded.
    pub rounded: bool,
    /// Whether the value did not fit and was clamped.
    pub clamped: bool,
}

/// Parses microseconds, written as a decimal number of any length or exponent, and returns nanoseconds.
///
/// Returns `None` if `text` is not a decimal number.
pub(crate) fn parse_micros(text: &[u8]) -> Option<Parsed> {
    parse(text, 3)
}

/// Does the same with nanoseconds.
pub(crate) fn parse_nanos(text: &[u8]) -> Option<Parsed> {
    parse(text, 0)
}

/// Parses a decimal number and multiplies it by ten to the power of `scale`.
fn parse(text: &[u8], scale: i64) -> Option<Parsed> {
    let (negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let mantissa_end = digits.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(digits.len());
    let exponent = parse_exponent(digits.get(mantissa_end + 1..))?;
    let mantissa = &digits[..mantissa_end];
    let point = mantissa.iter().position(|&b| b == b'.').unwrap_or(mantissa.len());
    let integer = &mantissa[..point];
    let fraction = mantissa.get(point + 1..).unwrap_or(&[]);
    if integer.is_empty() && fraction.is_empty() {
        return None;
    }
    if !integer.iter().chain(fraction).all(u8::is_ascii_digit) {
        return None;
    }
    Some(shift(negative, integer, fraction, exponent + scale))
}

fn parse_exponent(text: Option<&[u8]>) -> Option<i64> {
    let Some(text) = text else { return Some(0) };
    let (sign, digits) = match text.first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0i64, |n, b| (n * 10 + i64::from(b - b'0')).min(1_000_000));
    Some(sign * value)
}

/// Computes `integer.fraction` times ten to the power of `shift` as an integer.
fn shift(negative: bool, integer: &[u8], fraction: &[u8], shift: i64) -> Parsed {
    let digit =
        |i: usize| integer.get(i).or_else(|| fraction.get(i - integer.len())).map(|b| u128::from(b - b'0'));
    let written = integer.len() + fraction.len();
    let kept = integer.len() as i64 + shift;
    let mut magnitude: u128 = 0;
    let mut at = 0;
    while (at as i64) < kept && magnitude <= i64::MAX as u128 && !(magnitude == 0 && at >= written) {
        magnitude = magnitude * 10 + digit(at).unwrap_or(0);
        at += 1;
    }
    let clamped = magnitude > i64::MAX as u128;
    let rest = if kept < 0 { 0 } else { at };
    let rounded = !clamped && (rest..written).any(|i| digit(i) != Some(0));
    if rounded && kept >= 0 && digit(at) >= Some(5) {
        magnitude += 1;
    }
    let ns = magnitude.min(i64::MAX as u128) as i64;
    Parsed { ns: if negative { -ns } else { ns }, rounded, clamped }
}

/// Appends `ns` as microseconds with exactly three decimals, as Kineto writes them.
pub(crate) fn write_micros(out: &mut String, ns: i64) {
    let magnitude = ns.unsigned_abs();
    if ns < 0 {
        out.push('-');
    }
    let _ = write!(out, "{}.{:03}", magnitude / 1000, magnitude % 1000);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str) -> Option<i64> {
        parse_micros(text.as_bytes()).map(|p| p.ns)
    }

    #[test]
    fn decimal_text_is_exact() {
        assert_eq!(ns("4370863491886.244"), Some(4_370_863_491_886_244));
        assert_eq!(ns("1679000000000000.001"), Some(1_679_000_000_000_000_001));
        assert_eq!(ns("0"), Some(0));
        assert_eq!(ns("-0.5"), Some(-500));
        assert_eq!(ns("1e3"), Some(1_000_000));
        assert_eq!(ns("12.5E-1"), Some(1250));
        assert_eq!(ns("000000000000000000000000000007"), Some(7000));
        assert_eq!(ns(".25"), Some(250));
    }

    #[test]
    fn finer_than_a_nanosecond_is_rounded_and_reported() {
        let p = parse_micros(b"1.0005").unwrap();
        assert_eq!((p.ns, p.rounded), (1001, true));
        let p = parse_micros(b"1.00049999").unwrap();
        assert_eq!((p.ns, p.rounded), (1000, true));
        let p = parse_micros(b"1.000000").unwrap();
        assert_eq!((p.ns, p.rounded), (1000, false));
        assert_eq!(ns("1e-400000000000"), Some(0));
    }

    #[test]
    fn out_of_range_is_clamped_and_reported() {
        let p = parse_micros(b"1e300").unwrap();
        assert_eq!((p.ns, p.clamped), (i64::MAX, true));
        assert_eq!(ns("-99999999999999999999999999"), Some(-i64::MAX));
    }

    #[test]
    fn non_numbers_are_rejected() {
        for text in ["", "-", ".", "1e", "nan", "1.2.3", "0x10", "1 "] {
            assert_eq!(ns(text), None, "{text}");
        }
    }

    #[test]
    fn micros_are_written_with_three_decimals() {
        let mut out = String::new();
        write_micros(&mut out, -1_234_005);
        assert_eq!(out, "-1234.005");
    }
}
