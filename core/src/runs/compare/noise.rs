//! Which changes are more than noise.
//!
//! **Steps are the samples.** A change of the mean is tested by Student's t-test with at least the relative variance that
//! half of the lines have, so that a few steps that happen to be equal do not look precise. The probabilities are adjusted
//! for the number of lines (Holm), and the bootstrap interval of the median must exclude 0 as well.
//!
//! **Recordings differ as a whole.** One recording can be slower than the next one evenly over all its work: another clock,
//! other work on the machine. Steps of one recording do not show that noise. The lines with the same work do: most of them did
//! not change, so the middle of their ratios is the common factor, and their spread is the noise between recordings (an
//! empirical null, Efron, JASA 2004). A line that does the same work on both sides must differ from the common factor by
//! more than that spread. A line whose work differs, by calls, shapes, types or names, has changed for sure: it is
//! significant, and its interval shows whether its time changed as well. A total that changed by more than the noise of its
//! steps, and by no more than the common factor and its spread, cannot be decided: one recording of each does not show whether
//! the machine or the program is the cause.

use super::kinds::{DiffPart, RowKind};
use super::lines::Line;
use super::measure::{Both, is_same_work};
use super::statistics::{Trimmed, holm, interval, mean, median, spread, two_sided, variance};
use super::verdict::{Factor, Verdict};
use alloc::vec;
use alloc::vec::Vec;

/// The largest adjusted probability of a change that counts as significant.
const LEVEL: f64 = 0.01;

/// The share of all intervals that may be wrong together.
const TAIL: f64 = 0.05;

/// The smallest number of steps of each side that distinguish noise from change.
pub(super) const FEWEST_STEPS: usize = 3;

/// The smallest share of a step that a line must have on a side to be tested.
const SMALLEST_SHARE: f64 = 0.001;

/// The smallest peak of memory that is tested, in bytes.
const SMALLEST_MEMORY: f64 = 1e6;

/// The smallest number of lines that have a common factor.
pub(super) const FEWEST_LINES: usize = 8;

/// The degrees of freedom of the spread between recordings. They are few, because some operators differ from the others
/// by far more than most do.
const BETWEEN: f64 = 8.0;

/// The factors of the host and of the devices.
pub(super) type Factors = Both<Option<Factor>>;

/// Decides for every line whether its change is noise. Returns the factors.
pub(super) fn judge(lines: &mut [Line]) -> Factors {
    let wall = lines.iter().find(|line| line.kind == RowKind::Total).map_or(0.0, largest_mean);
    let parts = [DiffPart::Wall, DiffPart::DeviceBusy];
    let factors = parts.map(|part| factor(lines, part, wall));
    let floors = parts.map(|part| floor(lines, part, wall));
    // Totals are few, and are tested by themselves.
    for totals in [true, false] {
        let is_of =
            |line: &Line| matches!(line.kind, RowKind::Total | RowKind::Phase | RowKind::Wait) == totals;
        let tested: Vec<usize> =
            (0..lines.len()).filter(|&at| is_of(&lines[at]) && is_tested(&lines[at], wall)).collect();
        decide(lines, &tested, factors, floors);
    }
    let certain = parts.map(|part| certain_ns(lines, part));
    for line in lines.iter_mut().filter(|line| line.verdict.factor.is_some()) {
        let at = parts.iter().position(|&part| line.part_of_total() == Some(part));
        let changed = at.map_or(0, |at| certain[at]);
        // What certainly changed is not the machine.
        if changed.signum() == line.contribution().signum()
            && changed.abs().saturating_mul(2) >= line.contribution().abs()
        {
            line.verdict = Verdict { is_significant: Some(true), factor: None, ..line.verdict };
        }
    }
    for line in lines.iter_mut().filter(|line| line.verdict.probability.is_none()) {
        let [a, b] = &line.samples;
        let has_steps = a.len().min(b.len()) >= FEWEST_STEPS;
        line.verdict.median = median(b) - median(a);
        line.verdict.is_significant = has_steps.then_some(false);
    }
    factors
}

