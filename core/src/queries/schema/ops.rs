//! The table `ops`: PyTorch's function events.

use super::Schema;
use super::column::{Column, Wanted, fields, number, opened, since};
use super::distinct::{Distinct, address};
use crate::analysis::context::Analysis;
use crate::analysis::device::ranges::StepFinder;
use crate::analysis::formulas::Inputs;
use crate::analysis::torch::averages::is_counted;
use crate::analysis::torch::function_events::{EventKind, FunctionEvent, FunctionEvents};
use crate::trace::Trace;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::tracks::plain;
use alloc::borrow::Cow;
use alloc::vec::Vec;

pub(super) const SCHEMA: Schema = Schema {
    name: "ops",
    about: "A row is a function event of PyTorch: an operator, an annotation, a call of the runtime, or work of a device. \
            Its names and sums are those of PyTorch.",
    sorted_by: &["op"],
    fields: || fields(Ops::COLUMNS),
    source: |analysis, wanted| opened(Ops::new(analysis, wanted), |all| all.all.len(), Ops::COLUMNS),
};

struct Ops<'t> {
    trace: &'t Trace,
    events: FunctionEvents,
    all: Vec<FunctionEvent>,
    steps: &'t StepFinder,
    /// Device time with that of callees, by event.
    device_totals: Vec<i64>,
    /// The size of the inputs, by event, if it is requested.
    input_bytes: Option<Distinct<Option<i64>>>,
}

impl<'t> Ops<'t> {
    fn new(analysis: &'t Analysis<'t>, wanted: &Wanted) -> Ops<'t> {
        let trace = analysis.trace;
        let needs_inputs = wanted.any(&["input_shapes", "stack", "flops", "kernels"]);
        let events =
            if needs_inputs { FunctionEvents::new(trace) } else { FunctionEvents::without_inputs(trace) };
        let device_totals = events.device_totals_ns();
        let input_bytes = wanted.any(&["input_bytes"]).then(|| sizes(trace, &events));
        let (all, steps) = (events.events().collect(), analysis.step_finder());
        Ops { trace, events, all, steps, device_totals, input_bytes }
    }

    fn table(&self) -> &'t Table {
        &self.trace.table
    }

    fn row(&self, at: usize) -> Row {
        self.events.row(self.all[at])
    }

    fn json(&self, at: usize, key: Key) -> Option<&'t str> {
        self.table().field(self.row(at), key)?.as_json()
    }

    /// Returns a number of a call on the CPU; memory events have other meanings for it.
    fn call_number(&self, at: usize, key: Key) -> Option<i64> {
        let is_call = self.events.kind(self.all[at]) != EventKind::Memory;
        self.table().int(self.row(at), key).filter(|_| is_call)
    }
}

/// Returns the sizes of the input tensors.
fn sizes(trace: &Trace, events: &FunctionEvents) -> Distinct<Option<i64>> {
    let text = |event, key| trace.table.field(events.row(event), key).and_then(|value| value.as_json());
    let key = |event| (address(text(event, Key::InputDims)), address(text(event, Key::InputType)));
    let size = |event| {
        let dims = text(event, Key::InputDims)?;
        Inputs::parse(Some(dims), text(event, Key::InputType), None).all_bytes()
    };
    Distinct::new(events.events(), key, size)
}

/// A column of the table.
type Of<'t> = Column<Ops<'t>>;

