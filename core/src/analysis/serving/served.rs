//! The iterations of a trace with their time, and what it is spent on.
//!
//! An iteration has the device work that is launched in its range. Work that is launched between two ranges belongs to the
//! nearer one; work before the first range and after the last one belongs to none. The time of an iteration is from the end of
//! the one before to its own, which is how long its tokens take if the engine runs ahead of the device; that of the first begins
//! with its range. An iteration ends when its range and its work have ended. So the times of the iterations of a process add up
//! to the time from the start of the first range to the end of the last.

use super::parts::{PARTS, Part};
use crate::analysis::context::Analysis;
use crate::analysis::device::kernel_limits::Limits;
use crate::analysis::device::kernel_work::KernelWork;
use crate::analysis::device::names::is_graph_launch;
use crate::analysis::intervals::{Collector, Interval, Intervals, lengths_in};
use crate::base::names::{NameId, NameSet};
use crate::trace::step_rules::StepName;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use alloc::vec;
use alloc::vec::Vec;

/// An iteration.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    /// The range, or the first launch call if no range names it.
    pub(crate) row: Row,
    pub(crate) number: i64,
    pub(crate) name: StepName,
    /// Its range on the host; without one, from the first to the last of its launch calls.
    pub(crate) host: Interval,
    /// From the end of the iteration before to its own.
    pub(crate) time: Interval,
    /// What the time is spent on, in the order of [`Part::ALL`].
    pub(crate) parts_ns: [i64; PARTS],
    /// The number of device activities, and the sum of their durations.
    pub(crate) activities: usize,
    pub(crate) device_sum_ns: i64,
    /// The number of graphs that are launched in its range, and the time in those calls.
    pub(crate) graphs: usize,
    pub(crate) graph_calls_ns: i64,
    /// How close its kernels come to the limits of the device.
    pub(crate) limits: Limits,
    /// Whether it is left out of averages.
    pub(crate) is_warm_up: bool,
}

impl Served {
    pub(crate) fn wall_ns(&self) -> i64 {
        self.time.1 - self.time.0
    }

    pub(crate) fn busy_ns(&self) -> i64 {
        Part::ALL.iter().zip(self.parts_ns).filter(|(part, _)| part.is_work()).map(|(_, ns)| ns).sum()
    }
}

/// A process with iterations.
pub(super) struct Process<'a> {
    analysis: &'a Analysis<'a>,
    /// Whose launches are counted; `None` for all.
    pid: Option<NameId>,
    samplers: NameSet,
}

