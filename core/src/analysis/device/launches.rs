//! Launches: calls of the runtime or the driver with the device work that they started.
//!
//! The launch of a graph starts many activities with one call. It is one launch, whose work is the first of them: only that
//! one waits for the call. The others wait for each other.

pub(crate) mod bandwidth;
pub(crate) mod queue;

use self::queue::Queue;
use super::kernel_keys::{KernelsBy, Keys, activity_name};
use crate::analysis::intervals::Interval;
use crate::base::index::Index;
use crate::base::order::{descending, sort_by_key};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::tracks::TrackId;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// A call that lasts longer is slow, in ns.
const SLOW_CALL_NS: i64 = 50_000;
/// Work that starts later after its call is late, in ns.
const LATE_NS: i64 = 100_000;

words! {
    "LaunchesBy"
    /// What the rows of `launches` are about.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum LaunchesBy {
        /// Streams.
        #[default]
        Stream = "stream",
        /// Names of calls.
        Call = "call",
        /// Names of kernels, copies and memsets.
        Kernel = "kernel",
        /// Single launches.
        Launch = "launch",
    }
}

/// A call with work of a device that it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The call.
    pub call: Row,
    /// The work.
    pub work: Row,
    /// The duration of the call, in ns.
    pub call_ns: i64,
    /// The time from the end of the call to the start of the work, in ns; 0 if the work starts earlier.
    pub delay_ns: i64,
    /// The duration of the work, in ns.
    pub work_ns: i64,
    /// Whether the work is the first that the call started.
    pub is_first: bool,
}

impl Launch {
    fn new(table: &Table, work: Row, call: Row) -> Launch {
        Launch {
            call,
            work,
            is_first: true,
            call_ns: table.dur(call).max(0),
            delay_ns: table.ts(work).saturating_sub(table.end(call)).max(0),
            work_ns: table.dur(work).max(0),
        }
    }

    /// Whether the work takes less time than its call.
    pub fn is_short(&self) -> bool {
        self.call_ns <= SLOW_CALL_NS && self.work_ns < self.call_ns
    }

    /// Whether the call takes more than 50 us.
    pub fn is_slow(&self) -> bool {
        self.call_ns > SLOW_CALL_NS
    }

    /// Whether the work starts more than 100 us after the call.
    pub fn is_late(&self) -> bool {
        self.delay_ns > LATE_NS
    }
}

/// The work of a stream, of a name of calls, of a kernel, or of one call; at least one activity.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Launches {
    /// The stream, if the group is one.
    pub stream: Option<TrackId>,
    /// The name of the call or the kernel, if the group is one.
    pub name: Option<String>,
    /// The work with its calls, in order.
    pub activities: Vec<Launch>,
    /// Those of them that are the first work of their call.
    pub launches: Vec<Launch>,
    /// The work of the stream that waits, if the group is a stream.
    pub queue: Option<Queue>,
}

/// Returns all device work that has a call, in order.
pub fn launches(trace: &Trace) -> Vec<Launch> {
    let table = &trace.table;
    let is_work = |work: Row| table.category(work).is_device_work() && table.is_span(work);
    let links = trace.links.launch_of.iter().filter(|link| is_work(link.0));
    let mut all: Vec<Launch> = links.map(|&(work, call)| Launch::new(table, work, call)).collect();
    let mut first_of: Vec<Option<usize>> = vec![None; table.len()];
    for at in 0..all.len() {
        let Launch { call, work, .. } = all[at];
        match first_of[call.index()] {
            Some(first) if table.ts(all[first].work) <= table.ts(work) => all[at].is_first = false,
            earlier => {
                if let Some(earlier) = earlier {
                    all[earlier].is_first = false;
                }
                first_of[call.index()] = Some(at);
            }
        }
    }
    all
}

