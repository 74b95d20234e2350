//! Device time: sum, busy and exposed time by class of work, and idle gaps by cause.
//!
//! - **sum**: the sum of the durations of all activities; it can exceed wall time if streams overlap.
//! - **busy**: the length of their union.
//! - **exposed** of a class: the part of its union during which no other class was running.
//!
//! An idle gap lies between two activities of a device. Each instant of it has a cause, see `idle`.

use super::classes::{Class, Classes};
use super::idle::{Cause, Causes, GapPart, Host};
use crate::analysis::context::Analysis;
use crate::analysis::intervals::{Collector, Interval, Intervals, lengths};
use crate::base::index::Index;
use crate::base::names::Names;
use crate::base::order::sort_by_key;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::merged::device_name;
use alloc::string::String;
use alloc::vec::Vec;

/// The times of one class on one device, in ns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassTime {
    /// The class.
    pub class: Class,
    /// The number of activities.
    pub count: usize,
    /// The sum of durations.
    pub sum_ns: i64,
    /// The length of the union.
    pub busy_ns: i64,
    /// The length of the part of the union outside every other class.
    pub exposed_ns: i64,
}

/// A period during which a device was idle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// Start and end, in ns relative to the table's base.
    pub time: Interval,
    /// The activity that ends the gap.
    pub after: Row,
}

/// The time of one device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceTime {
    /// The device: its ordinal, or the `pid` of its row; in a trace of several ranks with its rank.
    pub device: String,
    /// From the start of the first activity to the end of the last.
    pub window: Interval,
    /// The number of activities.
    pub count: usize,
    /// The sum of durations, in ns.
    pub sum_ns: i64,
    /// The length of the union of all activities, in ns.
    pub busy_ns: i64,
    /// The time during which each class ran and none before it, in the order of [`Class::ALL`], in ns.
    pub parts_ns: [i64; 4],
    /// The times during which each class ran, in the order of [`Class::ALL`].
    pub unions: [Intervals; 4],
    /// The classes that occur.
    pub classes: Vec<ClassTime>,
    /// The gaps, in order of time.
    pub gaps: Vec<Gap>,
    /// The parts of the gaps, in order of time.
    pub idle: Vec<GapPart>,
    /// The parts of the time from the start of the first profiler step to the first activity.
    pub before: Vec<GapPart>,
    /// The parts of the time from the first event of the host to the first activity, and from the last one to the last event of
    /// the host.
    pub(crate) outside: Vec<GapPart>,
}

impl DeviceTime {
    /// Returns the length of the window minus the busy time, in ns.
    pub fn idle_ns(&self) -> i64 {
        self.window.1 - self.window.0 - self.busy_ns
    }

    /// Returns the idle time of each cause, in ns, in the order of [`Cause::ALL`].
    pub fn idle_by_cause(&self) -> [(Cause, i64); Cause::ALL.len()] {
        by_cause(&self.idle)
    }

    /// Returns the parts of a period of the profiler steps in which the device was idle. After the last activity, nothing
    /// was recorded.
    pub fn idle_in(&self, period: Interval) -> impl Iterator<Item = GapPart> {
        let within = move |parts: &[GapPart]| -> Vec<GapPart> {
            let first = parts.partition_point(|part| part.time.1 <= period.0);
            let parts = parts[first..].iter().take_while(|part| part.time.0 < period.1);
            let clipped = |part: &GapPart| (part.time.0.max(period.0), part.time.1.min(period.1));
            parts.map(|part| GapPart { time: clipped(part), ..part.clone() }).collect()
        };
        let after = (self.window.1.max(period.0), period.1);
        let after = GapPart { time: after, cause: Cause::NotRecorded, behind: None };
        let after = Some(after).filter(|part| part.time.0 < part.time.1);
        within(&self.before).into_iter().chain(within(&self.idle)).chain(after)
    }

    /// Returns the cause of most of a gap.
    pub(crate) fn main_cause(&self, gap: &Gap) -> Cause {
        let first = self.idle.partition_point(|part| part.time.1 <= gap.time.0);
        let length = self.idle[first..].partition_point(|part| part.time.0 < gap.time.1);
        let causes = by_cause(&self.idle[first..first + length]);
        causes.into_iter().max_by_key(|cause| cause.1).map_or(Cause::Unknown, |cause| cause.0)
    }
}

/// Returns the time of each cause, in ns, in the order of [`Cause::ALL`].
pub(crate) fn by_cause(parts: &[GapPart]) -> [(Cause, i64); Cause::ALL.len()] {
    let mut causes = Cause::ALL.map(|cause| (cause, 0));
    for part in parts {
        causes[part.cause as usize].1 += part.time.1 - part.time.0;
    }
    causes
}

