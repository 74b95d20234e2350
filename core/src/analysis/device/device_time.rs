//! Device time: sum, busy and exposed time by class of work, and idle gaps by cause.
//!
//! - **sum**: the sum of the durations of all activities; it can exceed wall time if streams overlap.
//! - **busy**: the length of their union.
//! - **exposed** of a class: the part of its union during which no other class was running.
//!
//! An idle gap lies between two activities of a device. Its cause is derived from the launch of the activity that ends
//! it. If the launch call began after the start of the gap, the host was late; if a synchronizing call was running on
//! that thread at the start of the gap, the host was waiting. Otherwise the work was queued and the device did not
//! start it.

use crate::analysis::intervals::{Collector, Interval, Intervals};
use crate::order::sort_by_key;
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::tracks;
use crate::trace::Trace;
use crate::words::words;
use alloc::string::String;
use alloc::vec::Vec;

words! {
    "WorkClass"
    /// A class of device work.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Class {
        /// Kernels that compute.
        Compute = "compute",
        /// Kernels of NCCL, RCCL and other collective libraries.
        Communication = "communication",
        /// Copies.
        Memcpy = "memcpy",
        /// Memsets.
        Memset = "memset",
    }
}

/// Classifies activities. Results are cached for each name: a trace has many activities and few names.
#[derive(Clone, Debug)]
pub struct Classes<'a> {
    table: &'a Table,
    collective: Vec<Option<bool>>,
}

impl<'a> Classes<'a> {
    /// Returns a classifier for the activities of one table.
    pub fn new(table: &'a Table) -> Self {
        Classes { table, collective: alloc::vec![None; table.names.len()] }
    }

    /// Returns the class of an activity.
    pub fn of(&mut self, row: Row) -> Class {
        match self.table.category(row) {
            Category::Memcpy => Class::Memcpy,
            Category::Memset => Class::Memset,
            _ => {
                let known = &mut self.collective[self.table.name_id(row).0 as usize];
                let collective = *known.get_or_insert_with(|| is_collective(self.table.name(row)));
                if collective { Class::Communication } else { Class::Compute }
            }
        }
    }
}

/// Returns whether a kernel's name is that of a collective library.
pub(crate) fn is_collective(name: &str) -> bool {
    let start: String = name.chars().take(64).map(|c| c.to_ascii_lowercase()).collect();
    ["nccl", "rccl", "mscclpp", "hccl", "oneccl", "c10d::"].iter().any(|part| start.contains(part))
}

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

words! {
    "IdleCause"
    /// The cause of an idle gap.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum IdleCause {
        /// The launch call of the next activity began after the start of the gap.
        HostLate = "host_late",
        /// The host was in a synchronizing call at the start of the gap.
        HostWaiting = "host_waiting",
        /// The next activity was launched before the start of the gap.
        Queued = "queued",
        /// The launch call of the next activity is not in the trace.
        Unknown = "unknown",
        /// The recording of the device was paused.
        NotRecorded = "not_recorded",
    }
}

impl IdleCause {
    /// Returns the cause as text for a person.
    pub fn label(self) -> String {
        self.as_str().replace('_', " ")
    }
}

/// A period during which a device was idle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// Start and end, in ns relative to the table's base.
    pub time: Interval,
    /// The activity that ends the gap.
    pub after: Row,
    /// The cause.
    pub cause: IdleCause,
}

/// The time of one device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceTime {
    /// The device: its ordinal, or the `pid` of its row.
    pub device: String,
    /// From the start of the first activity to the end of the last.
    pub window: Interval,
    /// The number of activities.
    pub count: usize,
    /// The sum of durations, in ns.
    pub sum_ns: i64,
    /// The length of the union of all activities, in ns.
    pub busy_ns: i64,
    /// The times during which each class ran, in the order of [`Class::ALL`].
    pub unions: [Intervals; 4],
    /// The classes that occur.
    pub classes: Vec<ClassTime>,
    /// The gaps, in order of time.
    pub gaps: Vec<Gap>,
}

impl DeviceTime {
    /// Returns the length of the window minus the busy time, in ns.
    pub fn idle_ns(&self) -> i64 {
        self.window.1 - self.window.0 - self.busy_ns
    }

    /// Returns the total length of the gaps of each cause, in ns.
    pub fn idle_by_cause(&self) -> [(IdleCause, i64); 5] {
        IdleCause::ALL.map(|cause| {
            let gaps = self.gaps.iter().filter(|g| g.cause == cause);
            (cause, gaps.map(|g| g.time.1 - g.time.0).sum())
        })
    }
}

