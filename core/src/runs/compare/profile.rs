//! A trace reduced to what a comparison uses: the tree of what ran in a step, with a sample for each step.
//!
//! A node is a place in a step: the third `aten::mm` under `Linear_0` has a node of its own, which all steps share. Without
//! profiler steps, the complete trace counts as one step.
//!
//! The wall time of a step is attributed to the nodes of the host, and the busy time of each device to the nodes of its
//! activities: each instant to one node. So the samples of a step add up to the step.

mod device;
mod facts;
pub(crate) mod file;
mod host;
mod overlaps;
mod places;
mod readings;
mod sums;

pub(crate) use facts::Facts;
pub(crate) use places::Sample;
pub(crate) use places::{COLLECTIVE_IN_FLIGHT, Places, ProfileNode, ROOTS};
pub(crate) use readings::{Readings, is_clock};
pub(crate) use sums::Sum;

use crate::analysis::context::Analysis;
use crate::analysis::device::device_time::{DeviceTime, by_cause};
use crate::analysis::device::idle::Cause;
use crate::analysis::device::memory::{Device, Memory, Record};
use crate::analysis::intervals::{Interval, Intervals};
use crate::analysis::overview::info::wall;
use crate::runs::ranks::phases::Times;
use crate::runs::ranks::run::rank_in;
use crate::runs::ranks::summary::Summary;
use crate::trace::Trace;
use crate::trace::iterations::Iteration;
use crate::trace::table::events::Row;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProfileStep {
    /// The number of the step; `None` for a complete trace.
    pub(crate) number: Option<i64>,
    pub(crate) wall_ns: i64,
}

/// What makes iterations of an inference engine comparable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepKind {
    pub(crate) phase: String,
    pub(crate) batch: Option<i64>,
    pub(crate) tokens: Option<i64>,
}

/// The largest allocated memory of a device in each step, in bytes; `None` where nothing was allocated or released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peaks {
    pub(crate) device: String,
    pub(crate) of_steps: Vec<Option<i64>>,
    pub(crate) peak: i64,
}

/// A trace, reduced.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) source: String,
    pub(crate) facts: Facts,
    pub(crate) steps: Vec<ProfileStep>,
    /// What each step is, if they are iterations of an inference engine; else empty.
    pub(crate) kinds: Vec<StepKind>,
    pub(crate) places: Places,
    /// The idle time of all devices in each step by cause, in ns.
    pub(crate) idle: Vec<[i64; Cause::ALL.len()]>,
    pub(crate) phases: Vec<Times>,
    pub(crate) memory: Vec<Peaks>,
    pub(crate) readings: Vec<Readings>,
    /// What is known of the complete recording only.
    pub(crate) sums: Vec<Sum>,
    /// What the comparison of several ranks uses.
    pub(crate) summary: Option<Box<Summary>>,
}

/// The periods of the steps of a trace.
pub(super) struct Periods {
    /// Disjoint, in order of time.
    pub(crate) times: Vec<Interval>,
    pub(crate) numbers: Vec<Option<i64>>,
    /// The annotations of the steps; none for a complete trace.
    pub(crate) rows: Vec<Row>,
}

impl Periods {
    fn new(analysis: &Analysis<'_>) -> Periods {
        let (table, ranges) = (&analysis.trace.table, &analysis.step_finder().steps);
        let mut periods = Periods { times: Vec::new(), numbers: Vec::new(), rows: Vec::new() };
        let Some(track) = ranges.first().map(|&(row, _)| table.track_id(row)) else {
            return Periods { times: vec![wall(table)], numbers: vec![None], rows: Vec::new() };
        };
        for &(row, number) in ranges {
            let time = (table.ts(row), table.end(row));
            let reached = periods.times.last().map_or(i64::MIN, |last| last.1);
            // Old traces have each step twice.
            if table.track_id(row) == track && time.0 >= reached {
                periods.times.push(time);
                periods.numbers.push(Some(number));
                periods.rows.push(row);
            }
        }
        periods
    }

    /// The step that is running at an instant.
    pub(crate) fn at(&self, instant: i64) -> Option<usize> {
        let after = self.times.partition_point(|time| time.0 <= instant);
        after.checked_sub(1).filter(|&at| instant < self.times[at].1 || self.rows.is_empty())
    }

    /// Calls `part` with each step that a period is in, and the part of it in that step.
    pub(crate) fn parts(&self, period: Interval, mut part: impl FnMut(usize, Interval)) {
        let first = self.times.partition_point(|time| time.1 <= period.0);
        for (at, time) in self.times.iter().enumerate().skip(first).take_while(|(_, time)| time.0 < period.1)
        {
            part(at, (period.0.max(time.0), period.1.min(time.1)));
        }
    }
}

impl Profile {
    /// Reduces a trace. `source` is its name in answers.
    pub fn from_trace(trace: &Trace, source: &str) -> Profile {
        Profile::from_analysis(&Analysis::new(trace), source)
    }

