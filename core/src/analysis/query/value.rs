//! The values of options: what kinds there are, and how they are parsed from a command line argument or from JSON.

use super::group_by::GroupBy;
use crate::base::time;
use crate::base::words::Vocabulary;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// The kind of value that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// No value: a flag.
    Nothing,
    /// A number of rows or levels; -1 means all.
    Count,
    /// A percentage from 0 to 100.
    Percent,
    /// Any text.
    Text,
    /// The content of a text file; on a command line, its path.
    File,
    /// A word of a vocabulary, with hyphens or, as in JSON, underscores.
    Word(Vocabulary),
    /// A word of a vocabulary of PyTorch's attributes, spelled as in PyTorch, in which `cuda`, `xpu` or `privateuse1` can
    /// replace `device`.
    Attribute(Vocabulary),
    /// A width in characters, or `none`.
    Width,
    /// Any of `shape`, `stack:N`, `overload`, `module`.
    Groups,
    /// A time with its unit: `10us`, `1.5ms`, `2s`, `800ns`.
    Duration,
    /// A range of time such as `1.5ms..20ms`.
    Times,
    /// A number, or a range such as `3-5` with the smaller number first.
    Range,
    /// Texts separated by commas.
    Texts,
    /// Numbers separated by commas.
    Numbers,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// The option was given; it takes no value.
    Given,
    /// A number, or a time in ns.
    Number(i64),
    /// A percentage.
    Percent(f64),
    /// A text.
    Text(String),
    /// The position of a word in its vocabulary.
    Word(usize),
    /// A width; `None` for no limit.
    Width(Option<usize>),
    /// A grouping.
    Groups(GroupBy),
    /// Two numbers, or two times in ns.
    Pair(i64, i64),
    /// Texts.
    Texts(Vec<String>),
    /// Numbers.
    Numbers(Vec<i64>),
}

/// Parses a time with its unit and returns it in ns.
fn duration(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let exponent = match &text[digits.len()..] {
        "s" => "e6",
        "ms" => "e3",
        "us" => "e0",
        "ns" => "e-3",
        _ => return None,
    };
    let parsed = time::parse_micros(format!("{digits}{exponent}").as_bytes())?;
    Some(parsed.ns).filter(|&ns| ns >= 0)
}

fn times(text: &str) -> Option<OptionValue> {
    let (start, end) = text.split_once("..")?;
    let start = if start.is_empty() { 0 } else { duration(start)? };
    let end = if end.is_empty() { i64::MAX } else { duration(end)? };
    window(start, end)
}

fn window(start: i64, end: i64) -> Option<OptionValue> {
    (start < end).then_some(OptionValue::Pair(start, end))
}

fn number(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// Parses a number or a range of two. The first character can be a sign, so it never separates the two.
fn range(text: &str) -> Option<OptionValue> {
    let hyphen = text.char_indices().skip(1).find(|&(_, c)| c == '-');
    let (first, last) = hyphen.map_or((text, text), |(at, _)| (&text[..at], &text[at + 1..]));
    ordered(number(first)?, number(last)?)
}

fn ordered(first: i64, last: i64) -> Option<OptionValue> {
    (first <= last).then_some(OptionValue::Pair(first, last))
}

/// A number of rows or levels, or -1 for all.
fn count(n: i64) -> Option<i64> {
    (n >= -1).then_some(n)
}

fn percent(percent: f64) -> Option<f64> {
    (0.0..=100.0).contains(&percent).then_some(percent)
}

fn groups<'a>(parts: impl Iterator<Item = Option<&'a str>>) -> Option<OptionValue> {
    let mut by = GroupBy::default();
    for part in parts {
        let part = part?;
        match part.split_once(':').unwrap_or((part, "")) {
            ("shape", "") => by.shape = true,
            ("overload", "") => by.overload = true,
            ("module", "") => by.module = true,
            ("stack", depth) => by.stack = depth.parse().ok()?,
            _ => return None,
        }
    }
    Some(OptionValue::Groups(by))
}

/// Returns a name of PyTorch's with `device` in place of the name of a device.
pub(crate) fn without_backend(name: &str) -> String {
    name.replace("privateuse1", "device").replace("cuda", "device").replace("xpu", "device")
}

