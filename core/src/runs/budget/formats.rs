//! Checked budgets in the formats of continuous integration: `JUnit` XML, SARIF 2.1.0, and Markdown for a pull request.

use super::check::{Checked, Limit, Outcome, all};
use super::columns::rows;
use crate::base::escape::{self, xml};
use crate::base::rows::quote;
use crate::base::units::counted;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

/// The title of a limit, such as `operator aten::mm: max`.
fn title(limit: &Limit) -> String {
    let name = if limit.name.is_empty() { String::new() } else { format!(" {}", limit.name) };
    format!("{}{name}: {}", limit.metric.label(), limit.rule.label())
}

/// Returns a `JUnit` XML document: a suite for each trace, a case for each limit. A limit that the trace cannot decide is an
/// error, not a failure.
pub fn junit(checked: &[Checked]) -> String {
    let count = |checked: &[Checked], outcome| {
        all(checked).iter().filter(|(_, limit)| limit.outcome == outcome).count()
    };
    let numbers = |checked: &[Checked]| {
        format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
            all(checked).len(),
            count(checked, Outcome::Breach),
            count(checked, Outcome::Unfit)
        )
    };
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"kinetoscope\" {}>", numbers(checked));
    for result in checked {
        let source = xml(&result.source);
        let _ = writeln!(out, "  <testsuite name=\"{source}\" {}>", numbers(core::slice::from_ref(result)));
        for limit in &result.limits {
            let _ = write!(out, "    <testcase classname=\"{source}\" name=\"{}\"", xml(&title(limit)));
            let message = xml(&limit.message);
            let _ = match limit.outcome {
                Outcome::Pass => writeln!(out, "/>"),
                Outcome::Breach => writeln!(out, "><failure message=\"{message}\"/></testcase>"),
                Outcome::Unfit => writeln!(out, "><error message=\"{message}\"/></testcase>"),
            };
        }
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}

/// Returns a SARIF 2.1.0 log: a result for each limit that does not hold or cannot be decided. `budget` is the path of the
/// file of budgets, and `line` returns the line of a limit in it.
pub fn sarif(checked: &[Checked], budget: &str, line: &dyn Fn(&[String]) -> usize) -> String {
    let mut results: Vec<String> = Vec::new();
    for (source, limit) in all(checked) {
        let level = match limit.outcome {
            Outcome::Pass => continue,
            Outcome::Breach => "error",
            Outcome::Unfit => "warning",
        };
        let mut path = Vec::from([limit.metric.as_str().to_string()]);
        if limit.metric.is_named() {
            path.push(limit.name.clone());
        }
        results.push(format!(
            "{{\"ruleId\":{},\"level\":\"{level}\",\"message\":{{\"text\":{}}},\"locations\":[{{\"physicalLocation\":\
             {{\"artifactLocation\":{{\"uri\":{}}},\"region\":{{\"startLine\":{}}}}}}}]}}",
            quote(limit.rule.as_str()),
            quote(&escape::sarif(&format!("{source}: {}: {}", title(limit), limit.message))),
            quote(&escape::address(budget)),
            line(&path).max(1)
        ));
    }
    let rules: Vec<String> = super::check::Rule::ALL
        .into_iter()
        .map(|rule| {
            let text = match rule {
                super::check::Rule::Max => "The value is not larger than its budget.",
                super::check::Rule::MaxIncrease => "The value did not grow by more than its budget.",
                super::check::Rule::NoSignificantIncrease => "The value did not grow by more than noise.",
                super::check::Rule::Forbid => "The finding does not appear.",
            };
            format!("{{\"id\":{},\"shortDescription\":{{\"text\":{}}}}}", quote(rule.as_str()), quote(text))
        })
        .collect();
    format!(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[\n{{\"tool\":{{\"driver\":\
         {{\"name\":\"kinetoscope\",\"version\":{},\"rules\":[{}]}}}},\n\"results\":[{}]}}\n]}}\n",
        quote(env!("CARGO_PKG_VERSION")),
        rules.join(","),
        results.join(",\n")
    )
}

/// Returns a Markdown table for a pull request: a line about the result, then what does not hold, then the rest.
pub fn markdown(checked: &[Checked]) -> String {
    let all = all(checked);
    let count = |outcome| all.iter().filter(|(_, limit)| limit.outcome == outcome).count();
    let (breaches, unfit) = (count(Outcome::Breach), count(Outcome::Unfit));
    let limits = counted(all.len(), "limit");
    let not = if breaches == 1 { "does not hold" } else { "do not hold" };
    let mut out = String::from("### Performance budgets\n\n");
    let _ = match (breaches, unfit) {
        (0, 0) => writeln!(out, "All {} limits hold.", all.len()),
        (0, _) => writeln!(out, "{unfit} of {limits} cannot be decided."),
        (_, 0) => writeln!(out, "**{breaches} of {limits} {not}.**"),
        _ => writeln!(out, "**{breaches} of {limits} {not}**, {unfit} cannot be decided."),
    };
    let mut sorted = checked.to_vec();
    for result in &mut sorted {
        let rank = |limit: &Limit| match limit.outcome {
            Outcome::Breach => 0,
            Outcome::Unfit => 1,
            Outcome::Pass => 2,
        };
        crate::base::order::sort_by_key(&mut result.limits, |limit| (rank(limit), 0));
    }
    let _ = write!(out, "\n{}", rows(&sorted).to_markdown());
    out
}
