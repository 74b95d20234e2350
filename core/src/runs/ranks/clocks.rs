//! The offset and drift of each rank's clock, from the ends of matched collectives.
//!
//! No rank leaves a synchronizing collective before every rank has arrived, and all leave at about the same time. The
//! differences between the ends on two ranks are therefore the offset between their clocks, with noise. The offset is
//! their median, the drift the median of the slopes between pairs of them (Theil and Sen). Each collective also bounds the
//! offset: both ranks arrived before either left. The median is moved into these bounds. Ranks that share no group with
//! the reference are aligned through others.

use super::matching::{Matched, call};
use super::run::Run;
use crate::base::order::{float_key, sort_by_key};
use crate::base::units::counted;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The clock of one rank against that of the reference rank: a time `t` of the rank is
/// `t - offset_ns - drift * (t - middle)` on the reference clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Clock {
    /// The offset in the middle of what the two have in common, in ns.
    pub(crate) offset_ns: i64,
    /// The drift in ns per ns; 0 if it is not distinguishable from 0.
    pub(crate) drift: f64,
    /// The time of the rank's clock at which the offset holds.
    pub(crate) middle_ns: i64,
    /// How far the offset may be off, in ns.
    pub(crate) error_ns: i64,
    /// The number of collectives that it was fitted from.
    pub(crate) collectives: usize,
}

impl Clock {
    /// Returns the time on the reference clock.
    pub(crate) fn aligned(&self, time: i64) -> i64 {
        let drifted = (self.drift * (time - self.middle_ns) as f64) as i64;
        time.saturating_sub(self.offset_ns).saturating_sub(drifted)
    }

    /// Whether the offset is larger than its error.
    pub(crate) fn is_shifted(&self) -> bool {
        self.offset_ns.saturating_abs() > self.error_ns || self.drift != 0.0
    }
}

/// Why a clock could not be fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) String);

/// The clocks of all ranks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    /// The index of the reference rank.
    pub(crate) reference: usize,
    /// The clock of each rank, or why it is not known.
    pub(crate) of: Vec<Result<Clock, Refused>>,
}

impl Clocks {
    /// Returns a time of a rank on the reference clock. Ranks whose clock is not known, or not shifted, keep their times.
    pub(crate) fn aligned(&self, member: usize, time: i64) -> i64 {
        match self.of.get(member) {
            Some(Ok(clock)) if clock.is_shifted() => clock.aligned(time),
            _ => time,
        }
    }
}

/// The number of collectives that a fit needs.
const FEWEST: usize = 3;

/// What one collective says about the clock of a rank, in ns.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// When the rank left, on its own clock.
    time: i64,
    /// How much later that was than on the reference clock.
    difference: i64,
    /// The least and the most that the offset can be: both ranks arrived before either left.
    bounds: (i64, i64),
}

/// Fits the clocks of all ranks.
pub(crate) fn clocks(run: &Run, matched: &[Matched]) -> Clocks {
    let usable: Vec<&Matched> =
        matched.iter().filter(|collective| collective.first(run).operation().is_synchronizing()).collect();
    let reference = reference(run, &usable);
    let mut of: Vec<Result<Clock, Refused>> =
        vec![Err(Refused("no collective in common with an aligned rank".into())); run.members.len()];
    if let Some(clock) = of.get_mut(reference) {
        *clock = Ok(Clock::default());
    }
    loop {
        let known: Vec<bool> = of.iter().map(Result::is_ok).collect();
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); run.members.len()];
        let mut error: Vec<i64> = vec![0; run.members.len()];
        for collective in &usable {
            let Some(anchor) = collective.calls.iter().find(|place| known[place.member as usize]) else {
                continue;
            };
            let Ok(clock) = &of[anchor.member as usize] else { continue };
            let anchored = call(run, *anchor).time;
            let (arrival, end) = (clock.aligned(anchored.0), clock.aligned(anchored.1));
            for place in collective.calls.iter().filter(|place| !known[place.member as usize]) {
                let time = call(run, *place).time;
                let at = place.member as usize;
                samples[at].push(Sample {
                    time: time.1,
                    difference: time.1.saturating_sub(end),
                    bounds: (time.0.saturating_sub(end), time.1.saturating_sub(arrival)),
                });
                error[at] = error[at].max(clock.error_ns);
            }
        }
        let mut is_new = false;
        for (at, samples) in samples.iter().enumerate().filter(|(at, _)| !known[*at]) {
            if !samples.is_empty() {
                of[at] = fit(samples, error[at]);
                is_new |= of[at].is_ok();
            }
        }
        if !is_new {
            return Clocks { reference, of };
        }
    }
}

/// The rank with the lowest number among those with the most matched collectives, within a tenth.
fn reference(run: &Run, matched: &[&Matched]) -> usize {
    let mut counts = vec![0usize; run.members.len()];
    for place in matched.iter().flat_map(|collective| &collective.calls) {
        counts[place.member as usize] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|&count| count * 10 >= most * 9).unwrap_or(0)
}

fn median(values: &mut [i64]) -> i64 {
    values.sort_unstable();
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { values[half - 1].midpoint(values[half]) }
}

/// The number of samples that slopes are computed from.
const SLOPES: usize = 200;

/// The median of the slopes between pairs of samples.
fn slope(samples: &[Sample]) -> f64 {
    let step = samples.len().div_ceil(SLOPES).max(1);
    let some: Vec<Sample> = samples.iter().copied().step_by(step).collect();
    let mut slopes = Vec::new();
    for (at, a) in some.iter().enumerate() {
        for b in some[at + 1..].iter().filter(|b| b.time != a.time) {
            slopes.push(b.difference.saturating_sub(a.difference) as f64 / (b.time - a.time) as f64);
        }
    }
    sort_by_key(&mut slopes, |&slope| (float_key(slope), 0));
    slopes.get(slopes.len() / 2).copied().unwrap_or(0.0)
}

