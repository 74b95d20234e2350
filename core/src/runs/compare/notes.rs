//! What should be known about two traces that are compared.

use super::kinds::DiffPart;
use super::lines::Line;
use super::measure::{Both, Measures};
use super::noise::{FEWEST_LINES, FEWEST_STEPS, Factors};
use super::profile::{Facts, Profile};
use super::verdict::Factor;
use crate::base::units::{counted, share};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The share of the time without a partner from which two traces are probably of different programs.
const SMALLEST_ALIGNED: f64 = 0.5;

/// Returns the notes about two profiles, without a period.
pub(super) fn notes([a, b]: Both<&Profile>) -> Vec<String> {
    let mut notes = Vec::new();
    let (x, y) = (&a.facts, &b.facts);
    for (profile, facts) in [(a, x), (b, y)] {
        if facts.is_partial {
            notes.push(format!("{}: a part could not be read", profile.source));
        }
    }
    for (profile, facts) in [(a, x), (b, y)] {
        if !facts.apart.is_empty() {
            notes.push(format!("{}: not compared: {}", profile.source, facts.apart.join(", ")));
        }
    }
    if x.is_summary {
        notes.push(
            "of operators and kernels, summaries have sums of self times over all threads, which are no parts of the totals".into(),
        );
    }
    if x.producer != y.producer {
        notes.push(format!("recorded by {} and by {}", x.producer, y.producer));
    }
    if x.devices != y.devices && !x.devices.is_empty() && !y.devices.is_empty() {
        notes.push(format!("recorded on {} and on {}", x.devices.join(", "), y.devices.join(", ")));
    }
    let one_has = |what: &str, has: fn(&Facts) -> bool| {
        let which = match (has(x), has(y)) {
            (true, false) => "first",
            (false, true) => "second",
            _ => return None,
        };
        Some(format!("only the {which} trace has {what}"))
    };
    if !x.is_summary && !y.is_summary {
        notes.extend(one_has("Python functions", |facts| facts.has_python));
        notes.extend(one_has("shapes of inputs", |facts| facts.has_shapes));
    }
    notes.extend(one_has("device work", |facts| facts.used_devices > 0));
    if x.world_size != y.world_size {
        let size = |size: Option<i64>| {
            size.map_or_else(|| "an unknown number of ranks".into(), |size| counted(size as usize, "rank"))
        };
        notes.push(format!("of runs of {} and {}", size(x.world_size), size(y.world_size)));
    }
    if a.has_steps() != b.has_steps() {
        let which = if a.has_steps() { "second" } else { "first" };
        notes.push(format!("the {which} trace has no profiler steps; all of it is compared with one step"));
    }
    notes
}

/// Returns the notes about what was measured.
pub(super) fn about(measures: &Measures) -> Vec<String> {
    let mut notes = Vec::new();
    let steps = [measures.steps(0), measures.steps(1)];
    if steps.iter().any(|&steps| steps < FEWEST_STEPS) {
        notes.push(format!(
            "cannot tell noise from change: {} and {}, at least {FEWEST_STEPS} of each are necessary",
            counted(steps[0], "step"),
            counted(steps[1], "step")
        ));
    }
    notes.extend(other_program(measures));
    notes
}

/// Why the two sides are probably of different programs.
pub(super) fn other_program(measures: &Measures) -> Option<String> {
    let has_time = measures.attributed.iter().all(|&ns| ns > 0);
    let aligned = aligned(measures);
    (has_time && aligned.iter().all(|&share| share < SMALLEST_ALIGNED)).then(|| {
        let [a, b] = aligned.map(|aligned| share(aligned, 1.0));
        format!(
            "{a} of the first and {b} of the second trace could be aligned: they may be of different programs"
        )
    })
}

/// The share of the attributed time of each side that has a partner.
pub(super) fn aligned(measures: &Measures) -> Both<f64> {
    [0, 1].map(|side| measures.aligned[side] as f64 / measures.attributed[side].max(1) as f64)
}

/// Returns the notes about noise that could not be measured.
pub(super) fn about_noise(lines: &[Line], factors: &Factors) -> Vec<String> {
    let of = |part: DiffPart, what: &str, factor: &Option<Factor>| {
        let is_tested = |line: &Line| line.part == Some(part) && line.verdict.probability.is_some();
        let note = || {
            format!(
                "too few rows of the {what} do the same work to measure the noise between recordings: at least {FEWEST_LINES} are necessary"
            )
        };
        (factor.is_none() && lines.iter().any(is_tested)).then(note)
    };
    let host = of(DiffPart::Wall, "host", &factors[0]);
    host.into_iter().chain(of(DiffPart::DeviceBusy, "devices", &factors[1])).collect()
}
