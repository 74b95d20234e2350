//! The leaves of a file of budgets.

use super::metric::Metric;
use super::quantity::percent;
use crate::analysis::overview::findings::FindingCode;
use crate::base::words::Word;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde_json::Value;

/// A value of a file with its keys, from the outermost.
pub type Leaf = (Vec<String>, Value);

/// What is wrong with a file of budgets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wrong {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// What is wrong, in one sentence without a period.
    pub message: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.join("."), self.message)
    }
}

/// A limit on a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Increase {
    /// A share of the base.
    Share(f64),
    /// An amount in the unit of the metric.
    By(f64),
}

/// The limits on one metric or name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Budget {
    pub(super) metric: Metric,
    /// The name, with `*` for any characters; empty for metrics without names.
    pub(super) name: String,
    pub(super) max: Option<f64>,
    pub(super) max_increase: Option<Increase>,
    pub(super) no_significant_increase: bool,
    /// Whether nothing of this name is not an error.
    pub(super) optional: bool,
    pub(super) forbid: Vec<FindingCode>,
}

impl Budget {
    pub(super) fn path(&self) -> Vec<String> {
        let mut path = Vec::from([self.metric.as_str().to_owned()]);
        if self.metric.is_named() {
            path.push(self.name.clone());
        }
        path
    }

    fn has_limit(&self) -> bool {
        self.max.is_some() || self.is_relative() || !self.forbid.is_empty()
    }

    /// Whether a base is necessary.
    pub(super) fn is_relative(&self) -> bool {
        self.max_increase.is_some() || self.no_significant_increase
    }
}

/// The budgets of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budgets(pub(super) Vec<Budget>);

const KEYS: [&str; 4] = ["max", "max_increase", "no_significant_increase", "optional"];

impl Budgets {
    /// Reads the leaves of a file, in their order.
    ///
    /// # Errors
    /// Returns what is wrong with the first leaf that is no limit.
    pub fn new(leaves: impl IntoIterator<Item = Leaf>) -> Result<Budgets, Wrong> {
        let mut budgets = Budgets::default();
        for (path, value) in leaves {
            budgets.add(&path, &value).map_err(|message| Wrong { path, message })?;
        }
        match budgets.0.iter().find(|budget| !budget.has_limit()) {
            Some(budget) => Err(Wrong { path: budget.path(), message: "there is no limit here".into() }),
            None => Ok(budgets),
        }
    }

