//! A file of budgets from measured traces, whose tolerances come from the noise of the measurements.

use super::metric::Metric;
use super::subject::Subject;
use crate::base::escape;
use crate::base::rows::quote;
use crate::runs::compare::statistics::{mean, variance};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;

/// The number of operators, annotations and kernels that get budgets.
const MOST: usize = 5;

/// The smallest tolerance.
const SMALLEST: f64 = 0.02;

/// How many standard deviations a limit is above the mean.
const DEVIATIONS: f64 = 4.0;

/// The share of a step from which something gets a budget.
const SHARE: f64 = 0.02;

/// Returns a file of budgets as TOML that all of these traces keep. The tolerance of a value is 4 standard deviations of the
/// recordings; of one recording, of its steps; at least 2 %, and enough for the largest of the values.
pub fn starting_point(subjects: &[Subject]) -> String {
    let mut out = String::from("# Budgets of a step, from the noise of the measured traces.\n");
    let names: Vec<&str> = subjects.iter().map(Subject::source).collect();
    let _ = writeln!(out, "# Measured: {}", escape::line(&names.join(", ")));
    if recordings(subjects) == 1 {
        out.push_str("# One recording does not show the noise between recordings: measure several.\n");
    }
    let wall = subjects.iter().filter_map(|subject| subject.value(Metric::Step, "")).fold(0.0, f64::max);
    let is_fit = |metric| subjects.iter().all(|subject| subject.why_unfit(metric).is_none());
    for metric in [Metric::Step, Metric::DeviceBusy, Metric::DeviceIdle, Metric::Communication] {
        if is_fit(metric) {
            add(&mut out, subjects, metric, "", wall);
        }
    }
    for metric in [Metric::Operator, Metric::Range, Metric::Kernel] {
        for (name, _) in subjects.first().map(|subject| subject.largest(metric, MOST)).unwrap_or_default() {
            add(&mut out, subjects, metric, &name, wall);
        }
    }
    for device in subjects.first().map(|subject| subject.names(Metric::Memory)).unwrap_or_default() {
        add(&mut out, subjects, Metric::Memory, &device, 0.0);
    }
    for metric in [Metric::Launches, Metric::Recompilations] {
        if is_fit(metric) {
            add(&mut out, subjects, metric, "", 0.0);
        }
    }
    out
}

fn add(out: &mut String, subjects: &[Subject], metric: Metric, name: &str, wall: f64) {
    let values: Vec<f64> = subjects.iter().filter_map(|subject| subject.value(metric, name)).collect();
    let middle = mean(&values);
    let is_count = matches!(metric, Metric::Launches | Metric::Recompilations);
    if values.len() < subjects.len()
        || (middle < wall * SHARE && metric != Metric::Step)
        || (middle <= 0.0 && !is_count)
    {
        return;
    }
    let noise = noise(subjects, metric, name);
    let largest = values.iter().copied().fold(0.0, f64::max);
    let tolerance = (DEVIATIONS * noise / middle.max(f64::MIN_POSITIVE)).max(SMALLEST);
    let max = if is_count { largest } else { largest.max(middle * (1.0 + tolerance)) };
    let header =
        if metric.is_named() { format!("{}.{}", metric.as_str(), key(name)) } else { metric.as_str().into() };
    let _ = write!(out, "\n[{header}]\nmax = {}", toml_value(metric, max));
    let unit = metric.unit();
    let percent =
        if is_count { String::new() } else { format!(", tolerance {:.1} %", (max / middle - 1.0) * 100.0) };
    let _ = writeln!(out, " # measured {}{percent}", unit.show(middle));
}

/// The recordings of each rank. Traces without a rank are recordings of one program.
fn by_rank(subjects: &[Subject]) -> Vec<Vec<&Subject>> {
    let mut ranks: Vec<Vec<&Subject>> = Vec::new();
    for subject in subjects {
        match ranks.iter_mut().find(|recordings| recordings[0].rank() == subject.rank()) {
            Some(recordings) => recordings.push(subject),
            None => ranks.push(vec![subject]),
        }
    }
    ranks
}

/// The number of recordings: ranks of one run are one.
fn recordings(subjects: &[Subject]) -> usize {
    by_rank(subjects).iter().map(Vec::len).max().unwrap_or(0)
}

/// The standard deviation of a value between recordings of a rank; of one recording, of its mean.
fn noise(subjects: &[Subject], metric: Metric, name: &str) -> f64 {
    let ranks = by_rank(subjects);
    let between = ranks.iter().filter(|recordings| recordings.len() > 1).map(|recordings| {
        let values: Vec<f64> = recordings.iter().filter_map(|subject| subject.value(metric, name)).collect();
        variance(&values)
    });
    let between: Vec<f64> = between.collect();
    if between.is_empty() {
        subjects.iter().map(|subject| own_noise(subject, metric, name)).fold(0.0, f64::max)
    } else {
        libm::sqrt(mean(&between))
    }
}

/// The noise of the mean of one recording, by its steps.
fn own_noise(subject: &Subject, metric: Metric, name: &str) -> f64 {
    let samples = subject.samples(metric, name).unwrap_or_default();
    libm::sqrt(variance(&samples) / samples.len().max(1) as f64)
}

/// A key of TOML: a basic string.
fn key(name: &str) -> String {
    escape::toml(&quote(name)).into_owned()
}

/// A value that reads back as at least `max`.
fn toml_value(metric: Metric, max: f64) -> String {
    let up = |value: f64, unit: &str| format!("\"{:.3} {unit}\"", libm::ceil(value * 1000.0) / 1000.0);
    match metric {
        Metric::Memory => up(max / 1_048_576.0, "MiB"),
        Metric::Launches | Metric::Recompilations => (libm::ceil(max) as i64).to_string(),
        _ if max >= 1e6 => up(max / 1e6, "ms"),
        _ => up(max / 1e3, "us"),
    }
}
