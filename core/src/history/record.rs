//! The line that a trace adds to its history.

use crate::budget::metric::Metric;
use crate::budget::subject::Subject;
use crate::order::{descending, of_float, sort_by_key};
use crate::rows::quote;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The number of operators, annotations and kernels that are recorded.
const MOST: usize = 20;

/// What is known about a recording besides its trace. Empty texts are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The commit of the program.
    pub commit: String,
    /// The machine.
    pub host: String,
    /// The version of what wrote the line.
    pub tool: String,
    /// The Unix time of the recording or of the line, in s.
    pub time: i64,
}

/// Returns the line, with its end: a JSON object with `metrics`, whose keys are names of metrics and whose values have the
/// unit of the metric.
pub fn line(subject: &Subject, origin: &Origin) -> String {
    let metrics: Vec<String> =
        metrics(subject).into_iter().map(|(name, value)| format!("{}:{value}", quote(&name))).collect();
    format!(
        "{{\"schema\":\"kinetoscope.history/1\",\"time\":{},\"commit\":{},\"host\":{},\"tool\":{},\"trace\":{},\"producer\":{},\
         \"steps\":{},\"metrics\":{{{}}}}}\n",
        origin.time,
        quote(&origin.commit),
        quote(&origin.host),
        quote(&origin.tool),
        quote(subject.source()),
        quote(subject.producer()),
        subject.steps(),
        metrics.join(",")
    )
}

/// The values that are recorded, with their names.
fn metrics(subject: &Subject) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    for metric in Metric::ALL {
        if metric == Metric::Findings || subject.cannot_answer(metric) {
            continue;
        }
        let names = if metric.is_named() { largest(subject, metric) } else { Vec::from([String::new()]) };
        for name in names {
            let Some(value) = subject.value(metric, &name) else { continue };
            let key =
                if name.is_empty() { metric.as_str().into() } else { format!("{} {name}", metric.as_str()) };
            all.push((key, value));
        }
    }
    all
}

/// The names with the largest values, without those that are 0.
fn largest(subject: &Subject, metric: Metric) -> Vec<String> {
    let names = subject.names(metric).into_iter();
    let mut names: Vec<(String, f64)> =
        names.filter_map(|name| subject.value(metric, &name).map(|value| (name, value))).collect();
    names.retain(|one| one.1 > 0.0);
    sort_by_key(&mut names, |one| (descending(of_float(one.1)), 0));
    names.truncate(MOST);
    names.into_iter().map(|one| one.0).collect()
}
