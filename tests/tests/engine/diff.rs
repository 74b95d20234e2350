//! Comparisons of two traces: generated pairs and recorded ones with a known truth, those of others, and what holds for all.

mod devices;
mod identities;
mod made;
mod others;
mod ranks;
mod recorded;
mod trees;

use crate::kinds::check_kinds;
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::runs::compare::Comparison;
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_core::trace::Trace;
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns the rows of `diff`, as JSON.
fn rows(comparison: &Comparison) -> Vec<Value> {
    let query = query("diff").expect("a query");
    let rows = comparison.answer(query, Request::new(&Options::default())).expect("an answer").rows;
    check_kinds(&rows, query.kinds.expect("kinds"), &mut BTreeSet::new(), "a comparison");
    (0..rows.rows.len()).map(|at| serde_json::from_str(&rows.json_row(at)).expect("JSON")).collect()
}

fn profile(bytes: &[u8]) -> Profile {
    Profile::from_trace(&Trace::read(bytes).expect("a trace"), "a trace")
}

fn diff(base: &Profile, new: &Profile) -> Vec<Value> {
    rows(&Comparison::new(base, new))
}

/// The rows that are more than noise, without totals and idle time, in their order.
fn significant(rows: &[Value]) -> Vec<&Value> {
    let is_total = |row: &Value| ["total", "phase", "wait", "idle"].iter().any(|kind| row["kind"] == *kind);
    rows.iter().filter(|row| row["significant"] == true && !is_total(row)).collect()
}

fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no integer"))
}