    /// Reads budgets as JSON: an object for each metric, and in it one for each name.
    ///
    /// # Errors
    /// As [`Budgets::new`].
    pub fn from_json(value: &Value) -> Result<Budgets, Wrong> {
        let mut leaves = Vec::new();
        collect(value, &mut Vec::new(), &mut leaves);
        Budgets::new(leaves)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a base is necessary to check them.
    pub fn need_base(&self) -> bool {
        self.0.iter().any(Budget::is_relative)
    }

    fn add(&mut self, path: &[String], value: &Value) -> Result<(), String> {
        if value.as_object().is_some_and(serde_json::Map::is_empty) {
            return Err("there is no limit here".into());
        }
        let word = path.first().map_or("", String::as_str);
        let found = Metric::from_word(word);
        let metric = found.ok_or_else(|| unknown("metric", word, Metric::VOCABULARY.words))?;
        let (name, key) = match (&path[1..], metric.is_named()) {
            ([key], false) => (String::new(), key),
            ([name, key], true) => (name.clone(), key),
            (_, true) => return Err(format!("expected [{word}.\"NAME\"] with its limits")),
            _ => return Err(format!("expected [{word}] with its limits")),
        };
        let known = self.0.iter().position(|budget| budget.metric == metric && budget.name == name);
        let at = known.unwrap_or_else(|| {
            self.0.push(Budget {
                metric,
                name,
                max: None,
                max_increase: None,
                no_significant_increase: false,
                optional: false,
                forbid: Vec::new(),
            });
            self.0.len() - 1
        });
        set(&mut self.0[at], key, value)
    }
}

fn collect(value: &Value, path: &mut Vec<String>, leaves: &mut Vec<Leaf>) {
    // An object without members is a leaf, which has no limit: left out, it would be a budget that always holds.
    let Value::Object(members) = value else { return leaves.push((path.clone(), value.clone())) };
    if members.is_empty() && !path.is_empty() {
        return leaves.push((path.clone(), value.clone()));
    }
    for (key, member) in members {
        path.push(key.clone());
        collect(member, path, leaves);
        path.pop();
    }
}

fn set(budget: &mut Budget, key: &str, value: &Value) -> Result<(), String> {
    let flag = || value.as_bool().ok_or_else(|| format!("expected true or false, not {value}"));
    let unit = budget.metric.unit();
    match key {
        "forbid" if budget.metric == Metric::Findings => budget.forbid = codes(value)?,
        _ if budget.metric == Metric::Findings => return Err(unknown("key", key, &["forbid"])),
        "max" => budget.max = Some(unit.read(value)?),
        "max_increase" => {
            let by = || unit.read(value).map(Increase::By);
            let increase = percent(value).map(Increase::Share).map_or_else(by, Ok);
            budget.max_increase =
                Some(increase.map_err(|expected| format!("{expected}, or a share such as \"5 %\""))?);
        }
        "no_significant_increase" => budget.no_significant_increase = flag()?,
        "optional" => budget.optional = flag()?,
        _ => return Err(unknown("key", key, &KEYS)),
    }
    Ok(())
}

fn codes(value: &Value) -> Result<Vec<FindingCode>, String> {
    let expected = || format!("expected a list of findings, not {value}");
    let list = value.as_array().ok_or_else(expected)?;
    let code = |word: &Value| {
        let word = word.as_str().ok_or_else(expected)?;
        let found = FindingCode::from_word(word);
        found.ok_or_else(|| unknown("finding", word, FindingCode::VOCABULARY.words))
    };
    list.iter().map(code).collect()
}

/// The message about an unknown word, with the nearest known one.
pub(super) fn unknown<S: AsRef<str>>(what: &str, word: &str, known: &[S]) -> String {
    let nearest = known.iter().map(AsRef::as_ref).min_by_key(|candidate| distance(candidate, word));
    let near = nearest.filter(|near| distance(near, word) <= near.len().max(word.len()) / 2 + 1);
    let hint = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
    format!("unknown {what} {}{hint}", if word.is_empty() { "\"\"".to_string() } else { word.to_owned() })
}

/// The number of characters that must be inserted, removed or replaced (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, x) in a.chars().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], at + 1);
        for (column, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wrong(value: &Value) -> String {
        Budgets::from_json(value).expect_err("a mistake").to_string()
    }

    #[test]
    fn limits_are_read() {
        let budgets = Budgets::from_json(&json!({
            "step": {"max": "25 ms", "max_increase": "3 %"},
            "kernel": {"ampere_*": {"max_increase": "100 us", "optional": true}},
            "findings": {"forbid": ["uneven_steps"]},
        }))
        .expect("budgets");
        assert_eq!(budgets.0.len(), 3);
        assert!(budgets.need_base());
        let kernel = budgets.0.iter().find(|budget| budget.metric == Metric::Kernel).expect("a budget");
        assert_eq!((kernel.name.as_str(), kernel.max_increase), ("ampere_*", Some(Increase::By(100_000.0))));
        assert!(kernel.optional);
    }

    #[test]
    fn mistakes_name_the_key_and_the_nearest_word() {
        assert_eq!(
            wrong(&json!({"stpe": {"max": "1 ms"}})),
            "stpe.max: unknown metric stpe; did you mean step?"
        );
        assert_eq!(
            wrong(&json!({"step": {"maxx": "1 ms"}})),
            "step.maxx: unknown key maxx; did you mean max?"
        );
        assert_eq!(
            wrong(&json!({"step": {"max": "1 GiB"}})),
            "step.max: expected a time with its unit, such as \"25 ms\", not \"1 GiB\""
        );
        assert_eq!(
            wrong(&json!({"kernel": {"max": "1 ms"}})),
            "kernel.max: expected [kernel.\"NAME\"] with its limits"
        );
        for nothing in [json!({"step": {}}), json!({"step": {"max": 5}, "kernel": {"gemm": {}}})] {
            assert!(wrong(&nothing).ends_with(": there is no limit here"), "{nothing}");
        }
        assert_eq!(wrong(&json!({"step": 5})), "step: expected [step] with its limits");
        assert_eq!(
            wrong(&json!({"findings": {"forbid": ["uneven_stps"]}})),
            "findings.forbid: unknown finding uneven_stps; did you mean uneven_steps?"
        );
        assert_eq!(wrong(&json!({"findings": {"max": 1}})), "findings.max: unknown key max");
        assert_eq!(wrong(&json!({"step": {"optional": 1}})), "step.optional: expected true or false, not 1");
    }
}