impl<'a> Process<'a> {
    pub(super) fn new(analysis: &'a Analysis<'a>, pid: Option<NameId>) -> Process<'a> {
        let samplers = analysis.trace.table.names.that(|name| name.contains(": sample"));
        Process { analysis, pid, samplers }
    }

    fn is_own(&self, row: Row) -> bool {
        self.pid.is_none_or(|pid| self.analysis.trace.table.track(row).pid == pid)
    }

    /// Measures the iterations of the process, which are ordered by time.
    pub(super) fn measure(&self, served: &mut [Served], work: &mut KernelWork<'_>) {
        let table = &self.analysis.trace.table;
        let (classes, sampling) = (self.analysis.classes(), self.sampling());
        let mut sets: [Collector; PARTS - 1] = Default::default();
        let mut ends: Vec<Option<i64>> = vec![None; served.len()];
        for &row in self.analysis.activities().iter().flat_map(|device| &device.1) {
            let launch = self.analysis.trace.links.launch(row);
            if !launch.map_or(self.pid.is_none(), |launch| self.is_own(launch)) {
                continue;
            }
            let (time, is_kernel) =
                ((table.ts(row), table.end(row)), table.category(row) == Category::Kernel);
            let instant = table.ts(launch.unwrap_or(row));
            let part = match Part::of_work(classes.category(row)) {
                _ if !is_kernel => Part::Copies,
                Part::OtherKernels if launch.is_some() && sampling.has(instant) => Part::Sampling,
                part => part,
            };
            sets[part as usize].push(time);
            if let Some(launch) = launch {
                sets[Part::Queued as usize].push((table.end(launch), time.0));
            }
            let Some(at) = owner(served, instant) else { continue };
            let one = &mut served[at];
            one.activities += 1;
            one.device_sum_ns += time.1 - time.0;
            ends[at] = Some(ends[at].map_or(time.1, |end| end.max(time.1)));
            if is_kernel && !matches!(part, Part::Communication | Part::MoeDispatch) {
                one.limits.add(time.1 - time.0, work.least(&classes, row));
            }
        }
        self.calls(served, &mut sets[Part::Launch as usize]);
        for one in served.iter() {
            sets[Part::Host as usize].push(one.host);
        }
        set_times(served, &ends);
        divide(served, sets);
    }

    /// Adds the launch calls of the iterations, and counts those of graphs.
    fn calls(&self, served: &mut [Served], launches: &mut Collector) {
        let table = &self.analysis.trace.table;
        let graphs = table.names.that(is_graph_launch);
        let is_launch = table.names.that(crate::trace::link::is_launch_name);
        let is_call = |row: &Row| table.category(*row).is_launch_call() && table.is_span(*row);
        for row in table.rows().filter(is_call).filter(|&row| is_launch.has(table.name_id(row))) {
            let instant = table.ts(row);
            if let Some(at) = within(served, instant).filter(|_| self.is_own(row)) {
                launches.push((instant, table.end(row)));
                if graphs.has(table.name_id(row)) {
                    served[at].graphs += 1;
                    served[at].graph_calls_ns += table.dur(row).max(0);
                }
            }
        }
    }

    /// The ranges in which an engine samples.
    fn sampling(&self) -> Periods {
        let table = &self.analysis.trace.table;
        let is_sampler = |row: &Row| {
            self.samplers.has(table.name_id(*row))
                && table.category(*row) == Category::UserAnnotation
                && table.is_span(*row)
                && self.is_own(*row)
        };
        let ranges = table.rows().filter(is_sampler).map(|row| (table.ts(row), table.end(row)));
        Periods(Intervals::union_of(ranges.collect()))
    }
}

struct Periods(Intervals);

impl Periods {
    fn has(&self, instant: i64) -> bool {
        let periods = self.0.as_slice();
        let after = periods.partition_point(|period| period.0 <= instant);
        periods[..after].last().is_some_and(|period| instant < period.1)
    }
}

/// The last iteration that began at or before an instant.
fn last_begun(served: &[Served], instant: i64) -> Option<usize> {
    served.partition_point(|one| one.host.0 <= instant).checked_sub(1)
}

/// The iteration whose range an instant is in.
fn within(served: &[Served], instant: i64) -> Option<usize> {
    last_begun(served, instant).filter(|&at| instant < served[at].host.1)
}

/// The iteration that work launched at an instant belongs to.
fn owner(served: &[Served], instant: i64) -> Option<usize> {
    let at = last_begun(served, instant)?;
    if instant < served[at].host.1 {
        return Some(at);
    }
    let next = served.get(at + 1)?;
    let is_nearer = instant - served[at].host.1 <= next.host.0 - instant;
    Some(if is_nearer { at } else { at + 1 })
}

fn set_times(served: &mut [Served], ends: &[Option<i64>]) {
    let mut reached = served.first().map_or(0, |one| one.host.0);
    for (one, end) in served.iter_mut().zip(ends) {
        let end = end.map_or(one.host.1, |end| end.max(one.host.1)).max(reached);
        one.time = (reached, end);
        reached = end;
    }
}

/// Divides the times into parts.
fn divide(served: &mut [Served], sets: [Collector; PARTS - 1]) {
    let sets = sets.map(Collector::union);
    let times: Vec<Interval> = served.iter().map(|one| one.time).collect();
    for (one, lengths) in served.iter_mut().zip(lengths_in(&sets.each_ref(), &times)) {
        let [parts @ .., between] = &mut one.parts_ns;
        *parts = lengths.added;
        *between = one.time.1 - one.time.0 - parts.iter().sum::<i64>();
    }
}