/// Returns the work and its launches in groups, those with the largest sum of delays first; every call is a group of its own
/// for [`LaunchesBy::Launch`].
pub fn grouped(trace: &Trace, by: LaunchesBy) -> Vec<Launches> {
    let table = &trace.table;
    let all = launches(trace);
    let mut groups: Vec<Launches> = Vec::new();
    let mut known = Index::default();
    let mut names = Keys::new(trace, KernelsBy::Name);
    for launch in all {
        let track = table.track_id(launch.work);
        let next = groups.len() as u32;
        let mut group = |key: u32| known.get_or_insert((i64::from(key), 0), next);
        let at = match by {
            LaunchesBy::Stream => group(track.0),
            LaunchesBy::Call => group(table.name_id(launch.call).0),
            LaunchesBy::Kernel => group(names.name_key(launch.work)),
            LaunchesBy::Launch => group(launch.call.index() as u32),
        };
        if at == next {
            let name = match by {
                LaunchesBy::Stream => None,
                LaunchesBy::Call => Some(table.name(launch.call).to_string()),
                LaunchesBy::Kernel | LaunchesBy::Launch => Some(activity_name(trace, launch.work)),
            };
            let stream = matches!(by, LaunchesBy::Stream | LaunchesBy::Launch).then_some(track);
            groups.push(Launches { stream, name, activities: Vec::new(), launches: Vec::new(), queue: None });
        }
        let known = &mut groups[at as usize];
        known.activities.push(launch);
        if launch.is_first {
            known.launches.push(launch);
        }
    }
    if by == LaunchesBy::Stream {
        for group in &mut groups {
            group.queue = (!group.launches.is_empty()).then(|| Queue::new(table, &group.launches));
        }
    }
    let first = |group: &Launches| group.activities.first().map_or(0, |launch| i64::from(launch.work));
    sort_by_key(&mut groups, |group| (descending(group.sum(|launch| launch.delay_ns)), first(group)));
    groups
}

impl Launches {
    /// Returns the sum of a time over all launches, in ns.
    pub fn sum(&self, time: impl Fn(&Launch) -> i64) -> i64 {
        self.launches.iter().fold(0, |sum, launch| sum.saturating_add(time(launch)))
    }

    /// Returns the number of launches that fit.
    pub fn count(&self, fits: impl Fn(&Launch) -> bool) -> usize {
        self.launches.iter().filter(|launch| fits(launch)).count()
    }

    /// Returns the launch with the longest delay; the first of several.
    pub fn latest(&self) -> Option<&Launch> {
        self.launches.iter().rev().max_by_key(|launch| launch.delay_ns)
    }

    /// Returns bytes per second of the copies and memsets: the sum of their bytes by the sum of their durations. `None`
    /// without any.
    pub fn bytes_per_second(&self, table: &Table) -> Option<f64> {
        let sizes = self.activities.iter().filter_map(|launch| {
            let bytes = table.int(launch.work, Key::MemcpyBytes).filter(|&bytes| bytes > 0)?;
            Some((bytes as f64, launch.work_ns as f64))
        });
        let (bytes, ns) = sizes.fold((0.0, 0.0), |sum, transfer| (sum.0 + transfer.0, sum.1 + transfer.1));
        (ns > 0.0).then(|| bytes / ns * 1e9)
    }
}

/// The mean, median, 95th percentile and maximum of some times, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// The sum divided by the number of times.
    pub mean: i64,
    /// The least time that at least half of the times do not exceed.
    pub median: i64,
    /// The least time that at least 95 % of the times do not exceed.
    pub p95: i64,
    /// The maximum.
    pub max: i64,
}

impl Spread {
    /// Returns the spread of some times; zeros if there are none.
    pub fn from_times(mut times: Vec<i64>) -> Spread {
        times.sort_unstable();
        let Some(&max) = times.last() else { return Spread::default() };
        let sum: i128 = times.iter().map(|&time| i128::from(time)).sum();
        let quantile = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
        Spread { mean: (sum / times.len() as i128) as i64, median: quantile(50), p95: quantile(95), max }
    }
}

/// The time from the first of some launches to the start of the last work.
fn window(table: &Table, launches: &[Launch]) -> Interval {
    let start = launches.iter().map(|launch| table.ts(launch.call).min(table.ts(launch.work))).min();
    let end = launches.iter().map(|launch| table.ts(launch.work)).max();
    (start.unwrap_or(0), end.unwrap_or(0))
}