/// Reads a time from JSON: a number of ns, or a text with a unit.
fn json_ns(value: &Value) -> Option<i64> {
    let ns = match value {
        Value::String(text) => return duration(text),
        other => other.as_i64().or_else(|| other.as_f64().map(|ns| (ns + 0.5) as i64))?,
    };
    Some(ns).filter(|&ns| ns >= 0)
}

impl ValueKind {
    /// Returns the expected format, for an error message.
    pub(super) fn expected(self) -> String {
        match self {
            ValueKind::Nothing => "true or false".to_owned(),
            ValueKind::Count => "a number from 0, or -1 for all".to_owned(),
            ValueKind::Percent => "a percentage from 0 to 100".to_owned(),
            ValueKind::Text | ValueKind::File => "a text".to_owned(),
            ValueKind::Word(words) => format!("one of {}", words.option_values()),
            ValueKind::Attribute(words) => format!("one of {}", words.words.join(", ")),
            ValueKind::Width => "a number of characters, or none".to_owned(),
            ValueKind::Groups => "any of shape, stack:N, overload, module".to_owned(),
            ValueKind::Duration => "a time with its unit, such as 10us, 1.5ms, 2s or 800ns".to_owned(),
            ValueKind::Times => "a range of time such as 1.5ms..20ms, the earlier time first".to_owned(),
            ValueKind::Range => "a number, or a range such as 3-5 with the smaller number first".to_owned(),
            ValueKind::Texts => "texts separated by commas".to_owned(),
            ValueKind::Numbers => "numbers separated by commas".to_owned(),
        }
    }

    /// Parses a value from text.
    pub(super) fn parse_text(self, text: &str) -> Option<OptionValue> {
        Some(match self {
            ValueKind::Nothing => OptionValue::Given,
            ValueKind::Count => OptionValue::Number(count(number(text)?)?),
            ValueKind::Percent => OptionValue::Percent(percent(text.parse().ok()?)?),
            ValueKind::Text | ValueKind::File => OptionValue::Text(text.to_owned()),
            ValueKind::Word(words) => OptionValue::Word(words.position_of_option(text)?),
            ValueKind::Attribute(words) => {
                let position = words.position(text).or_else(|| words.position(&without_backend(text)));
                OptionValue::Word(position?)
            }
            ValueKind::Width if text.eq_ignore_ascii_case("none") => OptionValue::Width(None),
            ValueKind::Width => OptionValue::Width(Some(text.parse().ok()?)),
            ValueKind::Groups => groups(text.split(',').filter(|part| !part.is_empty()).map(Some))?,
            ValueKind::Duration => OptionValue::Number(duration(text)?),
            ValueKind::Times => times(text)?,
            ValueKind::Range => range(text)?,
            ValueKind::Texts => {
                OptionValue::Texts(text.split(',').map(|text| text.trim().to_owned()).collect())
            }
            ValueKind::Numbers => OptionValue::Numbers(text.split(',').map(number).collect::<Option<_>>()?),
        })
    }

    /// Reads a value from JSON: times as numbers of ns, pairs and lists as arrays; strings as on a command line.
    pub(super) fn parse_json(self, value: &Value) -> Option<OptionValue> {
        Some(match (self, value) {
            (ValueKind::Nothing, Value::Bool(true)) => OptionValue::Given,
            // A number as text is a mistake of a program that reads it from somewhere.
            (ValueKind::Nothing, _) | (ValueKind::Count, Value::String(_)) => return None,
            (_, Value::String(text)) => return self.parse_text(text),
            (ValueKind::Count, n) => OptionValue::Number(count(n.as_i64()?)?),
            (ValueKind::Percent, n) => OptionValue::Percent(percent(n.as_f64()?)?),
            (ValueKind::Width, Value::Null) => OptionValue::Width(None),
            (ValueKind::Width, n) => OptionValue::Width(Some(usize::try_from(n.as_u64()?).ok()?)),
            (ValueKind::Duration, ns) => OptionValue::Number(json_ns(ns)?),
            (ValueKind::Range, Value::Number(n)) => OptionValue::Pair(n.as_i64()?, n.as_i64()?),
            (ValueKind::Numbers, Value::Number(n)) => OptionValue::Numbers([n.as_i64()?].into()),
            (_, Value::Array(values)) => return self.parse_list(values),
            _ => return None,
        })
    }

