//! The options of queries and exports. Each is declared once, read from command line arguments or from a JSON object,
//! and converted to one typed structure for each query, which has the defaults.

use super::setting::Setting;
pub use super::takes::Takes;
use crate::analysis::torch::averages::GroupBy;
use crate::base::error::Error;
use crate::base::words::help;
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
    pub takes: Takes,
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
    Takes::Times,
    "Read only events that overlap this range after the start of the recording, such as 1.5s..2s",
);

impl Opt {
    /// Returns an option whose description covers its default.
    pub(super) const fn new(
        name: &'static str,
        value: &'static str,
        takes: Takes,
        about: &'static str,
    ) -> Opt {
        Opt { name, value, takes, fallback: Fallback::Plain, about: help(about) }
    }

    /// Returns the same option with a default to show.
    pub(super) const fn or(self, fallback: Fallback) -> Opt {
        Opt { fallback, ..self }
    }

    /// Returns the help text: the description and the default.
    pub fn help(&self) -> String {
        let about = self.about;
        match self.fallback {
            Fallback::Plain => about.to_owned(),
            Fallback::Number(n) => format!("{about} [default: {n}]"),
            Fallback::InTable(n, elsewhere) => {
                format!("{about} [default: {n} in a table, {elsewhere} elsewhere]")
            }
            Fallback::Words(words) => format!("{about} [default: {words}]"),
        }
    }

    /// Parses the value from text.
    ///
    /// # Errors
    /// Returns the expected format.
    pub fn parse(&self, text: &str) -> Result<Setting, String> {
        self.takes.of_text(text).ok_or_else(|| self.expected())
    }

    fn expected(&self) -> String {
        format!("expected {}", self.takes.expected())
    }
}

/// The typed options of a query or an export.
pub trait Typed: Sized {
    /// The options that can be given.
    const DECLARED: &'static [Opt];

    /// Returns the given options and the defaults of the others: those of a table for a person if `for_reading`, else
    /// those of rows for a program.
    fn of(given: &Options, for_reading: bool) -> Self;
}

/// The options that were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(Vec<(&'static str, Setting)>);

