//! The summary of one rank: everything about its trace that the analyses of a run use.

mod names;

use super::calls::{Call, Group};
use super::phases::{Phases, Times};
use crate::analysis::context::Analysis;
use crate::analysis::device::classes::Class;
use crate::analysis::device::device_time::DeviceTime;
use crate::analysis::device::idle::Cause;
use crate::analysis::device::memory::Memory;
use crate::analysis::overview::fitness::{Verdict, fitness};
use crate::analysis::overview::info::{producer, wall};
use crate::analysis::query::question::Question;
use crate::base::diagnostics::Severity;
use crate::trace::Trace;
use crate::trace::table::merged::is_merged;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

pub(crate) use names::{Named, STEPS};

/// The summary of one rank. It is made by [`Summary::from_trace`], or read from a file by
/// [`Summaries`](super::file::Summaries).
///
/// All times are Unix times in ns, or times of the trace where it does not state when it began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub(crate) source: String,
    pub(crate) producer: String,
    pub(crate) rank: Option<i64>,
    pub(crate) world_size: Option<i64>,
    /// The version of the trace format, if the trace states one.
    pub(crate) schema: Option<i64>,
    pub(crate) host: String,
    /// The start of the first event and the end of the last.
    pub(crate) time: (i64, i64),
    pub(crate) events: u64,
    /// Whether a part of the trace could not be read.
    pub(crate) is_partial: bool,
    pub(crate) has_device: bool,
    /// Whether the trace has several ranks, because `merge` wrote it.
    pub(crate) is_merged: bool,
    pub(crate) steps: Vec<StepTimes>,
    /// The phases from the first event to the last.
    pub(crate) phases: Times,
    pub(crate) devices: Vec<DeviceSum>,
    /// The idle time of all devices by cause.
    pub(crate) idle: Vec<(Cause, i64)>,
    pub(crate) memory: Vec<MemoryPeak>,
    pub(crate) fitness: Vec<Fitness>,
    pub(crate) groups: Vec<Group>,
    pub(crate) calls: Vec<Call>,
    /// The number of calls that were left out to keep the summary small.
    pub(crate) calls_left_out: u64,
    /// What the host ran, by name.
    pub(crate) operators: Vec<Named>,
    /// What the devices ran, by name.
    pub(crate) kernels: Vec<Named>,
    /// The times in which the host was in no span, by the name of the next one.
    pub(crate) gaps: Vec<Named>,
}

/// One profiler step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StepTimes {
    pub(crate) number: i64,
    /// In a run: the number of earlier steps of the rank with this number.
    pub(crate) cycle: i64,
    pub(crate) time: (i64, i64),
    pub(crate) phases: Times,
}

/// The time of one device, in ns. The parts add up to the wall time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DeviceSum {
    pub(crate) name: String,
    pub(crate) wall_ns: i64,
    pub(crate) compute_ns: i64,
    pub(crate) exposed_communication_ns: i64,
    /// Copies and memsets while nothing else ran.
    pub(crate) exposed_copy_ns: i64,
    pub(crate) idle_ns: i64,
    pub(crate) communication_ns: i64,
}

/// The memory of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MemoryPeak {
    pub(crate) name: String,
    pub(crate) peak_bytes: i64,
}

/// A verdict on the trace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fitness {
    pub(crate) question: Question,
    pub(crate) verdict: Verdict,
    pub(crate) because: String,
}

/// Why the summary of a trace of several ranks is that of none.
pub const MERGED: &str = "the trace was merged from several ranks; name the traces of the ranks instead";

impl Summary {
    /// Whether the trace has several ranks, because `merge` wrote it. Runs leave such a summary out.
    pub fn is_merged(&self) -> bool {
        self.is_merged
    }

    /// Returns the summary of a trace. `source` is its name in reports.
    pub fn from_trace(trace: &Trace, source: &str) -> Summary {
        Summary::from_analysis(&Analysis::new(trace), source)
    }

    /// The same with what is known of the trace.
    pub(crate) fn from_analysis(analysis: &Analysis<'_>, source: &str) -> Summary {
        let (trace, table) = (analysis.trace, &analysis.trace.table);
        let base = table.base_ns();
        let unix = |(start, end): (i64, i64)| (start.saturating_add(base), end.saturating_add(base));
        let (calls, phases) = (analysis.calls(), analysis.phases());
        let (devices, steps) = (analysis.devices(), analysis.steps());
        let step_times = steps.iter().map(|step| StepTimes {
            number: step.number,
            cycle: 0,
            time: unix(step.time),
            phases: phases.within(step.time),
        });
        let wall = wall(table);
        Summary {
            source: source.to_owned(),
            producer: producer(table).to_owned(),
            rank: table.metadata.rank(),
            world_size: table.metadata.world_size(),
            schema: table.metadata.value("schemaVersion").and_then(|version| version.as_i64()),
            host: host(trace),
            time: unix(wall),
            events: if trace.has_events() { table.len() as u64 } else { 0 },
            is_partial: trace.diagnostics.worst() == Some(Severity::Lost),
            has_device: !devices.is_empty(),
            is_merged: is_merged(table),
            steps: step_times.collect(),
            phases: phases.within(wall),
            idle: idle(devices),
            devices: devices.iter().map(device_sum).collect(),
            memory: memory(trace),
            fitness: verdicts(analysis, steps),
            calls: with_doing(&calls.calls, phases, wall.0)
                .map(|call| Call { time: unix(call.time), ..call })
                .collect(),
            groups: calls.groups.clone(),
            calls_left_out: 0,
            operators: names::operators(trace),
            kernels: names::kernels(trace),
            gaps: names::gaps(trace),
        }
        .bounded()
    }