/// The sum of the changes of the parts of a total that are more than noise.
fn certain_ns(lines: &[Line], part: DiffPart) -> i64 {
    let is_certain = |line: &&Line| {
        let Verdict { is_significant, .. } = line.verdict;
        line.part == Some(part) && is_significant == Some(true) && line.verdict.excludes_zero()
    };
    lines.iter().filter(is_certain).fold(0, |sum, line| sum.saturating_add(line.contribution()))
}

/// Decides for some lines together.
fn decide(lines: &mut [Line], tested: &[usize], factors: Factors, floors: Both<f64>) {
    let mut probabilities: Vec<f64> =
        tested.iter().map(|&at| probability(&lines[at], factors, floors)).collect();
    holm(&mut probabilities);
    let tail = TAIL / 2.0 / tested.len().max(1) as f64;
    for (&at, probability) in tested.iter().zip(probabilities) {
        let [a, b] = &lines[at].samples;
        let mut verdict = Verdict {
            median: median(b) - median(a),
            interval: Some(interval(a, b, tail)),
            probability: Some(probability),
            ..Verdict::default()
        };
        let excludes = verdict.excludes_zero();
        let is_significant = is_other_work(&lines[at]) || (probability < LEVEL && excludes);
        if excludes && !is_significant {
            verdict.factor = of_total(&lines[at], factors, floors, tested.len());
        }
        verdict.is_significant = verdict.factor.is_none().then_some(is_significant);
        lines[at].verdict = verdict;
    }
}

fn is_total(line: &Line) -> bool {
    matches!(line.kind, RowKind::Total | RowKind::Phase)
}

/// The common factor of a total whose change is more than the noise of its steps: the machine can be its cause. `tested` lines
/// are tested together.
fn of_total(line: &Line, factors: Factors, floors: Both<f64>, tested: usize) -> Option<f64> {
    let (part_factors, floor) = of_part(line, factors, floors);
    let factor = part_factors.into_iter().flatten().next().filter(|_| is_total(line))?;
    let is_change = test(line, 0.0, 0.0, floor) * (tested as f64) < LEVEL;
    is_change.then(|| factor.ratio())
}

/// The common factors and the relative variance of the part of the total that a line belongs to.
fn of_part(line: &Line, factors: Factors, floors: Both<f64>) -> (Vec<Option<Factor>>, f64) {
    match line.part {
        Some(DiffPart::Wall) => (vec![factors[0]], floors[0]),
        Some(DiffPart::DeviceBusy) => (vec![factors[1]], floors[1]),
        _ => (vec![factors[0], factors[1]], floors[0].min(floors[1])),
    }
}

fn largest_mean(line: &Line) -> f64 {
    mean(&line.samples[0]).max(mean(&line.samples[1]))
}

fn is_tested(line: &Line, wall: f64) -> bool {
    let has_steps = line.samples.iter().all(|samples| samples.len() >= FEWEST_STEPS);
    has_steps && !line.is_equal() && is_large(line, wall)
}

fn is_large(line: &Line, wall: f64) -> bool {
    let mean = largest_mean(line);
    match line.kind {
        RowKind::Memory => mean >= SMALLEST_MEMORY,
        _ => mean > 0.0 && mean >= wall * SMALLEST_SHARE,
    }
}

/// The probability of another number of calls by chance below which it counts as other work.
const CALLS_LEVEL: f64 = 1e-4;

/// The smallest change of the number of calls that counts as other work, where the number differs from step to step.
const CALLS_SHARE: f64 = 0.05;

/// Whether the program does other work in the line: another number of calls, other inputs or names.
pub(super) fn is_other_work(line: &Line) -> bool {
    !is_same_work(line.work) || other_calls(line)
}

