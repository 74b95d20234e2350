//! The table `launches`.

use super::column::{Data, Field, number, place};
use super::steps::StepOf;
use super::{Schema, Source};
use crate::analysis::device::launches::{Launch, launches};
use crate::table::layout::Key;
use crate::trace::Trace;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

const FIELDS: [Field; 10] = [
    Field::int("work", "The kernel, copy or memset: its number in `events`."),
    Field::int("call", "The call of the runtime or the driver that started it: its number in `events`."),
    Field::int("op", "The operator that made the call: its number in `events`.").optional(),
    Field::int("device", "The device that ran the work.").optional(),
    Field::int("stream", "The stream of the work.").optional(),
    Field::int("step", "The profiler step in which the call began.").optional(),
    Field::int("correlation", "The id that the call and the work share.").optional(),
    Field::int("call_ns", "The duration of the call."),
    Field::int(
        "delay_ns",
        "The time from the end of the call to the start of the work; 0 if it starts earlier.",
    ),
    Field::int("work_ns", "The duration of the work."),
];

pub(super) const SCHEMA: Schema = Schema {
    name: "launches",
    about: "A row is a kernel, copy or memset with the call that started it. Work without a call has no row.",
    fields: &FIELDS,
    sorted_by: &["work"],
    source: |trace, _| Box::new(All { trace, steps: StepOf::new(&trace.table), launches: launches(trace) }),
};

struct All<'t> {
    trace: &'t Trace,
    steps: StepOf,
    launches: Vec<Launch>,
}

impl Source for All<'_> {
    fn len(&self) -> usize {
        self.launches.len()
    }

    fn read(&self, column: usize, rows: Range<usize>) -> Data {
        let table = &self.trace.table;
        let value = |launch: &Launch| match column {
            0 => Some(number(launch.work)),
            1 => Some(number(launch.call)),
            2 => self.trace.links.op(launch.work).map(number),
            3 => place(table, table.track(launch.work)).map(|place| place.0),
            4 => place(table, table.track(launch.work)).map(|place| place.1),
            5 => self.steps.event(self.trace, launch.work),
            6 => table.int(launch.work, Key::Correlation),
            7 => Some(launch.call_ns),
            8 => Some(launch.delay_ns),
            _ => Some(launch.work_ns),
        };
        Data::Ints(self.launches[rows].iter().map(value).collect())
    }
}
