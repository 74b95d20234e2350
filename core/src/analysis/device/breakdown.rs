//! What devices did, in parts that add up to the time from their first activity to their last, or to a step.
//!
//! Each instant counts for the first class of work that runs: compute, communication, memcpy, memset. So the parts of
//! communication and of copies are those that compute does not hide. The remainder is idle time.

use super::classes::Class;
use super::device_time::DeviceTime;
use crate::analysis::context::Analysis;
use crate::analysis::intervals::{Interval, Lengths, lengths_in};
use crate::analysis::query::options::{Opt, options};
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::base::rows::{Column, Rows, columns};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::string::String;
use alloc::vec::Vec;

words! {
    "BreakdownBy"
    /// What the rows of `breakdown` are about.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum BreakdownBy {
        /// Devices.
        #[default]
        Device = "device",
        /// Devices in each profiler step.
        Step = "step",
    }
}

/// What a device did in a period.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Breakdown {
    /// The device: its ordinal, or the `pid` of its row.
    pub device: String,
    /// The profiler step; `None` for the window of the device.
    pub step: Option<Row>,
    /// The period, in ns relative to the table's base.
    pub time: Interval,
    /// The time during which each class ran, in the order of [`Class::ALL`], in ns.
    pub class_ns: [i64; 4],
    /// The time during which each class ran and none before it, in ns.
    pub parts_ns: [i64; 4],
}

impl Breakdown {
    /// Returns the time during which nothing ran, in ns.
    pub(crate) fn idle_ns(&self) -> i64 {
        self.time.1 - self.time.0 - self.parts_ns.iter().sum::<i64>()
    }

    /// Returns the share of the communication during which compute ran; `None` without communication.
    pub(crate) fn overlap(&self) -> Option<f64> {
        let (all, exposed) = (self.class_ns[Class::Communication as usize], self.parts_ns[1]);
        (all > 0).then(|| 1.0 - exposed as f64 / all as f64)
    }
}

/// Returns the breakdown of every device, or of every device in each step.
pub(crate) fn breakdown(trace: &Trace, by: BreakdownBy) -> Vec<Breakdown> {
    let (table, analysis) = (&trace.table, Analysis::new(trace));
    let of = |(device, (_, activities)): (&DeviceTime, &(String, Vec<Row>))| -> Vec<Breakdown> {
        let periods: Vec<(Option<Row>, Interval)> = match by {
            BreakdownBy::Device => [(None, device.window)].into(),
            BreakdownBy::Step => {
                let steps = analysis.step_finder().on_device(trace, activities).into_iter();
                steps.map(|step| (Some(step), (table.ts(step), table.end(step)))).collect()
            }
        };
        let times: Vec<Interval> = periods.iter().map(|period| period.1).collect();
        let lengths = lengths_in(&device.unions.each_ref(), &times);
        let divided = |((step, time), lengths): ((Option<Row>, Interval), Lengths<4>)| {
            let (class_ns, parts_ns) = (lengths.all, lengths.added);
            Breakdown { device: device.device.clone(), step, time, class_ns, parts_ns }
        };
        periods.into_iter().zip(lengths).map(divided).collect()
    };
    analysis.devices().iter().zip(analysis.activities()).flat_map(of).collect()
}

options! {
    /// Options of `breakdown`.
    pub(crate) struct BreakdownOptions {
        /// What the rows are about.
        pub by: BreakdownBy = Opt::word::<BreakdownBy>("by", "WHAT", "Rows of each `device`, or of each `step`"),
    }
}

/// The query `breakdown`.
pub(crate) const BREAKDOWN: Query = Query::new(
    "breakdown",
    "Time of devices: compute, exposed communication and copies, idle",
    COLUMNS,
    |trace, request| Ok(breakdown_rows(trace, &request.typed()).into()),
)
.examples(&["run.json", "ranks/ --by step --format csv -o steps.csv"])
.options::<BreakdownOptions>()
.inputs(&[Input::KernelRules])
.questions(&[Question::DeviceTime])
.hint("no device work in this trace; record with ProfilerActivity.CUDA");

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(trace: &Trace, breakdown: &Breakdown) {
        let [compute, communication, memcpy, memset] = breakdown.parts_ns;
        let [_, all_communication, all_memcpy, all_memset] = breakdown.class_ns;
    } [
        Column::text("device", "Device", "The number of the device in the trace.") => breakdown.device.as_str(),
        Column::text("step", "Step", "The profiler step; null for the window of the device.").nullable() =>
            breakdown.step.map(|step| trace.table.name(step)),
        Column::ns("wall_ns", "Wall", "The step, or the time from the first activity of the device to the end of its last; compute_ns, the exposed times and idle_ns add up to it.") =>
            breakdown.time.1 - breakdown.time.0,
        Column::ns("compute_ns", "Compute", "The time during which kernels other than communication ran.") =>
            compute,
        Column::ns("exposed_communication_ns", "Exposed comm.", "The time during which communication ran, and no compute.") =>
            communication,
        Column::ns("exposed_memcpy_ns", "Exposed memcpy", "The time during which copies ran, and none of the above.") =>
            memcpy,
        Column::ns("exposed_memset_ns", "Exposed memset", "The time during which memsets ran, and none of the above.") =>
            memset,
        Column::ns("idle_ns", "Idle", "The time during which nothing ran.") => breakdown.idle_ns(),
        Column::ns("communication_ns", "Comm.", "The time during which communication ran.") =>
            all_communication,
        Column::ns("memcpy_ns", "Memcpy", "The time during which copies ran.") => all_memcpy,
        Column::ns("memset_ns", "Memset", "The time during which memsets ran.") => all_memset,
        Column::share("overlap", "Overlap", "The share of the communication during which compute ran.")
            .nullable() => breakdown.overlap(),
    ]
}

/// Returns the breakdown as rows.
pub(crate) fn breakdown_rows(trace: &Trace, options: &BreakdownOptions) -> Rows {
    Rows::from_cells(COLUMNS, breakdown(trace, options.by).iter().map(|breakdown| row(trace, breakdown)))
}