/// Whether the number of calls of a step changed: between steps with equal numbers, or by more than noise.
pub(super) fn other_calls(line: &Line) -> bool {
    if let (Some(a), Some(b)) = (line.constant_calls(0), line.constant_calls(1)) {
        return (a - b).abs() > 1e-9;
    }
    let [a, b] = &line.calls;
    let (x, y) = (mean(a), mean(b));
    let error = libm::sqrt(variance(a) / a.len() as f64 + variance(b) / b.len() as f64);
    (y - x).abs() > CALLS_SHARE * x.max(y)
        && a.len().min(b.len()) >= FEWEST_STEPS
        && two_sided((y - x) / error, (a.len() + b.len() - 2) as f64) < CALLS_LEVEL
}

/// Returns the common factor of the lines with the same work.
fn factor(lines: &[Line], part: DiffPart, wall: f64) -> Option<Factor> {
    let is_comparable = |line: &&Line| {
        let calls = line.constant_calls(0);
        let has_calls = line.counts[0] > 0 && calls.is_some() && calls == line.constant_calls(1);
        line.part == Some(part) && is_same_work(line.work) && has_calls && is_large(line, wall)
    };
    let mut logs = Vec::new();
    let mut ns = [0; 2];
    for line in lines.iter().filter(is_comparable) {
        let middle = [median(&line.samples[0]), median(&line.samples[1])];
        if middle.iter().all(|&ns| ns > 0.0) {
            logs.push(libm::log(middle[1]) - libm::log(middle[0]));
            ns = [ns[0] + line.values[0], ns[1] + line.values[1]];
        }
    }
    (logs.len() >= FEWEST_LINES).then(|| Factor {
        log: median(&logs),
        spread: spread(&logs),
        lines: logs.len(),
        ns,
    })
}

/// The relative variance that half of the lines have.
fn floor(lines: &[Line], part: DiffPart, wall: f64) -> f64 {
    let large = lines.iter().filter(|line| line.part == Some(part) && is_large(line, wall));
    let relative = large.flat_map(|line| &line.samples).filter(|samples| mean(samples) > 0.0);
    median(&relative.map(|samples| variance(samples) / (mean(samples) * mean(samples))).collect::<Vec<_>>())
}

/// Returns the probability of such a change without a cause, before it is adjusted.
fn probability(line: &Line, factors: Factors, floors: Both<f64>) -> f64 {
    let (part_factors, floor) = of_part(line, factors, floors);
    let plain = test(line, 0.0, 0.0, floor);
    if is_other_work(line) || line.kind == RowKind::Memory {
        return plain;
    }
    let of_factors =
        part_factors.into_iter().flatten().map(|factor| test(line, factor.log, factor.spread, floor));
    of_factors.fold(plain, f64::max)
}

/// The relative error of scaled means.
const ROUNDING: f64 = 1e-12;

/// The t-test of the mean against that of the base times a factor, which is known up to a spread. Each side is scaled by
/// half of the factor, so that the sides can be exchanged.
fn test(line: &Line, log: f64, spread: f64, floor: f64) -> f64 {
    let scaled = |samples: &[f64], factor: f64| {
        let Trimmed { mean, variance, kept } = Trimmed::new(samples, is_total(line));
        let mean = mean * factor;
        let least = floor * mean * mean / kept.max(1) as f64;
        (mean, (variance * factor * factor).max(least), kept)
    };
    let [a, b] = &line.samples;
    let (x, of_x, of_a) = scaled(a, libm::exp(log / 2.0));
    let (y, of_y, of_b) = scaled(b, libm::exp(-log / 2.0));
    let between = spread * f64::midpoint(x, y);
    let difference = (y - x).abs();
    if difference <= ROUNDING * x.max(y) {
        return 1.0;
    }
    // The degrees of freedom of a sum of variances (Welch and Satterthwaite).
    let (steps, recordings) = (of_x + of_y, between * between);
    let within = (of_a + of_b).saturating_sub(2).max(1) as f64;
    let total = steps + recordings;
    let freedom = total * total / (steps * steps / within + recordings * recordings / BETWEEN);
    two_sided(difference / libm::sqrt(total), if total > 0.0 { freedom } else { within })
}
