//! The table `launches`.

use super::Schema;
use super::column::{Column, device, fields, number, opened, since, stream};
use crate::analysis::device::launches::{Launch, launches};
use crate::analysis::device::ranges::StepFinder;
use crate::trace::Trace;
use crate::trace::table::layout::Key;
use alloc::vec::Vec;

pub(super) const SCHEMA: Schema = Schema {
    name: "launches",
    about: "A row is a kernel, copy or memset with the call that started it. Work without a call has no row.",
    sorted_by: &["work"],
    fields: || fields(All::COLUMNS),
    source: |analysis, _| {
        let (trace, steps, launches) = (analysis.trace, analysis.step_finder(), launches(analysis.trace));
        opened(All { trace, steps, launches }, |all| all.launches.len(), All::COLUMNS)
    },
};

struct All<'t> {
    trace: &'t Trace,
    steps: &'t StepFinder,
    launches: Vec<Launch>,
}

/// A column of the table.
type Of<'t> = Column<All<'t>>;

impl<'t> All<'t> {
    const COLUMNS: &'t [Of<'t>] = &[
        Of::int("work", "The kernel, copy or memset: its number in `events`.", |all, at| {
            Some(number(all.launches[at].work))
        }),
        Of::int(
            "call",
            "The call of the runtime or the driver that started it: its number in `events`.",
            |all, at| Some(number(all.launches[at].call)),
        ),
        Of::int("op", "The operator that made the call: its number in `events`.", |all, at| {
            all.trace.links.op(all.launches[at].work).map(number)
        })
        .optional(),
        Of::int("device", "The device that ran the work.", |all, at| {
            device(&all.trace.table, all.trace.table.track(all.launches[at].work))
        })
        .optional(),
        Of::int("stream", "The stream of the work.", |all, at| {
            stream(&all.trace.table, all.trace.table.track(all.launches[at].work))
        })
        .optional(),
        Of::int("step", "The profiler step in which the call began.", |all, at| {
            all.steps.number(all.trace, all.launches[at].work)
        })
        .optional(),
        Of::int("correlation", "The id that the call and the work share.", |all, at| {
            all.trace.table.int(all.launches[at].work, Key::Correlation)
        })
        .optional(),
        Of::int("ts_ns", "The start of the call.", |all, at| {
            since(all.trace.start_ns, all.trace.table.ts(all.launches[at].call))
        }),
        Of::int("call_ns", "The duration of the call.", |all, at| Some(all.launches[at].call_ns)),
        Of::int(
            "delay_ns",
            "The time from the end of the call to the start of its first work; 0 if it starts earlier. Other work of the call has none.",
            |all, at| Some(all.launches[at].delay_ns).filter(|_| all.launches[at].is_first),
        )
        .optional(),
        Of::int("work_ns", "The duration of the work.", |all, at| Some(all.launches[at].work_ns)),
    ];
}