/// Returns the activities of every device, ordered by start.
pub fn activities(table: &Table) -> Vec<(String, Vec<Row>)> {
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
            let name = tracks::plain(&table.names, pid);
            devices.iter().position(|d| d.0 == name).unwrap_or_else(|| {
                devices.push((name.into(), Vec::new()));
                devices.len() - 1
            })
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

/// Returns the time of every device with activities.
pub fn device_times(trace: &Trace) -> Vec<DeviceTime> {
    let table = &trace.table;
    let host = Host { syncs: sync_calls(table), pauses: pauses(table) };
    activities(table).into_iter().map(|(device, rows)| device_time(trace, device, &rows, &host)).collect()
}

/// What determines the causes of gaps besides launches.
struct Host {
    /// The times during which each thread was in a synchronizing call.
    syncs: Vec<(u32, Intervals)>,
    /// The times during which the recording of devices was paused.
    pauses: Intervals,
}

/// Returns the times during which the recording of devices was paused, as recordings of Kinetoscope state them.
pub(super) fn pauses(table: &Table) -> Intervals {
    let pauses = table.names.find("not recorded: CUDA");
    let is_pause = |row: &Row| table.is_span(*row) && Some(table.name_id(*row)) == pauses;
    let rows = table.rows().filter(|row| pauses.is_some() && is_pause(row));
    Intervals::union_of(rows.map(|row| (table.ts(row), table.end(row))).collect())
}

fn device_time(trace: &Trace, device: String, rows: &[Row], host: &Host) -> DeviceTime {
    let table = &trace.table;
    let mut by_class: [Collector; 4] = Default::default();
    let mut counts = [0usize; 4];
    let mut sums = [0i64; 4];
    let mut known = Classes::new(table);
    for &row in rows {
        let class = known.of(row) as usize;
        by_class[class].push((table.ts(row), table.end(row)));
        counts[class] += 1;
        sums[class] += table.dur(row).max(0);
    }
    let unions = by_class.map(Collector::union);
    let classes = Class::ALL.iter().enumerate().filter(|&(c, _)| counts[c] > 0).map(|(c, &class)| {
        let others = (0..4).filter(|&o| o != c).fold(Intervals::default(), |all, o| all.union(&unions[o]));
        ClassTime {
            class,
            count: counts[c],
            sum_ns: sums[c],
            busy_ns: unions[c].length(),
            exposed_ns: unions[c].length_outside(&others),
        }
    });
    let classes = classes.collect();
    let busy_ns = unions.iter().fold(Intervals::default(), |all, u| all.union(u)).length();
    let start = rows.first().map_or(0, |&row| table.ts(row));
    let end = rows.iter().map(|&row| table.end(row)).max().unwrap_or(start);
    let gaps = find_gaps(trace, rows, host);
    DeviceTime {
        device,
        window: (start, end),
        count: rows.len(),
        sum_ns: sums.iter().sum(),
        busy_ns,
        unions,
        classes,
        gaps,
    }
}

fn find_gaps(trace: &Trace, rows: &[Row], host: &Host) -> Vec<Gap> {
    let table = &trace.table;
    let mut gaps = Vec::new();
    let mut last: Option<Row> = None;
    for &row in rows {
        let Some(before) = last else {
            last = Some(row);
            continue;
        };
        let (end, start) = (table.end(before), table.ts(row));
        if start > end {
            part(&mut gaps, trace, (end, start), row, host);
        }
        if table.end(row) > end {
            last = Some(row);
        }
    }
    gaps
}

/// Adds a gap, split where recording was paused.
fn part(gaps: &mut Vec<Gap>, trace: &Trace, (start, end): Interval, after: Row, host: &Host) {
    let mut from = start;
    let mut push = |time: Interval, cause: IdleCause| {
        if time.1 > time.0 {
            gaps.push(Gap { time, after, cause });
        }
    };
    let pauses = host.pauses.as_slice();
    let first = pauses.partition_point(|pause| pause.1 <= start);
    for pause in pauses[first..].iter().take_while(|pause| pause.0 < end) {
        push((from, pause.0), IdleCause::Unknown);
        push((pause.0.max(from), pause.1.min(end)), IdleCause::NotRecorded);
        from = pause.1;
    }
    push((from, end), cause(trace, after, from, &host.syncs));
}

fn cause(trace: &Trace, after: Row, start: i64, syncs: &[(u32, Intervals)]) -> IdleCause {
    let table = &trace.table;
    let Some(launch) = trace.links.launch(after) else { return IdleCause::Unknown };
    if table.ts(launch) < start {
        return IdleCause::Queued;
    }
    let thread = table.track_id(launch).0;
    let waiting = syncs.iter().find(|s| s.0 == thread).is_some_and(|(_, times)| {
        let at = times.as_slice().partition_point(|i| i.1 <= start);
        times.as_slice().get(at).is_some_and(|i| i.0 <= start)
    });
    if waiting { IdleCause::HostWaiting } else { IdleCause::HostLate }
}

/// Returns whether a runtime call waits for the device.
pub(crate) fn is_sync_name(name: &str) -> bool {
    name.contains("Synchronize")
}

/// Returns the times during which each thread was in a synchronizing call.
fn sync_calls(table: &Table) -> Vec<(u32, Intervals)> {
    let mut calls: Vec<(u32, Vec<Interval>)> = Vec::new();
    let mut is_sync: Vec<Option<bool>> = alloc::vec![None; table.names.len()];
    for row in table.rows().filter(|&row| table.category(row).is_launch_call() && table.is_span(row)) {
        let known = &mut is_sync[table.name_id(row).0 as usize];
        if !*known.get_or_insert_with(|| is_sync_name(table.name(row))) {
            continue;
        }
        let track = table.track_id(row).0;
        let time = (table.ts(row), table.end(row));
        match calls.iter_mut().find(|c| c.0 == track) {
            Some((_, times)) => times.push(time),
            None => calls.push((track, alloc::vec![time])),
        }
    }
    calls.into_iter().map(|(track, times)| (track, Intervals::union_of(times))).collect()
}