    fn parse_list(self, values: &[Value]) -> Option<OptionValue> {
        match (self, values) {
            (ValueKind::Range, [first, last]) => ordered(first.as_i64()?, last.as_i64()?),
            (ValueKind::Times, [start, end]) => window(json_ns(start)?, json_ns(end)?),
            (ValueKind::Groups, parts) => groups(parts.iter().map(Value::as_str)),
            (ValueKind::Texts, texts) => {
                let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
                Some(OptionValue::Texts(texts.collect::<Option<_>>()?))
            }
            (ValueKind::Numbers, numbers) => {
                Some(OptionValue::Numbers(numbers.iter().map(Value::as_i64).collect::<Option<_>>()?))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_parsed() {
        assert_eq!(duration("1.5ms"), Some(1_500_000));
        assert_eq!(duration("800ns"), Some(800));
        assert_eq!(duration("10"), None);
        assert_eq!(times("1us..2s"), Some(OptionValue::Pair(1000, 2_000_000_000)));
        assert_eq!(times("2s..1s"), None);
        assert_eq!(range("3"), Some(OptionValue::Pair(3, 3)));
        assert_eq!(range("3-5"), Some(OptionValue::Pair(3, 5)));
        assert_eq!(ValueKind::Groups.parse_text("stack"), None);
        assert_eq!(ValueKind::Width.parse_text("none"), Some(OptionValue::Width(None)));
        let attributes = ValueKind::Attribute(Vocabulary::new("", &["count", "self_device_time_total"]));
        assert_eq!(attributes.parse_text("self_cuda_time_total"), Some(OptionValue::Word(1)));
        assert_eq!(attributes.parse_text("colour"), None);
    }

    #[test]
    fn ranges_accept_negative_numbers() {
        assert_eq!(range("-1"), Some(OptionValue::Pair(-1, -1)));
        assert_eq!(range("-1-2"), Some(OptionValue::Pair(-1, 2)));
        assert_eq!(range("-3--1"), Some(OptionValue::Pair(-3, -1)));
        assert_eq!(range("5-3"), None);
        assert_eq!(range("-"), None);
        assert_eq!(range(""), None);
        assert_eq!(ValueKind::Range.parse_json(&json!([-3, -1])), Some(OptionValue::Pair(-3, -1)));
    }

    #[test]
    fn json_lists_are_not_split_at_commas() {
        // A comma in a text of a list is part of the text.
        let texts = Some(OptionValue::Texts(["a,b".to_owned()].into()));
        assert_eq!(ValueKind::Texts.parse_json(&json!(["a,b"])), texts);
        assert_eq!(ValueKind::Numbers.parse_json(&json!([])), Some(OptionValue::Numbers(Vec::new())));
        assert_eq!(ValueKind::Times.parse_json(&json!([1.4, "2us"])), Some(OptionValue::Pair(1, 2000)));
        assert_eq!(ValueKind::Times.parse_json(&json!([-1, 5])), None);
        assert_eq!(ValueKind::Count.parse_json(&json!(1.5)), None);
        assert_eq!(ValueKind::Count.parse_json(&json!([1])), None);
        assert_eq!(ValueKind::Count.parse_json(&json!(-2)), None);
        assert_eq!(ValueKind::Count.parse_json(&json!("5")), None);
        assert_eq!(ValueKind::Count.parse_text("-1"), Some(OptionValue::Number(-1)));
        assert_eq!(ValueKind::Percent.parse_text("100"), Some(OptionValue::Percent(100.0)));
        assert_eq!(ValueKind::Percent.parse_text("100.5"), None);
        assert_eq!(ValueKind::Percent.parse_json(&json!(-1)), None);
        assert_eq!(ValueKind::Groups.parse_json(&json!(["shape", 5])), None);
    }
}
