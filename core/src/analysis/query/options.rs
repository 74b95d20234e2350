//! The options of queries and exports. Each is declared once, read from command line arguments or from a JSON object,
//! and converted to one typed structure for each query, which has the defaults.

use super::group_by::GroupBy;
use super::value::{OptionValue, ValueKind};
use crate::base::error::Error;
use crate::base::words::{Word, help, option_spelling};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// The default of an option, as its help text shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// No default is shown: the description covers it.
    Plain,
    /// A number.
    Number(usize),
    /// A number in a table, and this text elsewhere.
    InTable(usize, &'static str),
    /// A word or a phrase.
    Words(&'static str),
}

/// An option of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opt {
    /// The name on the command line; in JSON, the same name in camel case.
    pub name: &'static str,
    /// The placeholder of the value in a help text.
    pub value: &'static str,
    /// The kind of value that it takes.
    pub kind: ValueKind,
    /// The default.
    pub fallback: Fallback,
    /// A description in one sentence.
    pub about: &'static str,
}

/// Returns `row-limit` as `rowLimit`.
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

/// The option of reading a part of a trace; see [`WindowReader`](crate::outline::WindowReader).
pub const WINDOW: Opt = Opt::new(
    "window",
    "FROM..TO",
    ValueKind::Times,
    "Read only events that overlap this range after the start of the recording, such as 1.5s..2s",
);

impl Opt {
    /// Returns an option whose description covers its default.
    pub(crate) const fn new(
        name: &'static str,
        value: &'static str,
        kind: ValueKind,
        about: &'static str,
    ) -> Opt {
        Opt { name, value, kind, fallback: Fallback::Plain, about: help(about) }
    }

    /// A flag.
    pub(crate) const fn flag(name: &'static str, about: &'static str) -> Opt {
        Opt::new(name, "", ValueKind::Nothing, about)
    }

    /// A number of rows or levels; -1 means all.
    pub(crate) const fn count(name: &'static str, value: &'static str, about: &'static str) -> Opt {
        Opt::new(name, value, ValueKind::Count, about)
    }

    /// Any text.
    pub(crate) const fn text(name: &'static str, value: &'static str, about: &'static str) -> Opt {
        Opt::new(name, value, ValueKind::Text, about)
    }

    /// A word of a vocabulary, whose first word is the default.
    pub(crate) const fn word<W: Word>(name: &'static str, value: &'static str, about: &'static str) -> Opt {
        Opt::new(name, value, ValueKind::Word(W::WORDS), about).or(Fallback::Words(W::WORDS.words[0]))
    }

    /// Returns the same option with a default to show.
    pub(crate) const fn or(self, fallback: Fallback) -> Opt {
        Opt { fallback, ..self }
    }

    /// Returns the help text: the description and the default.
    pub fn help(&self) -> String {
        let about = self.about;
        match (self.fallback, self.kind) {
            (Fallback::Plain, _) => about.to_owned(),
            (Fallback::Number(n), _) => format!("{about} [default: {n}]"),
            (Fallback::InTable(n, elsewhere), _) => {
                format!("{about} [default: {n} in a table, {elsewhere} elsewhere]")
            }
            (Fallback::Words(word), ValueKind::Word(_)) => {
                format!("{about} [default: {}]", option_spelling(word))
            }
            (Fallback::Words(words), _) => format!("{about} [default: {words}]"),
        }
    }

    /// Parses the value from text.
    ///
    /// # Errors
    /// Returns the expected format.
    pub fn parse(&self, text: &str) -> Result<OptionValue, String> {
        self.kind.parse_text(text).ok_or_else(|| self.expected())
    }

    fn expected(&self) -> String {
        format!("expected {}", self.kind.expected())
    }
}

/// The typed options of a query or an export.
pub trait TypedOptions: Sized {
    /// The options that can be given.
    const DECLARED: &'static [Opt];

