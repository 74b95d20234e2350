//! The parsed value of an option, from a command line argument or from JSON.

use super::takes::Takes;
use crate::analysis::torch::averages::GroupBy;
use crate::base::time;
use crate::output::report::sort_by::SortBy;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
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

fn times(text: &str) -> Option<Setting> {
    let (start, end) = text.split_once("..")?;
    let start = if start.is_empty() { 0 } else { duration(start)? };
    let end = if end.is_empty() { i64::MAX } else { duration(end)? };
    window(start, end)
}

fn window(start: i64, end: i64) -> Option<Setting> {
    (start < end).then_some(Setting::Pair(start, end))
}

fn number(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// Parses a number or a range of two. The first character can be a sign, so it never separates the two.
fn range(text: &str) -> Option<Setting> {
    let hyphen = text.char_indices().skip(1).find(|&(_, c)| c == '-');
    let (first, last) = hyphen.map_or((text, text), |(at, _)| (&text[..at], &text[at + 1..]));
    ordered(number(first)?, number(last)?)
}

fn ordered(first: i64, last: i64) -> Option<Setting> {
    (first <= last).then_some(Setting::Pair(first, last))
}

/// A number of rows or levels, or -1 for all.
fn count(n: i64) -> Option<i64> {
    (n >= -1).then_some(n)
}

fn percent(percent: f64) -> Option<f64> {
    (0.0..=100.0).contains(&percent).then_some(percent)
}

fn groups<'a>(parts: impl Iterator<Item = Option<&'a str>>) -> Option<Setting> {
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
    Some(Setting::Groups(by))
}

/// Reads a time from JSON: a number of ns, or a text with a unit.
fn json_ns(value: &Value) -> Option<i64> {
    let ns = match value {
        Value::String(text) => return duration(text),
        other => other.as_i64().or_else(|| other.as_f64().map(|ns| (ns + 0.5) as i64))?,
    };
    Some(ns).filter(|&ns| ns >= 0)
}

impl Takes {
    /// Returns the expected format, for an error message.
    pub(super) fn expected(self) -> String {
        match self {
            Takes::Nothing => "true or false".to_owned(),
            Takes::Count => "a number from 0, or -1 for all".to_owned(),
            Takes::Percent => "a percentage from 0 to 100".to_owned(),
            Takes::Text | Takes::File => "a text".to_owned(),
            Takes::Word(words) => format!("one of {}", words.words.join(", ")),
            Takes::SortBy => format!("one of {}", SortBy::VOCABULARY.words.join(", ")),
            Takes::Width => "a number of characters, or none".to_owned(),
            Takes::Groups => "any of shape, stack:N, overload, module".to_owned(),
            Takes::Duration => "a time with its unit, such as 10us, 1.5ms, 2s or 800ns".to_owned(),
            Takes::Times => "a range of time such as 1.5ms..20ms, the earlier time first".to_owned(),
            Takes::Range => "a number, or a range such as 3-5 with the smaller number first".to_owned(),
            Takes::Texts => "texts separated by commas".to_owned(),
            Takes::Numbers => "numbers separated by commas".to_owned(),
        }
    }

    /// Parses a value from text.
    pub(super) fn of_text(self, text: &str) -> Option<Setting> {
        Some(match self {
            Takes::Nothing => Setting::Given,
            Takes::Count => Setting::Number(count(number(text)?)?),
            Takes::Percent => Setting::Percent(percent(text.parse().ok()?)?),
            Takes::Text | Takes::File => Setting::Text(text.to_owned()),
            Takes::Word(words) => Setting::Word(words.words.iter().position(|&word| word == text)?),
            Takes::SortBy => Setting::Word(SortBy::of(text)? as usize),
            Takes::Width if text.eq_ignore_ascii_case("none") => Setting::Width(None),
            Takes::Width => Setting::Width(Some(text.parse().ok()?)),
            Takes::Groups => groups(text.split(',').filter(|part| !part.is_empty()).map(Some))?,
            Takes::Duration => Setting::Number(duration(text)?),
            Takes::Times => times(text)?,
            Takes::Range => range(text)?,
            Takes::Texts => Setting::Texts(text.split(',').map(|text| text.trim().to_owned()).collect()),
            Takes::Numbers => Setting::Numbers(text.split(',').map(number).collect::<Option<_>>()?),
        })
    }