    /// Everything with a name.
    fn named_mut(&mut self) -> impl Iterator<Item = &mut Named> {
        self.operators.iter_mut().chain(&mut self.kernels).chain(&mut self.gaps)
    }

    /// Clamps all times, so that differences of two of them do not overflow. No program has such times.
    pub(super) fn bounded(mut self) -> Summary {
        self.time = bounded_period(self.time);
        for step in &mut self.steps {
            step.time = bounded_period(step.time);
            step.phases = step.phases.map(bounded);
        }
        for call in &mut self.calls {
            call.time = bounded_period(call.time);
            call.doing = call.doing.map(bounded);
        }
        self.phases = self.phases.map(bounded);
        for named in self.named_mut() {
            named.self_ns = bounded(named.self_ns);
        }
        for device in &mut self.devices {
            let DeviceSum {
                name: _,
                wall_ns,
                compute_ns,
                exposed_communication_ns,
                exposed_copy_ns,
                idle_ns,
                communication_ns,
            } = device;
            for ns in
                [wall_ns, compute_ns, exposed_communication_ns, exposed_copy_ns, idle_ns, communication_ns]
            {
                *ns = bounded(*ns);
            }
        }
        self
    }

    /// Leaves out a part of what makes its file of `size` bytes larger than `limit`. Returns whether there was such a part.
    pub(super) fn shrink(&mut self, size: usize, limit: usize) -> bool {
        /// The number of names that stay.
        const FEWEST: usize = 16;
        let names = self.operators.len().max(self.kernels.len()).max(self.gaps.len());
        if self.cut_texts() {
            return true;
        }
        if names > FEWEST {
            self.operators.truncate(names / 2);
            self.kernels.truncate(names / 2);
            self.gaps.truncate(names / 2);
            return true;
        }
        if !self.calls.is_empty() {
            let share = self.calls.len() as u64 * (size - limit) as u64 / size as u64;
            let kept = self.calls.len() - (share as usize + 1).min(self.calls.len());
            self.calls_left_out += (self.calls.len() - kept) as u64;
            self.calls.truncate(kept);
            return true;
        }
        let has_ranks = self.groups.iter().any(|group| !group.ranks.is_empty());
        self.groups.iter_mut().for_each(|group| group.ranks.clear());
        has_ranks
    }

    /// Cuts texts that are longer than those of traces usually are. Returns whether there were any.
    fn cut_texts(&mut self) -> bool {
        let mut is_cut = false;
        let mut cut = |text: &mut String| {
            let mut end = LONGEST_TEXT.min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            is_cut |= end < text.len();
            text.truncate(end);
        };
        cut(&mut self.source);
        cut(&mut self.host);
        for group in &mut self.groups {
            cut(&mut group.name);
            cut(&mut group.description);
        }
        for named in self.named_mut() {
            cut(&mut named.name);
        }
        for fitness in &mut self.fitness {
            cut(&mut fitness.because);
        }
        is_cut
    }

    /// The rank that the trace states.
    pub fn rank(&self) -> Option<i64> {
        self.rank
    }

    /// The name of the trace.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// The longest text that is kept of a summary that has to be made smaller, in bytes.
const LONGEST_TEXT: usize = 400;

/// The longest duration that is distinguished, in ns: about 39 hours.
const LONGEST: i64 = 1 << 47;

/// The latest time, in ns after 1970, and the earliest, before it: 146 years.
const LATEST: i64 = (1 << 62) - 1;

fn bounded(ns: i64) -> i64 {
    ns.clamp(0, LONGEST)
}

fn bounded_period((start, end): (i64, i64)) -> (i64, i64) {
    let start = start.clamp(-LATEST, LATEST - LONGEST);
    (start, start + bounded(end.saturating_sub(start)))
}

fn host(trace: &Trace) -> String {
    let host = trace.table.metadata.value("host_name");
    host.and_then(|host| host.as_str().map(ToOwned::to_owned)).unwrap_or_default()
}

/// Returns the calls with what the rank did before each of them.
fn with_doing(calls: &[Call], phases: &Phases, start: i64) -> impl Iterator<Item = Call> {
    let mut before = start;
    calls.iter().map(move |call| {
        let doing = phases.within((before, call.time.0));
        before = call.time.0;
        Call { doing, ..*call }
    })
}

fn idle(devices: &[DeviceTime]) -> Vec<(Cause, i64)> {
    let mut sums = Cause::ALL.map(|cause| (cause, 0));
    for (cause, ns) in devices.iter().flat_map(DeviceTime::idle_by_cause) {
        sums[cause as usize].1 += ns;
    }
    sums.into_iter().filter(|sum| sum.1 > 0).collect()
}

fn device_sum(device: &DeviceTime) -> DeviceSum {
    let [compute_ns, exposed_communication_ns, memcpy, memset] = device.parts_ns;
    DeviceSum {
        name: device.device.clone(),
        wall_ns: device.window.1 - device.window.0,
        compute_ns,
        exposed_communication_ns,
        exposed_copy_ns: memcpy + memset,
        idle_ns: device.idle_ns(),
        communication_ns: device.unions[Class::Communication as usize].length(),
    }
}

fn memory(trace: &Trace) -> Vec<MemoryPeak> {
    let devices = Memory::new(trace).devices;
    devices.into_iter().map(|device| MemoryPeak { name: device.name, peak_bytes: device.peak }).collect()
}

fn verdicts(analysis: &Analysis<'_>, steps: &[crate::analysis::device::steps::Step]) -> Vec<Fitness> {
    let verdict = |fitness: crate::analysis::overview::fitness::Fitness| Fitness {
        because: fitness.because(),
        question: fitness.question,
        verdict: fitness.verdict,
    };
    fitness(analysis, steps).into_iter().map(verdict).collect()
}