impl Options {
    /// Sets an option; a later value replaces an earlier one.
    pub fn set(&mut self, option: &Opt, setting: Setting) {
        self.0.retain(|(name, _)| *name != option.name);
        self.0.push((option.name, setting));
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
            let setting = option.parse(text).map_err(|expected| refused(name, &expected))?;
            options.set(option, setting);
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
                Value::Null => option.takes != Takes::Width,
                Value::Bool(given) => !given,
                _ => false,
            };
            if !left_out {
                let setting = option.takes.of_json(value);
                options.set(option, setting.ok_or_else(|| refused(key, &option.expected()))?);
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

    fn get(&self, option: &Opt) -> Option<&Setting> {
        self.0.iter().find(|(name, _)| *name == option.name).map(|(_, setting)| setting)
    }

    /// Returns whether an option was given.
    pub(super) fn flag(&self, option: &Opt) -> bool {
        self.get(option).is_some()
    }

    /// Returns a number, or a duration in ns.
    pub(super) fn number(&self, option: &Opt) -> Option<i64> {
        if let Some(Setting::Number(n)) = self.get(option) { Some(*n) } else { None }
    }

    /// Returns a number of rows or levels, `None` for all; `default` if none was given.
    pub(super) fn limit(&self, option: &Opt, default: Option<usize>) -> Option<usize> {
        self.number(option).map_or(default, |n| usize::try_from(n).ok())
    }

    /// Returns a percentage as a fraction of 1.
    pub(super) fn share(&self, option: &Opt) -> Option<f64> {
        if let Some(Setting::Percent(percent)) = self.get(option) { Some(percent / 100.0) } else { None }
    }

    /// Returns a text.
    pub(super) fn text(&self, option: &Opt) -> Option<String> {
        if let Some(Setting::Text(text)) = self.get(option) { Some(text.clone()) } else { None }
    }

    /// Returns the variant for a word; `all` are the variants of the vocabulary in order.
    pub(super) fn word<T: Copy>(&self, option: &Opt, all: &[T]) -> Option<T> {
        if let Some(Setting::Word(at)) = self.get(option) { all.get(*at).copied() } else { None }
    }

    /// Returns a width, `None` for no limit; `default` if none was given.
    pub(super) fn width(&self, option: &Opt, default: Option<usize>) -> Option<usize> {
        if let Some(Setting::Width(width)) = self.get(option) { *width } else { default }
    }

    /// Returns the grouping.
    pub(super) fn groups(&self, option: &Opt) -> GroupBy {
        if let Some(Setting::Groups(by)) = self.get(option) { *by } else { GroupBy::default() }
    }

    /// Returns two numbers or times.
    pub(super) fn pair(&self, option: &Opt) -> Option<(i64, i64)> {
        if let Some(Setting::Pair(a, b)) = self.get(option) { Some((*a, *b)) } else { None }
    }

    /// Returns a list of texts.
    pub(super) fn texts(&self, option: &Opt) -> Vec<String> {
        if let Some(Setting::Texts(texts)) = self.get(option) { texts.clone() } else { Vec::new() }
    }

    /// Returns a list of numbers.
    pub(super) fn numbers(&self, option: &Opt) -> Vec<i64> {
        if let Some(Setting::Numbers(numbers)) = self.get(option) { numbers.clone() } else { Vec::new() }
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
    use crate::queries::answer_options as answers;
    use crate::queries::export_options as exports;
    use crate::queries::{EXPORTS, QUERIES};
    use alloc::string::ToString;
    use core::fmt::Debug;
    use serde_json::json;

    const DECLARED: &[Opt] = &[
        Opt::new("group-by", "", Takes::Groups, ""),
        Opt::new("max-name-width", "", Takes::Width, "Width").or(Fallback::Number(55)),
        Opt::new("steps", "", Takes::Range, ""),
        Opt::new("time", "", Takes::Times, ""),
        Opt::new("lanes", "", Takes::Nothing, "Lanes"),
        Opt::new("min-duration", "", Takes::Duration, ""),
        Opt::new("ranks", "", Takes::Numbers, ""),
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
        let given = Options::from_json(DECLARED, &object).expect("options");
        assert_eq!(Ok(given), Options::from_texts(DECLARED, &texts));
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
        let given = Options::from_texts(DECLARED, &[("lanes", "")]).expect("options");
        assert_eq!(given.check(DECLARED), Ok(()));
        assert!(
            given.check(&DECLARED[..3]).expect_err("refused").to_string().starts_with("unknown option lanes")
        );
    }

    #[test]
    fn defaults_are_shown() {
        assert_eq!(DECLARED[4].help(), "Lanes");
        assert_eq!(DECLARED[1].help(), "Width [default: 55]");
    }

    /// Returns a value that is not the default.
    fn sample(option: &Opt) -> &'static str {
        match option.takes {
            Takes::Nothing | Takes::Text | Takes::File | Takes::Texts => "text",
            Takes::Count | Takes::Percent | Takes::Width | Takes::Range | Takes::Numbers => "5",
            Takes::Word(words) => words.words[1],
            Takes::SortBy => "count",
            Takes::Groups => "shape",
            Takes::Duration => "3us",
            Takes::Times => "1us..3us",
        }
    }

    /// Checks that the typed options read every declared option.
    fn check<O: Typed + Debug + PartialEq>(declared: &[&'static [Opt]]) {
        assert!(declared.contains(&O::DECLARED));
        for for_reading in [false, true] {
            for option in O::DECLARED {
                let given = Options::from_texts(O::DECLARED, &[(option.name, sample(option))]);
                let typed = O::of(&given.expect(option.name), for_reading);
                assert_ne!(typed, O::of(&Options::default(), for_reading), "{} is not read", option.name);
            }
        }
    }

    #[test]
    fn every_option_is_read() {
        let queries: Vec<&'static [Opt]> = QUERIES.iter().map(|query| query.options).collect();
        check::<answers::ListOptions>(&queries);
        check::<answers::OpsOptions>(&queries);
        check::<answers::IdleOptions>(&queries);
        check::<answers::KernelsOptions>(&queries);
        check::<answers::SequencesOptions>(&queries);
        check::<answers::FlopsOptions>(&queries);
        check::<answers::PatternsOptions>(&queries);
        check::<answers::TreeOptions>(&queries);
        check::<answers::NamesOptions>(&queries);
        let exports: Vec<&'static [Opt]> = EXPORTS.iter().map(|export| export.options).collect();
        check::<exports::FoldedOptions>(&exports);
        check::<exports::MemoryTimelineOptions>(&exports);
        check::<exports::SliceOptions>(&exports);
        check::<exports::ShrinkOptions>(&exports);
        check::<exports::RedactOptions>(&exports);
    }

    /// Without options, the defaults for rows are those of `Default`.
    #[test]
    fn no_options_give_the_defaults() {
        let nothing = Options::default();
        assert_eq!(answers::OpsOptions::of(&nothing, false), answers::OpsOptions::default());
        assert_eq!(answers::TreeOptions::of(&nothing, false), answers::TreeOptions::default());
        assert_eq!(answers::NamesOptions::of(&nothing, false), answers::NamesOptions::default());
        assert_eq!(exports::FoldedOptions::of(&nothing, false), exports::FoldedOptions::default());
        assert_eq!(answers::OpsOptions::of(&nothing, true).table.row_limit, Some(100));
        assert!(answers::TreeOptions::of(&nothing, true).min_share > 0.0);
    }
}