    /// Reads a value from JSON: times as numbers of ns, pairs and lists as arrays; strings as on a command line.
    pub(super) fn of_json(self, value: &Value) -> Option<Setting> {
        Some(match (self, value) {
            (Takes::Nothing, Value::Bool(true)) => Setting::Given,
            // A number as text is a mistake of a program that reads it from somewhere.
            (Takes::Nothing, _) | (Takes::Count, Value::String(_)) => return None,
            (_, Value::String(text)) => return self.of_text(text),
            (Takes::Count, n) => Setting::Number(count(n.as_i64()?)?),
            (Takes::Percent, n) => Setting::Percent(percent(n.as_f64()?)?),
            (Takes::Width, Value::Null) => Setting::Width(None),
            (Takes::Width, n) => Setting::Width(Some(usize::try_from(n.as_u64()?).ok()?)),
            (Takes::Duration, ns) => Setting::Number(json_ns(ns)?),
            (Takes::Range, Value::Number(n)) => Setting::Pair(n.as_i64()?, n.as_i64()?),
            (Takes::Numbers, Value::Number(n)) => Setting::Numbers([n.as_i64()?].into()),
            (_, Value::Array(values)) => return self.of_list(values),
            _ => return None,
        })
    }

    fn of_list(self, values: &[Value]) -> Option<Setting> {
        match (self, values) {
            (Takes::Range, [first, last]) => ordered(first.as_i64()?, last.as_i64()?),
            (Takes::Times, [start, end]) => window(json_ns(start)?, json_ns(end)?),
            (Takes::Groups, parts) => groups(parts.iter().map(Value::as_str)),
            (Takes::Texts, texts) => {
                let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
                Some(Setting::Texts(texts.collect::<Option<_>>()?))
            }
            (Takes::Numbers, numbers) => {
                Some(Setting::Numbers(numbers.iter().map(Value::as_i64).collect::<Option<_>>()?))
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
        assert_eq!(times("1us..2s"), Some(Setting::Pair(1000, 2_000_000_000)));
        assert_eq!(times("2s..1s"), None);
        assert_eq!(range("3"), Some(Setting::Pair(3, 3)));
        assert_eq!(range("3-5"), Some(Setting::Pair(3, 5)));
        assert_eq!(Takes::Groups.of_text("stack"), None);
        assert_eq!(Takes::Width.of_text("none"), Some(Setting::Width(None)));
        assert_eq!(
            Takes::SortBy.of_text("self_cuda_time_total"),
            Takes::SortBy.of_text("self_device_time_total")
        );
        assert_eq!(Takes::SortBy.of_text("colour"), None);
    }

    #[test]
    fn ranges_accept_negative_numbers() {
        assert_eq!(range("-1"), Some(Setting::Pair(-1, -1)));
        assert_eq!(range("-1-2"), Some(Setting::Pair(-1, 2)));
        assert_eq!(range("-3--1"), Some(Setting::Pair(-3, -1)));
        assert_eq!(range("5-3"), None);
        assert_eq!(range("-"), None);
        assert_eq!(range(""), None);
        assert_eq!(Takes::Range.of_json(&json!([-3, -1])), Some(Setting::Pair(-3, -1)));
    }

    #[test]
    fn json_lists_are_not_split_at_commas() {
        // A comma in a text of a list is part of the text.
        let texts = Some(Setting::Texts(["a,b".to_owned()].into()));
        assert_eq!(Takes::Texts.of_json(&json!(["a,b"])), texts);
        assert_eq!(Takes::Numbers.of_json(&json!([])), Some(Setting::Numbers(Vec::new())));
        assert_eq!(Takes::Times.of_json(&json!([1.4, "2us"])), Some(Setting::Pair(1, 2000)));
        assert_eq!(Takes::Times.of_json(&json!([-1, 5])), None);
        assert_eq!(Takes::Count.of_json(&json!(1.5)), None);
        assert_eq!(Takes::Count.of_json(&json!([1])), None);
        assert_eq!(Takes::Count.of_json(&json!(-2)), None);
        assert_eq!(Takes::Count.of_json(&json!("5")), None);
        assert_eq!(Takes::Count.of_text("-1"), Some(Setting::Number(-1)));
        assert_eq!(Takes::Percent.of_text("100"), Some(Setting::Percent(100.0)));
        assert_eq!(Takes::Percent.of_text("100.5"), None);
        assert_eq!(Takes::Percent.of_json(&json!(-1)), None);
        assert_eq!(Takes::Groups.of_json(&json!(["shape", 5])), None);
    }
}