    /// Returns the given options and the defaults of the others: those of a table for a person if `for_reading`, else
    /// those of rows for a program.
    fn from_options(options: &Options, for_reading: bool) -> Self;
}

/// A type that the value of an option is read into; without a value, it has its default.
pub(crate) trait FromOption {
    fn from_option(options: &Options, option: &Opt) -> Self;
}

impl FromOption for bool {
    fn from_option(options: &Options, option: &Opt) -> bool {
        options.flag(option)
    }
}

impl FromOption for Option<i64> {
    fn from_option(options: &Options, option: &Opt) -> Option<i64> {
        options.number(option)
    }
}

/// A number of rows or levels, `None` for all.
impl FromOption for Option<usize> {
    fn from_option(options: &Options, option: &Opt) -> Option<usize> {
        options.limit(option, None)
    }
}

impl FromOption for Option<(i64, i64)> {
    fn from_option(options: &Options, option: &Opt) -> Option<(i64, i64)> {
        options.pair(option)
    }
}

impl FromOption for Option<String> {
    fn from_option(options: &Options, option: &Opt) -> Option<String> {
        options.text(option)
    }
}

impl FromOption for Vec<String> {
    fn from_option(options: &Options, option: &Opt) -> Vec<String> {
        options.texts(option)
    }
}

impl FromOption for Vec<i64> {
    fn from_option(options: &Options, option: &Opt) -> Vec<i64> {
        options.numbers(option)
    }
}

impl<W: Word + Default> FromOption for W {
    fn from_option(options: &Options, option: &Opt) -> W {
        options.word(option).unwrap_or_default()
    }
}