/// An offset with a given drift.
struct Offset {
    offset_ns: i64,
    /// The standard deviation of the differences around it, from their median deviation.
    deviation: f64,
    /// The least and the most that it can be.
    bounds: (i64, i64),
}

impl Offset {
    fn from_samples(samples: &[Sample], drift: f64, middle_ns: i64) -> Offset {
        let without = |of: &dyn Fn(&Sample) -> i64| -> Vec<i64> {
            let drifted = |sample: &Sample| (drift * (sample.time - middle_ns) as f64) as i64;
            samples.iter().map(|sample| of(sample).saturating_sub(drifted(sample))).collect()
        };
        let mut differences = without(&|sample| sample.difference);
        let offset_ns = median(&mut differences);
        let mut far: Vec<i64> = differences
            .iter()
            .map(|difference| difference.saturating_sub(offset_ns).saturating_abs())
            .collect();
        let mut bounds = [without(&|sample| sample.bounds.0), without(&|sample| sample.bounds.1)];
        for all in &mut bounds {
            all.sort_unstable();
        }
        // Wrong matches contradict the others. A few of them must not decide.
        let within = |skipped: usize| (bounds[0][samples.len() - 1 - skipped], bounds[1][skipped]);
        let all = within(0);
        let bounds = if all.0 <= all.1 { all } else { within(samples.len() / 20) };
        Offset { offset_ns, deviation: 1.4826 * median(&mut far) as f64, bounds }
    }

    /// Whether an offset exists that contradicts no collective.
    fn is_possible(&self) -> bool {
        self.bounds.0 <= self.bounds.1
    }
}

/// Fits an offset and a drift.
fn fit(samples: &[Sample], anchor_error: i64) -> Result<Clock, Refused> {
    let count = samples.len();
    if count < FEWEST {
        return Err(Refused(alloc::format!(
            "only {} in common; {FEWEST} are needed",
            counted(count, "collective")
        )));
    }
    let mut samples = samples.to_vec();
    sort_by_key(&mut samples, |sample| (sample.time, sample.difference));
    let (first, last) = (samples[0].time, samples[count - 1].time);
    let middle_ns = first.midpoint(last);
    let drift = drift(&samples, middle_ns);
    let fitted = Offset::from_samples(&samples, drift, middle_ns);
    if !fitted.is_possible() {
        return Err(Refused("the times of matched collectives contradict each other".into()));
    }
    let (least, most) = fitted.bounds;
    let offset_ns = fitted.offset_ns.clamp(least, most);
    let of_median = 3.0 * 1.2533 * fitted.deviation / libm::sqrt(count as f64);
    let error = of_median.max(fitted.deviation) + 1000.0;
    let error_ns =
        (error as i64).min(most.saturating_sub(offset_ns).max(offset_ns.saturating_sub(least)).max(1000));
    Ok(Clock {
        offset_ns,
        drift,
        middle_ns,
        error_ns: error_ns.saturating_add(anchor_error),
        collectives: count,
    })
}

/// Returns the drift; 0 if it is not distinguishable from 0, or not possible.
fn drift(samples: &[Sample], middle_ns: i64) -> f64 {
    /// The largest drift of a clock, in ns per ns.
    const LARGEST: f64 = 1e-3;
    let count = samples.len();
    let drift = slope(samples);
    let fitted = Offset::from_samples(samples, drift, middle_ns);
    let length = (samples[count - 1].time - samples[0].time).max(1) as f64;
    // The error of a fitted slope of evenly spread times, and of a median against a mean.
    let error = 1.2533 * fitted.deviation * libm::sqrt(12.0 / count as f64) / length;
    let is_distinct = count >= 2 * FEWEST && libm::fabs(drift) > 4.0 * error;
    if is_distinct && libm::fabs(drift) < LARGEST && fitted.is_possible() { drift } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    #[test]
    fn offset_and_drift_are_within_the_error() {
        let mut random = Random(5);
        let mut outside = 0;
        for seed in 0..200 {
            let (offset, drift) = (random.below(1 << 30) - (1 << 29), (seed % 5) as f64 * 20e-6);
            let samples: Vec<Sample> = (0..100)
                .map(|at| {
                    let time = at * 30_000_000 + random.below(1000);
                    let exact = offset + (drift * time as f64) as i64;
                    let difference = exact + random.below(4000) - random.below(4000);
                    Sample { time, difference, bounds: (exact - 90_000, exact + 90_000) }
                })
                .collect();
            let clock = fit(&samples, 0).expect("a clock");
            let exact = offset + (drift * clock.middle_ns as f64) as i64;
            outside += i32::from((clock.offset_ns - exact).abs() > clock.error_ns);
            assert!((clock.drift - drift).abs() < 1e-6, "{} {drift}", clock.drift);
        }
        assert!(outside <= 2, "{outside}");
    }

    #[test]
    fn too_few_collectives_are_refused() {
        let sample = Sample { time: 0, difference: 5, bounds: (0, 9) };
        assert!(fit(&[sample; 2], 0).is_err());
        assert_eq!(fit(&[sample; 3], 0).map(|clock| clock.offset_ns), Ok(5));
    }

    #[test]
    fn contradictory_collectives_are_refused() {
        let sample = |bounds| Sample { time: 0, difference: 5, bounds };
        assert!(fit(&[sample((0, 9)), sample((0, 9)), sample((20, 30))], 0).is_err());
    }
}
