//! The options of a verb: declared once, read from a command line's texts or from a JSON object.

use crate::analysis::torch::averages::GroupBy;
use crate::error::Error;
use crate::report::torch_table::{SORT_KEYS, sort_value};
use crate::time;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is given or not.
    Nothing,
    /// A number of rows or levels; negative for all.
    Count,
    /// A percentage.
    Percent,
    /// Any text.
    Text,
    /// The text of a file: its content; on a command line its path.
    File,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A column that torch's table is sorted by.
    SortKey,
    /// A width in characters, or `none`.
    Width,
    /// Any of `shape`, `stack:N`, `overload`, `module`.
    Groups,
    /// A time with its unit: `10us`, `1.5ms`, `2s`, `800ns`.
    Duration,
    /// Two times as in `1.5ms..20ms`.
    Times,
    /// A number or two, as in `3-5`.
    Range,
    /// Texts between commas.
    Texts,
    /// Numbers between commas.
    Numbers,
}

/// An option of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opt {
    /// Its name on the command line; in JSON the same in camel case.
    pub name: &'static str,
    /// What stands for its value in a help text.
    pub value: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// One sentence.
    pub about: &'static str,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
enum Setting {
    Given,
    Number(i64),
    Percent(f64),
    Text(String),
    Width(Option<usize>),
    Groups(GroupBy),
    Pair(i64, i64),
    Texts(Vec<String>),
    Numbers(Vec<i64>),
}

/// The options that were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(Vec<(&'static str, Setting)>);

const DURATION: &str = "a time with its unit: 10us, 1.5ms, 2s, 800ns";

/// A time with its unit, in ns.
fn duration(text: &str) -> Result<i64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let exponent = match &text[digits.len()..] {
        "s" => "e6",
        "ms" => "e3",
        "us" => "e0",
        "ns" => "e-3",
        _ => return Err(DURATION.to_owned()),
    };
    let parsed = time::parse_micros(format!("{digits}{exponent}").as_bytes()).filter(|p| p.ns >= 0);
    parsed.map(|p| p.ns).ok_or_else(|| DURATION.to_owned())
}

fn times(text: &str) -> Result<Setting, String> {
    let (start, end) = text.split_once("..").ok_or("two times as in 1.5ms..20ms")?;
    let start = if start.is_empty() { 0 } else { duration(start)? };
    let end = if end.is_empty() { i64::MAX } else { duration(end)? };
    if start < end { Ok(Setting::Pair(start, end)) } else { Err("the end is before the start".to_owned()) }
}

fn number(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| "a number".to_owned())
}

fn range(text: &str) -> Result<Setting, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let parse = |n| number(n).map_err(|_| "a number, or two as in 3-5".to_owned());
    Ok(Setting::Pair(parse(first)?, parse(last)?))
}

fn groups(text: &str) -> Result<Setting, String> {
    let mut by = GroupBy::default();
    for part in text.split(',').filter(|p| !p.is_empty()) {
        match part.split_once(':').unwrap_or((part, "")) {
            ("shape", "") => by.shape = true,
            ("overload", "") => by.overload = true,
            ("module", "") => by.module = true,
            ("stack", depth) => {
                by.stack = depth.parse().map_err(|_| "stack:N with the number of frames")?;
            }
            _ => return Err("any of shape, stack:N, overload, module".to_owned()),
        }
    }
    Ok(Setting::Groups(by))
}

impl Takes {
    /// The value that a text means; an error says what is wanted instead.
    fn parse(self, text: &str) -> Result<Setting, String> {
        Ok(match self {
            Takes::Nothing => Setting::Given,
            Takes::Count => Setting::Number(number(text)?),
            Takes::Percent => Setting::Percent(
                text.parse().ok().filter(|f: &f64| f.is_finite()).ok_or_else(|| "a percentage".to_owned())?,
            ),
            Takes::Text | Takes::File => Setting::Text(text.to_owned()),
            Takes::Word(words) if words.contains(&text) => Setting::Text(text.to_owned()),
            Takes::Word(words) => return Err(format!("one of {}", words.join(", "))),
            Takes::SortKey
                if sort_value(&crate::analysis::torch::averages::Average::default(), text).is_some() =>
            {
                Setting::Text(text.to_owned())
            }
            Takes::SortKey => return Err(format!("one of {}", SORT_KEYS.join(", "))),
            Takes::Width if text.eq_ignore_ascii_case("none") => Setting::Width(None),
            Takes::Width => {
                Setting::Width(Some(text.parse().map_err(|_| "a number of characters, or none".to_owned())?))
            }
            Takes::Groups => groups(text)?,
            Takes::Duration => Setting::Number(duration(text)?),
            Takes::Times => times(text)?,
            Takes::Range => range(text)?,
            Takes::Texts => Setting::Texts(text.split(',').map(str::to_owned).collect()),
            Takes::Numbers => Setting::Numbers(text.split(',').map(number).collect::<Result<_, _>>()?),
        })
    }

