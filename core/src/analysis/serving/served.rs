//! The iterations of a trace with their time, and what it is spent on.
//!
//! An iteration has the device work that is launched in its range. Work that is launched between two ranges belongs to the
//! nearer one, and work after the last range to that if it is as near as to the others on average; other work belongs to none. The time of an iteration is from the end of
//! the one before to its own, which is how long its tokens take if the engine runs ahead of the device; that of the first begins
//! with its range. An iteration ends when its range and its work have ended. So the times of the iterations of a process add up
//! to the time from the start of the first range to the end of the last.

use super::parts::{PARTS, Part};
use crate::analysis::context::Analysis;
use crate::analysis::device::kernel_limits::Limits;
use crate::analysis::device::kernel_work::KernelWork;
use crate::analysis::intervals::{Collector, Interval, Intervals, lengths_in};
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::trace::link::{is_graph_launch, is_launch_name};
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
    /// The energy of the devices in its time, in J, if counters of their power show it.
    pub(crate) joules: Option<f64>,
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

/// What iterations are measured by, for each process of a trace.
pub(super) struct Measured<'a> {
    analysis: &'a Analysis<'a>,
    work: KernelWork<'a>,
    /// Whether the iterations are copies of ranges on streams: work belongs to them by its own time and process.
    are_copies: bool,
    /// Activities, launch calls, and ranges in which an engine samples; with their process, which they are sorted by.
    activities: Vec<(NameId, Row)>,
    calls: Vec<(NameId, Row)>,
    samplers: Vec<(NameId, Row)>,
}

/// The rows of a process; all without one.
fn of_process(rows: &[(NameId, Row)], pid: Option<NameId>) -> &[(NameId, Row)] {
    let Some(pid) = pid else { return rows };
    let from = rows.partition_point(|row| row.0 < pid);
    &rows[from..from + rows[from..].partition_point(|row| row.0 == pid)]
}

fn by_process(mut rows: Vec<(NameId, Row)>) -> Vec<(NameId, Row)> {
    // The sort is stable.
    sort_by_key(&mut rows, |row| (i64::from(row.0.0), 0));
    rows
}

impl<'a> Measured<'a> {
    pub(super) fn new(analysis: &'a Analysis<'a>, first: Row) -> Measured<'a> {
        let trace = analysis.trace;
        let table = &trace.table;
        let are_copies = table.category(first) == Category::GpuUserAnnotation;
        let pid = |row: Row| table.track(row).pid;
        let of_work = |row: Row| {
            let launch = trace.links.launch(row).filter(|_| !are_copies);
            (pid(launch.unwrap_or(row)), row)
        };
        let launching = table.names.that(is_launch_name);
        let sampling = table.names.that(|name| name.contains(": sample"));
        let (mut calls, mut samplers) = (Vec::new(), Vec::new());
        for row in table.rows().filter(|&row| table.is_span(row)) {
            let (category, name) = (table.category(row), table.name_id(row));
            if category.is_launch_call() && launching.has(name) {
                calls.push((pid(row), row));
            } else if category == Category::UserAnnotation && sampling.has(name) {
                samplers.push((pid(row), row));
            }
        }
        let activities = analysis.activities().iter().flat_map(|device| &device.1);
        Measured {
            analysis,
            work: KernelWork::new(trace),
            are_copies,
            activities: by_process(activities.map(|&row| of_work(row)).collect()),
            calls: by_process(calls),
            samplers: by_process(samplers),
        }
    }

    /// Measures the iterations of a process, or of the only one, which are ordered by time.
    pub(super) fn measure(&mut self, served: &mut [Served], pid: Option<NameId>) {
        let table = &self.analysis.trace.table;
        let (classes, sampling) = (self.analysis.classes(), self.sampling(pid));
        let mut sets: [Collector; PARTS - 1] = Default::default();
        let mut ends: Vec<Option<i64>> = vec![None; served.len()];
        for &(_, row) in of_process(&self.activities, pid) {
            let launch = self.analysis.trace.links.launch(row);
            let (time, is_kernel) =
                ((table.ts(row), table.end(row)), table.category(row) == Category::Kernel);
            let instant = table.ts(launch.filter(|_| !self.are_copies).unwrap_or(row));
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
                one.limits.add(time.1 - time.0, self.work.least(&classes, row));
            }
        }
        self.count_calls(served, pid, &mut sets[Part::Launch as usize]);
        for one in served.iter() {
            sets[Part::Host as usize].push(one.host);
        }
        set_times(served, &ends);
        divide(served, sets);
    }

    /// Adds the launch calls of the iterations, and counts those of graphs.
    fn count_calls(&self, served: &mut [Served], pid: Option<NameId>, launches: &mut Collector) {
        let table = &self.analysis.trace.table;
        let graphs = table.names.that(is_graph_launch);
        for &(_, row) in of_process(&self.calls, pid) {
            let instant = table.ts(row);
            if let Some(at) = within(served, instant) {
                launches.push((instant, table.end(row)));
                if graphs.has(table.name_id(row)) {
                    served[at].graphs += 1;
                    served[at].graph_calls_ns += table.dur(row).max(0);
                }
            }
        }
    }

    /// The ranges in which an engine samples.
    fn sampling(&self, pid: Option<NameId>) -> Periods {
        let table = &self.analysis.trace.table;
        let ranges = of_process(&self.samplers, pid).iter().map(|&(_, row)| (table.ts(row), table.end(row)));
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
    let after = instant - served[at].host.1;
    match served.get(at + 1) {
        Some(next) if after <= next.host.0 - instant => Some(at),
        Some(_) => Some(at + 1),
        None => Some(at).filter(|_| after <= half_gap(served)),
    }
}

/// Half of the mean time between two ranges.
fn half_gap(served: &[Served]) -> i64 {
    let gaps = served.windows(2).map(|pair| (pair[1].host.0 - pair[0].host.1).max(0));
    let count = gaps.len() as i64;
    if count > 0 { gaps.sum::<i64>() / count / 2 } else { 0 }
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
