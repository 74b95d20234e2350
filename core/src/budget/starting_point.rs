//! A file of budgets from measured traces, whose tolerances come from the noise of the measurements.

use super::metric::Metric;
use super::subject::Subject;
use crate::compare::statistics::{mean, variance};
use alloc::format;
use alloc::string::{String, ToString};
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
    let _ = writeln!(out, "# Measured: {}", crate::rows::one_line(&names.join(", ")));
    if subjects.len() == 1 {
        out.push_str("# One recording does not show the noise between recordings: measure several.\n");
    }
    let wall = subjects.iter().filter_map(|one| one.value(Metric::Step, "")).fold(0.0, f64::max);
    let is_fit = |metric| subjects.iter().all(|one| one.why_unfit(metric).is_none());
    for metric in [Metric::Step, Metric::DeviceBusy, Metric::DeviceIdle, Metric::Communication] {
        if is_fit(metric) {
            add(&mut out, subjects, metric, "", wall);
        }
    }
    for metric in [Metric::Operator, Metric::Range, Metric::Kernel] {
        for (name, _) in subjects.first().map(|one| one.largest(metric, MOST)).unwrap_or_default() {
            add(&mut out, subjects, metric, &name, wall);
        }
    }
    for device in subjects.first().map(|one| one.names(Metric::Memory)).unwrap_or_default() {
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
    let values: Vec<f64> = subjects.iter().filter_map(|one| one.value(metric, name)).collect();
    let middle = mean(&values);
    let is_count = matches!(metric, Metric::Launches | Metric::Recompilations);
    if values.len() < subjects.len()
        || (middle < wall * SHARE && metric != Metric::Step)
        || (middle <= 0.0 && !is_count)
    {
        return;
    }
    let noise =
        if values.len() > 1 { libm::sqrt(variance(&values)) } else { own_noise(&subjects[0], metric, name) };
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

/// The noise of the mean of one recording, by its steps.
fn own_noise(subject: &Subject, metric: Metric, name: &str) -> f64 {
    let samples = subject.samples(metric, name).unwrap_or_default();
    libm::sqrt(variance(&samples) / samples.len().max(1) as f64)
}

/// A key of TOML: a basic string.
fn key(name: &str) -> String {
    crate::rows::quote(name).replace('\u{7f}', "\\u007f")
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
