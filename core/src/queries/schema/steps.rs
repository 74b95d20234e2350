//! The table `steps`.

use super::Schema;
use super::column::{Column, fields, number, opened, since};
use crate::analysis::device::steps::Step;
use crate::trace::Trace;

pub(super) const SCHEMA: Schema = Schema {
    name: "steps",
    about: "A row is a profiler step.",
    sorted_by: &["ts_ns"],
    fields: || fields(Steps::COLUMNS),
    source: |analysis, _| {
        let (trace, steps) = (analysis.trace, analysis.steps());
        opened(Steps { trace, steps }, |all| all.steps.len(), Steps::COLUMNS)
    },
};

struct Steps<'t> {
    trace: &'t Trace,
    steps: &'t [Step],
}

impl Steps<'_> {
    /// Returns a part of a step, by its index in `analysis::device::steps::PARTS`.
    fn part(&self, at: usize, part: usize) -> i64 {
        self.steps[at].parts_ns[part]
    }
}

/// A column of the table.
type Of<'t> = Column<Steps<'t>>;

impl<'t> Steps<'t> {
    const COLUMNS: &'t [Of<'t>] = &[
        Of::int("step", "The number of the step.", |all, at| Some(all.steps[at].number)),
        Of::int("event", "The annotation of the step: its number in `events`.", |all, at| {
            Some(number(all.steps[at].row))
        }),
        Of::name("name", "The name of the annotation.", |all, at| {
            Some(all.trace.table.name_id(all.steps[at].row))
        }),
        Of::int("ts_ns", "The start.", |all, at| since(all.trace.start_ns, all.steps[at].time.0)),
        Of::int("dur_ns", "The wall time. `kernel_ns` to `other_ns` add up to it.", |all, at| {
            let (start, end) = all.steps[at].time;
            Some(end - start)
        }),
        Of::int("device_busy_ns", "The time during which any device was busy.", |all, at| {
            Some(all.steps[at].device_busy_ns)
        }),
        Of::int(
            "device_sum_ns",
            "The sum of the durations of the device work launched in the step.",
            |all, at| Some(all.steps[at].device_sum_ns),
        ),
        Of::int("launched", "The number of device activities launched in the step.", |all, at| {
            i64::try_from(all.steps[at].kernels).ok()
        }),
        Of::int("kernel_ns", "The time during which compute kernels ran.", |all, at| Some(all.part(at, 0))),
        Of::int(
            "communication_ns",
            "The time during which communication kernels ran, and none of the above.",
            |all, at| Some(all.part(at, 1)),
        ),
        Of::int("memcpy_ns", "The time during which copies ran, and none of the above.", |all, at| {
            Some(all.part(at, 2))
        }),
        Of::int("memset_ns", "The time during which memsets ran, and none of the above.", |all, at| {
            Some(all.part(at, 3))
        }),
        Of::int("runtime_ns", "The time in runtime or driver calls, and none of the above.", |all, at| {
            Some(all.part(at, 4))
        }),
        Of::int("data_loader_ns", "The time in data loading, and none of the above.", |all, at| {
            Some(all.part(at, 5))
        }),
        Of::int("cpu_op_ns", "The time in operators, and none of the above.", |all, at| {
            Some(all.part(at, 6))
        }),
        Of::int("other_ns", "The remaining time.", |all, at| Some(all.part(at, 7))),
    ];
}
