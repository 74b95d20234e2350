//! Times, sizes and ratios as torch.profiler prints them.

use crate::base::words::words;
use alloc::format;
use alloc::string::{String, ToString};

words! {
    "TimeUnit"
    /// The unit of the times in a table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum TimeUnit {
        /// Seconds.
        S = "s",
        /// Milliseconds.
        Ms = "ms",
        /// Microseconds.
        Us = "us",
    }
}

/// Formats a time in microseconds with three decimals, in `unit` or in the unit that suits its size.
pub fn time_us(us: f64, unit: Option<TimeUnit>) -> String {
    let suited = if us >= 1e6 {
        TimeUnit::S
    } else if us >= 1e3 {
        TimeUnit::Ms
    } else {
        TimeUnit::Us
    };
    match unit.unwrap_or(suited) {
        TimeUnit::S => format!("{:.3}s", us / 1e6),
        TimeUnit::Ms => format!("{:.3}ms", us / 1e3),
        TimeUnit::Us => format!("{us:.3}us"),
    }
}

/// Formats a time in nanoseconds as [`time_us`] does.
pub fn time_ns(ns: i64, unit: Option<TimeUnit>) -> String {
    time_us(ns as f64 / 1e3, unit)
}

/// The units of sizes, in bytes.
pub(crate) const SIZES: [(&str, f64); 7] = [
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

/// Parses a number with one of these units.
pub(crate) fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let at = text.find(|c: char| c.is_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let factor = units.iter().find(|(name, _)| *name == unit.trim())?.1;
    Some(number.trim().replace('_', "").parse::<f64>().ok()? * factor)
}

/// Parses a size such as `1.5 GB` or `512MiB`, in bytes.
///
/// # Errors
/// Returns what is expected.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let bytes = with_unit(text, &SIZES).filter(|bytes| bytes.is_finite() && *bytes >= 1.0);
    bytes
        .map(|bytes| bytes as usize)
        .ok_or_else(|| "expected a size with its unit, such as 2GB or 512MiB".to_string())
}

/// Formats a size with two decimals in the largest binary unit that it reaches.
pub fn bytes(count: i64) -> String {
    let magnitude = count.unsigned_abs();
    let units = [("GB", 1u64 << 30), ("MB", 1 << 20), ("KB", 1 << 10)];
    match units.into_iter().find(|&(_, unit)| magnitude >= unit) {
        Some((name, unit)) => format!("{:.2} {name}", count as f64 / unit as f64),
        None => format!("{count} B"),
    }
}

/// Formats `part / total` in percent with two decimals; `NaN` if `total` is 0.
pub fn share(part: f64, total: f64) -> String {
    if total == 0.0 { "NaN".into() } else { format!("{:.2}%", part * 100.0 / total) }
}

/// Formats a number with commas between the thousands.
pub(crate) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Formats a number with its noun: `1 event`, `2,000 events`, `2 copies`.
pub fn counted(n: usize, noun: &str) -> String {
    let is_vowel = |stem: &str| stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    match noun.strip_suffix('y').filter(|stem| !is_vowel(stem)) {
        _ if n == 1 => format!("1 {noun}"),
        Some(stem) => format!("{} {stem}ies", count(n)),
        None => format!("{} {noun}s", count(n)),
    }
}

/// Formats a number with an SI prefix and two decimals, or without decimals below 1000: `24.64 T`, `512`.
pub(crate) fn with_prefix(number: f64) -> String {
    const PREFIXES: [(f64, &str); 6] =
        [(1e18, " E"), (1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    match PREFIXES.iter().find(|p| number >= p.0) {
        Some((scale, prefix)) => format!("{:.2}{prefix}", number / scale),
        None => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, with_prefix};

    #[test]
    fn nouns_have_their_plural() {
        let shown = [(0, "copy"), (1, "copy"), (2, "copy"), (2, "key"), (2000, "event")];
        let shown = shown.map(|(n, noun)| counted(n, noun));
        assert_eq!(shown, ["0 copies", "1 copy", "2 copies", "2 keys", "2,000 events"]);
    }

    #[test]
    fn numbers_have_the_largest_prefix_that_they_reach() {
        let shown = [0.0, 512.0, 1e3, 24.641e12, 3.2e18].map(with_prefix);
        assert_eq!(shown, ["0", "512", "1.00 k", "24.64 T", "3.20 E"]);
    }
}