    /// The same with what is known of the trace.
    pub(crate) fn from_analysis(analysis: &Analysis<'_>, source: &str) -> Profile {
        let (trace, periods) = (analysis.trace, Periods::new(analysis));
        let (devices, phases) = (analysis.devices(), analysis.phases());
        let mut places = places::Builder::new(trace);
        host::add(&periods, &Intervals::union_of(analysis.calls().in_flight.clone()), &mut places);
        device::add(analysis, &periods, &mut places);
        let step = |(time, number): (&Interval, &Option<i64>)| ProfileStep {
            number: *number,
            wall_ns: time.1 - time.0,
        };
        Profile {
            source: source.to_owned(),
            facts: Facts::new(analysis, &periods),
            steps: periods.times.iter().zip(&periods.numbers).map(step).collect(),
            kinds: kinds(analysis, &periods.rows),
            idle: periods.times.iter().map(|&time| idle(devices, &periods, time)).collect(),
            phases: periods.times.iter().map(|&time| phases.within(time)).collect(),
            memory: memory(trace, &periods),
            readings: readings::readings(trace, &periods),
            sums: Vec::new(),
            summary: None,
            places: places.finish(),
        }
    }

    /// Reduces the trace of one of several ranks, with its summary, from which the waits of the ranks follow.
    pub fn from_rank(trace: &Trace, source: &str) -> Profile {
        let analysis = Analysis::new(trace);
        let summary = Some(Box::new(Summary::from_analysis(&analysis, source)));
        Profile { summary, ..Profile::from_analysis(&analysis, source) }
    }

    /// Reduces a trace for a comparison elsewhere: with its summary if it states that it is one of several ranks.
    pub fn to_keep(trace: &Trace, source: &str) -> Profile {
        let is_rank = trace.table.metadata.world_size().is_some_and(|size| size > 1);
        if is_rank { Profile::from_rank(trace, source) } else { Profile::from_trace(trace, source) }
    }

    /// Whether only a summary of the trace is known.
    pub fn is_summary(&self) -> bool {
        self.facts.is_summary
    }

    /// The name of the trace.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The rank that the trace states, or its name.
    pub fn rank(&self) -> Option<i64> {
        self.facts.rank.or_else(|| rank_in(&self.source))
    }

    /// The number of steps; 1 for a trace without profiler steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are no steps, which is never the case.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether the trace has profiler steps.
    pub(crate) fn has_steps(&self) -> bool {
        self.steps.iter().any(|step| step.number.is_some())
    }

    /// Returns the profile of some of the steps, in the given order.
    #[must_use]
    pub fn with_steps(&self, kept: &[usize]) -> Profile {
        let mut place_of = vec![u32::MAX; self.steps.len()];
        for (to, &from) in kept.iter().enumerate() {
            place_of[from] = to as u32;
        }
        let mut profile = self.clone();
        profile.steps = kept.iter().map(|&at| self.steps[at]).collect();
        profile.kinds = kept.iter().filter_map(|&at| self.kinds.get(at).cloned()).collect();
        profile.idle = kept.iter().map(|&at| self.idle[at]).collect();
        profile.phases = kept.iter().map(|&at| self.phases[at]).collect();
        for (peaks, from) in profile.memory.iter_mut().zip(&self.memory) {
            peaks.of_steps = kept.iter().map(|&at| from.of_steps[at]).collect();
        }
        for (readings, from) in profile.readings.iter_mut().zip(&self.readings) {
            readings.of_steps = kept.iter().map(|&at| from.of_steps[at]).collect();
        }
        profile.summary = None;
        for sample in &mut profile.places.samples {
            sample.step = place_of[sample.step as usize];
        }
        profile.places.samples.retain(|sample| sample.step != u32::MAX);
        profile
    }
}

/// What the names of steps state, if they are iterations of an inference engine.
fn kinds(analysis: &Analysis<'_>, steps: &[Row]) -> Vec<StepKind> {
    if steps.is_empty() || analysis.has_profiler_steps() {
        return Vec::new();
    }
    // Both are in order of time.
    let mut steps_left = steps.iter().peekable();
    let iterations = analysis.iterations().0.iter();
    let of_steps = iterations.filter(|one| steps_left.next_if(|row| **row == one.row).is_some());
    let kind = |Iteration { name, .. }: &Iteration| StepKind {
        phase: name.phase.clone(),
        batch: name.batch,
        tokens: name.tokens,
    };
    let kinds: Vec<StepKind> = of_steps.map(kind).collect();
    if kinds.len() == steps.len() { kinds } else { Vec::new() }
}

/// Returns the idle time of all devices in a step by cause. Of a trace without steps, what is before the first activity of
/// a device and after the last one was not recorded.
fn idle(devices: &[DeviceTime], periods: &Periods, time: Interval) -> [i64; Cause::ALL.len()] {
    let mut sums = [0; Cause::ALL.len()];
    for device in devices {
        let parts: Vec<_> = device.idle_in(time).collect();
        for (cause, ns) in by_cause(&parts) {
            sums[cause as usize] += ns;
        }
        if periods.rows.is_empty() {
            sums[Cause::NotRecorded as usize] += device.window.0 - time.0;
        }
    }
    sums
}

/// The name of a device without the name of its interface: `GPU 0` for `CUDA 0` and `HIP 0`.
fn plain_device(name: &str) -> String {
    name.replace("CUDA", "GPU").replace("HIP", "GPU").replace("XPU", "GPU")
}

fn memory(trace: &Trace, periods: &Periods) -> Vec<Peaks> {
    let memory = Memory::new(trace);
    let peaks = |(device, records): (&Device, Vec<&Record>)| {
        let of_step = |time: &Interval| {
            let from = records.partition_point(|record| record.ts < time.0);
            let records = records[from..].iter().take_while(|record| record.ts < time.1);
            records.map(|record| record.total).max()
        };
        let of_steps = periods.times.iter().map(of_step).collect();
        Peaks { device: plain_device(&device.name), of_steps, peak: device.peak }
    };
    memory.devices.iter().zip(memory.by_device()).map(peaks).collect()
}