    /// The text that a JSON value stands for: numbers of ns for times, arrays for pairs and lists.
    fn text_of(self, value: &Value) -> Option<String> {
        let plain = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        let list = |separator: &str, unit: &str| {
            let parts = value.as_array()?.iter().map(|v| plain(v) + if v.is_number() { unit } else { "" });
            Some(parts.collect::<Vec<_>>().join(separator))
        };
        match (self, value) {
            (Takes::Nothing, Value::Bool(true)) => Some(String::new()),
            (Takes::Width, Value::Null) => Some("none".to_owned()),
            (Takes::Groups | Takes::Texts | Takes::Numbers, Value::Array(_)) => list(",", ""),
            (Takes::Range, Value::Array(pair)) if pair.len() == 2 => list("-", ""),
            (Takes::Times, Value::Array(pair)) if pair.len() == 2 => list("..", "ns"),
            (Takes::Duration, Value::Number(ns)) => Some(format!("{ns}ns")),
            (
                Takes::Count | Takes::Percent | Takes::Width | Takes::Range | Takes::Numbers,
                Value::Number(n),
            ) => Some(n.to_string()),
            (Takes::Nothing, _) => None,
            (_, Value::String(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

/// `row-limit` as `rowLimit`.
pub fn camel_case(name: &str) -> String {
    let mut upper = false;
    let letters = name.chars().filter_map(|c| match c {
        '-' => {
            upper = true;
            None
        }
        c if core::mem::take(&mut upper) => Some(c.to_ascii_uppercase()),
        c => Some(c),
    });
    letters.collect()
}

impl Opt {
    /// Whether a text is a value of this option.
    ///
    /// # Errors
    /// [`Error::BadOption`] says what is wanted.
    pub fn check(&self, text: &str) -> Result<(), Error> {
        self.takes.parse(text).map(drop).map_err(|wanted| self.refuse(&wanted))
    }

    fn refuse(&self, wanted: &str) -> Error {
        Error::BadOption(format!("{}: give {wanted}", self.name))
    }
}

impl Options {
    /// Sets an option from the text of a command line; the last one wins.
    ///
    /// # Errors
    /// [`Error::BadOption`] when the text is none of its values.
    pub fn set(&mut self, option: &Opt, text: &str) -> Result<(), Error> {
        let setting = option.takes.parse(text).map_err(|wanted| option.refuse(&wanted))?;
        self.0.retain(|(name, _)| *name != option.name);
        self.0.push((option.name, setting));
        Ok(())
    }

    /// Options from a JSON object with names in camel case; `null` and `false` leave an option out, but a width of `null`
    /// is no limit.
    ///
    /// # Errors
    /// [`Error::BadOption`] when a member is no option, or its value is none of the option's.
    pub fn from_json(declared: &[Opt], object: &Value) -> Result<Options, Error> {
        let mut options = Options::default();
        let members = match object {
            Value::Null => return Ok(options),
            Value::Object(members) => members,
            other => return Err(Error::BadOption(format!("options are an object, not {other}"))),
        };
        for (key, value) in members {
            let Some(option) = declared.iter().find(|o| camel_case(o.name) == *key) else {
                let known: Vec<String> = declared.iter().map(|o| camel_case(o.name)).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(Error::BadOption(format!("no option {key}; there are {known}")));
            };
            let left_out = match value {
                Value::Null => option.takes != Takes::Width,
                Value::Bool(given) => !given,
                _ => false,
            };
            if left_out {
                continue;
            }
            let Some(text) = option.takes.text_of(value) else {
                return Err(Error::BadOption(format!("{key}: {value} is not what it takes")));
            };
            options.set(option, &text)?;
        }
        Ok(options)
    }

    fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, setting)| setting)
    }

    /// Whether an option was given.
    pub fn is_given(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A count or duration.
    pub fn number(&self, name: &str) -> Option<i64> {
        if let Some(Setting::Number(n)) = self.get(name) { Some(*n) } else { None }
    }

    /// A percentage, as a share of 1.
    pub fn share(&self, name: &str) -> Option<f64> {
        if let Some(Setting::Percent(percent)) = self.get(name) { Some(percent / 100.0) } else { None }
    }

    /// A text or word.
    pub fn text(&self, name: &str) -> Option<&str> {
        if let Some(Setting::Text(text)) = self.get(name) { Some(text) } else { None }
    }

    /// A width; `default` where none was given.
    pub fn width(&self, name: &str, default: usize) -> Option<usize> {
        if let Some(Setting::Width(width)) = self.get(name) { *width } else { Some(default) }
    }

    /// What to group by.
    pub fn groups(&self, name: &str) -> GroupBy {
        if let Some(Setting::Groups(by)) = self.get(name) { *by } else { GroupBy::default() }
    }

    /// Two numbers or times.
    pub fn pair(&self, name: &str) -> Option<(i64, i64)> {
        if let Some(Setting::Pair(a, b)) = self.get(name) { Some((*a, *b)) } else { None }
    }

    /// Texts.
    pub fn texts(&self, name: &str) -> &[String] {
        if let Some(Setting::Texts(texts)) = self.get(name) { texts } else { &[] }
    }

    /// Numbers.
    pub fn numbers(&self, name: &str) -> &[i64] {
        if let Some(Setting::Numbers(numbers)) = self.get(name) { numbers } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_parsed() {
        assert_eq!(duration("1.5ms"), Ok(1_500_000));
        assert_eq!(duration("800ns"), Ok(800));
        assert!(duration("10").is_err());
        assert_eq!(times("1us..2s"), Ok(Setting::Pair(1000, 2_000_000_000)));
        assert!(times("2s..1s").is_err());
        assert_eq!(range("3"), Ok(Setting::Pair(3, 3)));
        assert_eq!(range("3-5"), Ok(Setting::Pair(3, 5)));
        assert!(groups("stack").is_err());
        assert_eq!(Takes::Width.parse("none"), Ok(Setting::Width(None)));
        assert!(Takes::SortKey.parse("self_cuda_time_total").is_ok());
        assert!(Takes::SortKey.parse("colour").is_err());
    }

    #[test]
    fn json_says_the_same_as_texts() {
        let option = |name, takes| Opt { name, value: "", takes, about: "" };
        let declared = [
            option("group-by", Takes::Groups),
            option("max-name-width", Takes::Width),
            option("steps", Takes::Range),
            option("time", Takes::Times),
            option("lanes", Takes::Nothing),
            option("min-duration", Takes::Duration),
            option("ranks", Takes::Numbers),
        ];
        let texts =
            ["shape,stack:5", "none", "3-4", "1us..2us", "", "10us", "0,3"].into_iter().zip(&declared);
        let mut expected = Options::default();
        for (text, option) in texts {
            expected.set(option, text).expect(text);
        }
        let object = json!({"groupBy": ["shape", "stack:5"], "maxNameWidth": null, "steps": [3, 4],
            "time": [1000, 2000], "lanes": true, "minDuration": 10_000, "ranks": [0, 3]});
        let mut given = Options::from_json(&declared, &object).expect("options");
        given.0.sort_by_key(|(name, _)| declared.iter().position(|o| o.name == *name));
        assert_eq!(given, expected);
        assert_eq!(
            Options::from_json(&declared, &json!({"lanes": false, "steps": null})),
            Ok(Options::default())
        );
        let refused = |object| Options::from_json(&declared, &object).expect_err("refused").to_string();
        assert!(refused(json!({"colour": 1})).contains("no option colour"));
        assert!(refused(json!({"lanes": "yes"})).contains("lanes"));
        assert!(refused(json!({"groupBy": ["size"]})).contains("shape, stack:N, overload"));
        assert!(refused(json!(7)).contains("an object"));
    }
}
