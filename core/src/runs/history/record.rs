//! The line that a trace adds to its history.

use crate::base::rows::quote;
use crate::runs::budget::metric::Metric;
use crate::runs::budget::subject::Subject;
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
        if metric == Metric::Findings || subject.why_unfit(metric).is_some() {
            continue;
        }
        let values = if metric.is_named() {
            subject.largest(metric, MOST).into_iter().filter(|(_, value)| *value > 0.0).collect()
        } else {
            Vec::from_iter(subject.value(metric, "").map(|value| (String::new(), value)))
        };
        for (name, value) in values {
            let key =
                if name.is_empty() { metric.as_str().into() } else { format!("{} {name}", metric.as_str()) };
            all.push((key, value));
        }
    }
    all
}