/// Returns the activities of every device, ordered by start.
pub(crate) fn activities(table: &Table) -> Vec<(String, Vec<Row>)> {
    let (mut names, mut known) = (Names::default(), Index::default());
    let mut devices: Vec<(String, Vec<Row>)> = Vec::new();
    let mut device_of: Vec<Option<usize>> = alloc::vec![None; table.tracks.all().len()];
    for row in table.rows() {
        if !table.category(row).is_device_work() || !table.is_span(row) {
            continue;
        }
        let track = table.track_id(row);
        let slot = &mut device_of[track.0 as usize];
        let at = *slot.get_or_insert_with(|| {
            let pid = table.tracks.get(track).pid;
            let name = device_name(table, pid);
            let key = (i64::from(names.intern(&name).0), 0);
            let at = known.get_or_insert(key, devices.len() as u32) as usize;
            if at == devices.len() {
                devices.push((name, Vec::new()));
            }
            at
        });
        devices[at].1.push(row);
    }
    for (_, rows) in &mut devices {
        table.sort_by_start(rows);
    }
    // Numbers are ordered by value, other names by their length and first letters.
    let letters = |name: &str| name.bytes().take(7).fold(0, |key, b| key << 8 | i64::from(b));
    sort_by_key(&mut devices, |device| (device.0.len() as i64, letters(&device.0)));
    devices
}

impl Analysis<'_> {
    /// Returns the activities of every device, ordered by start.
    pub(crate) fn activities(&self) -> &[(String, Vec<Row>)] {
        self.once(|| activities(&self.trace.table))
    }

    /// Returns the time of every device with activities.
    pub fn devices(&self) -> &[DeviceTime] {
        self.once(|| device_times(self, &Host::new(self)))
    }

    /// The same with threads of the host that are known. The context does not keep them: they take memory that replays need.
    pub(crate) fn devices_with(&self, host: &Host<'_>) -> &[DeviceTime] {
        self.once(|| device_times(self, host))
    }

    /// The device that was busy longest.
    pub(crate) fn busiest(&self) -> Option<&DeviceTime> {
        self.devices().iter().max_by_key(|device| device.busy_ns)
    }

    /// How long it was busy, in ns.
    pub(crate) fn busy_ns(&self) -> i64 {
        self.busiest().map_or(0, |device| device.busy_ns)
    }
}

fn device_times(analysis: &Analysis<'_>, host: &Host<'_>) -> Vec<DeviceTime> {
    let trace = analysis.trace;
    let (table, causes) = (&trace.table, Causes::new(trace, host));
    let first_step = analysis.step_finder().steps.first().map(|&(step, _)| table.ts(step));
    let (classes, host_time) = (analysis.classes(), host_time(table));
    let time_of = |(device, rows): &(String, Vec<Row>)| {
        let mut time = device_time(table, &causes, &classes, device.clone(), rows);
        let first = rows.first().zip(first_step);
        time.before = first.map_or(Vec::new(), |(&first, start)| causes.before(first, start));
        if let (Some(&first), Some((start, end))) = (rows.first(), host_time) {
            time.outside = causes.before(first, start);
            time.outside.extend(causes.after(time.window.1, end));
        }
        time
    };
    analysis.activities().iter().map(time_of).collect()
}

/// From the first event of the host to the last.
fn host_time(table: &Table) -> Option<Interval> {
    let is_host = |row: &Row| {
        let category = table.category(*row);
        let is_code =
            matches!(category, Category::CpuOp | Category::UserAnnotation | Category::PythonFunction);
        (is_code || category.is_launch_call()) && table.is_span(*row)
    };
    let times = table.rows().filter(is_host).map(|row| (table.ts(row), table.end(row)));
    times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn device_time(
    table: &Table,
    causes: &Causes<'_>,
    known: &Classes<'_>,
    device: String,
    rows: &[Row],
) -> DeviceTime {
    let mut by_class: [Collector; 4] = Default::default();
    let mut counts = [0usize; 4];
    let mut sums = [0i64; 4];
    for &row in rows {
        let class = known.class(row) as usize;
        by_class[class].push((table.ts(row), table.end(row)));
        counts[class] += 1;
        sums[class] += table.dur(row).max(0);
    }
    let unions = by_class.map(Collector::union);
    let start = rows.first().map_or(0, |&row| table.ts(row));
    let end = rows.iter().map(|&row| table.end(row)).max().unwrap_or(start);
    let lengths = lengths(&unions.each_ref(), (start, end));
    let occurring = Class::ALL.iter().enumerate().filter(|&(c, _)| counts[c] > 0);
    let classes = occurring.map(|(c, &class)| ClassTime {
        class,
        count: counts[c],
        sum_ns: sums[c],
        busy_ns: lengths.all[c],
        exposed_ns: lengths.alone[c],
    });
    let classes = classes.collect();
    let parts_ns = lengths.added;
    DeviceTime {
        device,
        window: (start, end),
        count: rows.len(),
        sum_ns: sums.iter().sum(),
        busy_ns: parts_ns.iter().sum(),
        parts_ns,
        unions,
        classes,
        gaps: find_gaps(table, rows),
        idle: causes.parts(rows, (start, end), &Intervals::default()),
        before: Vec::new(),
        outside: Vec::new(),
    }
}

fn find_gaps(table: &Table, rows: &[Row]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut reached = rows.first().map_or(0, |&row| table.ts(row));
    for &row in rows {
        if table.ts(row) > reached {
            gaps.push(Gap { time: (reached, table.ts(row)), after: row });
        }
        reached = reached.max(table.end(row));
    }
    gaps
}
