//! The values of each metric over the lines of a file.

use crate::base::error::Error;
use crate::base::order::{descending, float_key, sort_by_key};
use crate::runs::budget::metric::Metric;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// A line of a history.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) commit: String,
    pub(super) host: String,
    pub(super) time: i64,
}

/// The values of a metric.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) metric: String,
    /// The index of the line and the value of each line that has the metric.
    pub(super) points: Vec<(usize, f64)>,
}

/// Reads a history.
///
/// # Errors
/// Returns [`Error::BadOption`] with the number of the first line that is none of a history.
pub(super) fn read(text: &str) -> Result<(Vec<Run>, Vec<Series>), Error> {
    let (mut runs, mut all): (Vec<Run>, Vec<Series>) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: &str| Error::BadOption(format!("line {}: {what}", number + 1));
        let value: Value = serde_json::from_str(line).map_err(|_| wrong("this is not a JSON object"))?;
        let schema = value["schema"].as_str().unwrap_or("");
        if schema != "kinetoscope.history/1" {
            return Err(wrong(&format!("the schema is \"{schema}\", not kinetoscope.history/1")));
        }
        let text = |key: &str| value[key].as_str().unwrap_or("").to_owned();
        let metrics = value["metrics"].as_object().ok_or_else(|| wrong("there are no metrics"))?;
        for (metric, number) in metrics {
            let Some(number) = number.as_f64() else { continue };
            let at = all.iter().position(|series| series.metric == *metric).unwrap_or_else(|| {
                all.push(Series { metric: metric.clone(), points: Vec::new() });
                all.len() - 1
            });
            all[at].points.push((runs.len(), number));
        }
        runs.push(Run {
            commit: text("commit"),
            host: text("host"),
            time: value["time"].as_i64().unwrap_or(0),
        });
    }
    // In the order of the vocabulary, and of one metric the largest values first.
    let place = |series: &Series| {
        let word = series.metric.split(' ').next().unwrap_or("");
        Metric::ALL.iter().position(|metric| metric.as_str() == word).unwrap_or(Metric::ALL.len()) as i64
    };
    let last = |series: &Series| descending(float_key(series.points.last().map_or(0.0, |point| point.1)));
    sort_by_key(&mut all, |series| (place(series), last(series)));
    Ok((runs, all))
}