impl<'t> Ops<'t> {
    const COLUMNS: &'t [Of<'t>] = &[
        Of::int("op", "The position among the function events, in the order of their starts.", |_, at| {
            i64::try_from(at).ok()
        }),
        Of::int("event", "Its number in `events`.", |all, at| Some(number(all.row(at)))),
        Of::int("parent", "The `op` around it.", |all, at| {
            all.events.parent(all.all[at]).and_then(|parent| i64::try_from(parent.index()).ok())
        })
        .optional(),
        Of::label("name", "The name.", |all, at| Some(all.events.name(all.all[at]).into())),
        Of::label(
            "overload_name",
            "The overload name of the operator; empty unless it was recorded.",
            |all, at| Some(all.events.overload(all.all[at]).into()),
        ),
        Of::label("device_type", "The type of the device that it ran on, such as `CPU`.", |all, at| {
            Some(all.events.device_type(all.table(), all.all[at]).as_str().into())
        }),
        Of::label("thread", "The thread or stream: its `tid` in `tracks`.", |all, at| {
            Some(plain(&all.table().names, all.table().track(all.row(at)).tid).into())
        }),
        Of::int(
            "scope",
            "PyTorch's record scope: 0 function, 1 backward function, 7 user scope.",
            |all, at| Some(i64::from(all.events.scope(all.table(), all.all[at]))),
        ),
        Of::int("sequence_nr", "The autograd sequence number.", |all, at| {
            all.call_number(at, Key::SequenceNumber)
        })
        .optional(),
        Of::int(
            "forward",
            "Of a backward operator, its forward operator: its number in `events`.",
            |all, at| all.trace.links.forward(all.row(at)).map(number),
        )
        .optional(),
        Of::bool("is_async", "Whether it ended on another thread than it began.", |all, at| {
            Some(all.events.is_async(all.all[at]))
        }),
        Of::bool("is_user_annotation", "Whether it is a user annotation.", |all, at| {
            Some(all.events.is_user_annotation(all.table(), all.all[at]))
        }),
        Of::bool(
            "is_counted",
            "Whether `key_averages` counts it. The versions of PyTorch differ in whether calls of Python functions count.",
            |all, at| Some(is_counted(&all.events, all.table(), all.all[at])),
        ),
        Of::int(
            "step",
            "The profiler step in which it began; of device work, in which it was launched.",
            |all, at| all.steps.number(all.trace, all.row(at)),
        )
        .optional(),
        Of::int("ts_ns", "The start.", |all, at| since(all.trace.start_ns, all.table().ts(all.row(at)))),
        Of::int("cpu_time_total_ns", "CPU time, including callees.", |all, at| {
            Some(all.events.cpu_time_total_ns(all.table(), all.all[at]))
        }),
        Of::int("self_cpu_time_total_ns", "CPU time, excluding callees.", |all, at| {
            Some(all.events.self_ns(all.all[at]))
        }),
        Of::int(
            "device_time_total_ns",
            "Sum of the durations of the device work launched by it and its callees.",
            |all, at| Some(all.device_totals[at]),
        ),
        Of::int(
            "self_device_time_total_ns",
            "Sum of the durations of the device work launched by itself.",
            |all, at| Some(all.events.self_device_time_total_ns(all.all[at])),
        ),
        Of::int("kernels", "The number of kernels that PyTorch attributes to it.", |all, at| {
            Some(i64::from(all.events.kernel_count(all.all[at])))
        }),
        Of::int(
            "cpu_memory_usage_bytes",
            "CPU memory allocated minus released, including callees.",
            |all, at| Some(all.events.memory(all.all[at]).cpu),
        ),
        Of::int(
            "self_cpu_memory_usage_bytes",
            "CPU memory allocated minus released, excluding callees.",
            |all, at| Some(all.events.self_memory(all.all[at]).cpu),
        ),
        Of::int(
            "device_memory_usage_bytes",
            "Device memory allocated minus released, including callees.",
            |all, at| Some(all.events.memory(all.all[at]).device),
        ),
        Of::int(
            "self_device_memory_usage_bytes",
            "Device memory allocated minus released, excluding callees.",
            |all, at| Some(all.events.self_memory(all.all[at]).device),
        ),
        Of::int(
            "flops",
            "Estimated floating point operations, by PyTorch's formulas; 0 unless recorded.",
            |all, at| Some(all.events.flops(all.all[at])),
        ),
        Of::int("input_bytes", "The size of the input tensors; null if a type is unknown.", |all, at| {
            *all.input_bytes.as_ref()?.get(at)
        })
        .optional(),
        Of::label("input_shapes", "The shapes of the inputs, as Python writes them.", |all, at| {
            Some(all.events.input_shapes(all.all[at]).into())
        }),
        Of::label("input_types", "The types of the inputs, as JSON.", |all, at| {
            all.json(at, Key::InputType).map(Cow::Borrowed)
        })
        .optional(),
        Of::label(
            "stack",
            "The Python stack: frames from the innermost, with `;` between them.",
            |all, at| {
                let frames = all.events.stacks.get(all.events.stack(all.all[at]));
                Some(frames.join(";")).filter(|stack| !stack.is_empty()).map(Cow::Owned)
            },
        )
        .optional(),
    ];
}
