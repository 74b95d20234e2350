//! The table `steps`, and the step of an event.

use super::column::{Data, Field, number, since};
use super::{Schema, Source};
use crate::analysis::device::device_time::device_times;
use crate::analysis::device::ranges::step_ranges;
use crate::analysis::device::steps::{PARTS, Step, steps};
use crate::analysis::intervals::Interval;
use crate::table::events::{Row, Table};
use crate::trace::Trace;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

/// The first of the columns that have the parts of a step, in the order of [`PARTS`].
const FIRST_PART: usize = 7;

const FIELDS: [Field; FIRST_PART + PARTS.len()] = [
    Field::int("step", "The number of the step."),
    Field::int("event", "The annotation of the step: its number in `events`."),
    Field::int("ts_ns", "The start."),
    Field::int("dur_ns", "The wall time. `kernel_ns` to `other_ns` add up to it."),
    Field::int("device_busy_ns", "The time during which any device was busy."),
    Field::int("device_sum_ns", "The sum of the durations of the device work launched in the step."),
    Field::int("launched", "The number of device activities launched in the step."),
    Field::int("kernel_ns", "The time during which compute kernels ran."),
    Field::int("communication_ns", "The time during which communication kernels ran, and none of the above."),
    Field::int("memcpy_ns", "The time during which copies ran, and none of the above."),
    Field::int("memset_ns", "The time during which memsets ran, and none of the above."),
    Field::int("runtime_ns", "The time in runtime or driver calls, and none of the above."),
    Field::int("data_loader_ns", "The time in data loading, and none of the above."),
    Field::int("cpu_op_ns", "The time in operators, and none of the above."),
    Field::int("other_ns", "The remaining time."),
];

pub(super) const SCHEMA: Schema = Schema {
    name: "steps",
    about: "A row is a profiler step.",
    fields: &FIELDS,
    sorted_by: &["ts_ns"],
    source: |trace, _| Box::new(Steps { origin: trace.start_ns, steps: steps(trace, &device_times(trace)) }),
};

struct Steps {
    origin: i64,
    steps: Vec<Step>,
}

impl Source for Steps {
    fn len(&self) -> usize {
        self.steps.len()
    }

    fn read(&self, column: usize, rows: Range<usize>) -> Data {
        let value = |step: &Step| match column {
            0 => Some(step.number),
            1 => Some(number(step.row)),
            2 => since(self.origin, step.time.0),
            3 => Some(step.time.1 - step.time.0),
            4 => Some(step.device_busy_ns),
            5 => Some(step.device_sum_ns),
            6 => i64::try_from(step.kernels).ok(),
            part => Some(step.parts_ns[part - FIRST_PART]),
        };
        Data::Ints(self.steps[rows].iter().map(value).collect())
    }
}

/// The steps of a trace, to find that of a time.
pub(super) struct StepOf(Vec<(Interval, i64)>);

impl StepOf {
    pub(super) fn new(table: &Table) -> StepOf {
        let ranges = step_ranges(table).into_iter();
        StepOf(ranges.map(|(row, number)| ((table.ts(row), table.end(row)), number)).collect())
    }

    /// Returns the number of the last step that began at or before the start of an event, if it lies within it. Device work
    /// starts with its launch.
    pub(super) fn event(&self, trace: &Trace, row: Row) -> Option<i64> {
        let table = &trace.table;
        let is_work = table.category(row).is_device_work();
        let launch = if is_work { trace.links.launch(row) } else { None };
        let instant = table.ts(launch.unwrap_or(row));
        let after = self.0.partition_point(|step| step.0.0 <= instant);
        self.0[..after].last().filter(|step| instant < step.0.1).map(|step| step.1)
    }
}