/// Defines the typed options of a query or an export: a structure in which each field names its option.
macro_rules! options {
    (
        $(#[$about:meta])*
        $vis:vis struct $options:ident {
            $($(#[$doc:meta])* $field_vis:vis $field:ident: $type:ty = $option:expr,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $options { $($(#[$doc])* $field_vis $field: $type,)+ }

        impl $crate::analysis::query::options::TypedOptions for $options {
            const DECLARED: &'static [$crate::analysis::query::options::Opt] = &[$($option),+];

            fn from_options(options: &$crate::analysis::query::options::Options, _: bool) -> Self {
                use $crate::analysis::query::options::FromOption;
                $options { $($field: FromOption::from_option(options, &$option),)+ }
            }
        }
    };
}

pub(crate) use options;

/// The option of queries whose answer can have many rows.
pub(crate) const ROW_LIMIT: Opt = Opt::count("row-limit", "N", "Maximum number of rows, -1 for all");

/// The option of queries about a part of the recording.
pub(crate) const TIME: Opt = Opt::new(
    "time",
    "RANGE",
    ValueKind::Times,
    "Only this range of time after the start of the recording, such as 1.5ms..20ms",
);

/// The option of queries about a profiler step.
pub(crate) const STEP: Opt = Opt::count("step", "N", "Only the profiler step with this number");

options! {
    /// Options of the queries whose only option is the row limit.
    pub struct ListOptions {
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The options that were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(Vec<(&'static str, OptionValue)>);

impl Options {
    /// Sets an option; a later value replaces an earlier one.
    pub fn set(&mut self, option: &Opt, value: OptionValue) {
        self.0.retain(|(name, _)| *name != option.name);
        self.0.push((option.name, value));
    }

    /// Parses options from the names and values of a command line. The value of an option that takes none is ignored.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if a name is not an option, or a value does not parse.
    pub fn from_texts(declared: &[Opt], texts: &[(&str, &str)]) -> Result<Options, Error> {
        let mut options = Options::default();
        for &(name, text) in texts {
            let option = declared.iter().find(|o| o.name == name);
            let option = option.ok_or_else(|| unknown(declared, name, ToOwned::to_owned))?;
            let value = option.parse(text).map_err(|expected| refused(name, &expected))?;
            options.set(option, value);
        }
        Ok(options)
    }

    /// Reads options from a JSON object with names in camel case. `null` and `false` omit an option, except that a
    /// width of `null` means no limit.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if a member is not an option, or its value is not valid for the option.
    pub fn from_json(declared: &[Opt], object: &Value) -> Result<Options, Error> {
        let mut options = Options::default();
        let members = match object {
            Value::Null => return Ok(options),
            Value::Object(members) => members,
            other => return Err(Error::BadOption(format!("options must be an object, not {other}"))),
        };
        for (key, value) in members {
            let option = declared.iter().find(|o| camel_case(o.name) == *key);
            let option = option.ok_or_else(|| unknown(declared, key, camel_case))?;
            let left_out = match value {
                Value::Null => option.kind != ValueKind::Width,
                Value::Bool(is_set) => !is_set,
                _ => false,
            };
            if !left_out {
                let value = option.kind.parse_json(value);
                options.set(option, value.ok_or_else(|| refused(key, &option.expected()))?);
            }
        }
        Ok(options)
    }

    /// Checks that every option that was given is one of these.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the name of the first that is not.
    pub fn check(&self, declared: &[Opt]) -> Result<(), Error> {
        let foreign = self.0.iter().find(|(name, _)| declared.iter().all(|o| o.name != *name));
        foreign.map_or(Ok(()), |(name, _)| Err(unknown(declared, name, ToOwned::to_owned)))
    }

    fn get(&self, option: &Opt) -> Option<&OptionValue> {
        self.0.iter().find(|(name, _)| *name == option.name).map(|(_, value)| value)
    }

    /// Returns whether an option was given.
    pub(crate) fn flag(&self, option: &Opt) -> bool {
        self.get(option).is_some()
    }

    /// Returns a number, or a duration in ns.
    pub(crate) fn number(&self, option: &Opt) -> Option<i64> {
        if let Some(OptionValue::Number(n)) = self.get(option) { Some(*n) } else { None }
    }

    /// Returns a number of rows or levels, `None` for all; `default` if none was given.
    pub(crate) fn limit(&self, option: &Opt, default: Option<usize>) -> Option<usize> {
        self.number(option).map_or(default, |n| usize::try_from(n).ok())
    }

    /// Returns a percentage as a fraction of 1. The default is that of the option in a table, and 0 elsewhere.
    pub(crate) fn share(&self, option: &Opt, for_reading: bool) -> f64 {
        let percent = match (self.get(option), option.fallback) {
            (Some(&OptionValue::Percent(percent)), _) => percent,
            (_, Fallback::InTable(percent, _)) if for_reading => percent as f64,
            _ => 0.0,
        };
        percent / 100.0
    }

    /// Returns a text.
    pub(crate) fn text(&self, option: &Opt) -> Option<String> {
        if let Some(OptionValue::Text(text)) = self.get(option) { Some(text.clone()) } else { None }
    }

    /// Returns the variant of the vocabulary for a word.
    pub(crate) fn word<W: Word>(&self, option: &Opt) -> Option<W> {
        if let Some(OptionValue::Word(at)) = self.get(option) { W::VARIANTS.get(*at).copied() } else { None }
    }

    /// Returns a width, `None` for no limit; `default` if none was given.
    pub(crate) fn width(&self, option: &Opt, default: Option<usize>) -> Option<usize> {
        if let Some(OptionValue::Width(width)) = self.get(option) { *width } else { default }
    }

    /// Returns the grouping.
    pub(crate) fn groups(&self, option: &Opt) -> GroupBy {
        if let Some(OptionValue::Groups(by)) = self.get(option) { *by } else { GroupBy::default() }
    }

    /// Returns two numbers or times.
    pub(crate) fn pair(&self, option: &Opt) -> Option<(i64, i64)> {
        if let Some(OptionValue::Pair(a, b)) = self.get(option) { Some((*a, *b)) } else { None }
    }

    /// Returns a list of texts.
    pub(crate) fn texts(&self, option: &Opt) -> Vec<String> {
        if let Some(OptionValue::Texts(texts)) = self.get(option) { texts.clone() } else { Vec::new() }
    }

    /// Returns a list of numbers.
    pub(crate) fn numbers(&self, option: &Opt) -> Vec<i64> {
        if let Some(OptionValue::Numbers(numbers)) = self.get(option) { numbers.clone() } else { Vec::new() }
    }
}

fn refused(name: &str, expected: &str) -> Error {
    Error::BadOption(format!("{name}: {expected}"))
}

fn unknown(declared: &[Opt], name: &str, spelled: fn(&str) -> String) -> Error {
    let known: Vec<String> = declared.iter().map(|o| spelled(o.name)).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Error::BadOption(format!("unknown option {name}; the options are: {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use serde_json::json;

    const DECLARED: &[Opt] = &[
        Opt::new("group-by", "", ValueKind::Groups, ""),
        Opt::new("max-name-width", "", ValueKind::Width, "Width").or(Fallback::Number(55)),
        Opt::new("steps", "", ValueKind::Range, ""),
        Opt::new("time", "", ValueKind::Times, ""),
        Opt::new("lanes", "", ValueKind::Nothing, "Lanes"),
        Opt::new("min-duration", "", ValueKind::Duration, ""),
        Opt::new("ranks", "", ValueKind::Numbers, ""),
    ];

    #[test]
    fn json_and_texts_give_equal_options() {
        let texts = [
            ("group-by", "shape,stack:5"),
            ("lanes", ""),
            ("max-name-width", "none"),
            ("min-duration", "10us"),
            ("ranks", "0,3"),
            ("steps", "3-4"),
            ("time", "1us..2us"),
        ];
        let object = json!({"groupBy": ["shape", "stack:5"], "maxNameWidth": null, "steps": [3, 4],
            "time": [1000, 2000], "lanes": true, "minDuration": 10_000, "ranks": [0, 3]});
        let options = Options::from_json(DECLARED, &object).expect("options");
        assert_eq!(Ok(options), Options::from_texts(DECLARED, &texts));
        let nothing = Options::from_json(DECLARED, &json!({"lanes": false, "steps": null}));
        assert_eq!(nothing, Ok(Options::default()));
    }

    #[test]
    fn errors_state_the_expected_value() {
        let refused = |object| Options::from_json(DECLARED, &object).expect_err("refused").to_string();
        assert!(
            refused(json!({"colour": 1}))
                .starts_with("unknown option colour; the options are: groupBy, maxNameWidth, ")
        );
        assert_eq!(refused(json!({"lanes": "yes"})), "lanes: expected true or false");
        assert!(refused(json!({"groupBy": ["size"]})).contains("shape, stack:N, overload"));
        assert!(refused(json!({"minDuration": []})).starts_with("minDuration: expected a time"));
        assert!(refused(json!(7)).contains("an object"));
        let refused = |texts| Options::from_texts(DECLARED, texts).expect_err("refused").to_string();
        assert!(refused(&[("lane", "")]).starts_with("unknown option lane; the options are: group-by, "));
        assert_eq!(
            refused(&[("steps", "q")]),
            "steps: expected a number, or a range such as 3-5 with the smaller number first"
        );
    }

    #[test]
    fn options_of_another_query_are_refused() {
        let options = Options::from_texts(DECLARED, &[("lanes", "")]).expect("options");
        assert_eq!(options.check(DECLARED), Ok(()));
        assert!(
            options
                .check(&DECLARED[..3])
                .expect_err("refused")
                .to_string()
                .starts_with("unknown option lanes")
        );
    }

    #[test]
    fn defaults_are_shown() {
        assert_eq!(DECLARED[4].help(), "Lanes");
        assert_eq!(DECLARED[1].help(), "Width [default: 55]");
    }
}
