//! Function events as rows with PyTorch's field names.

use super::device_type::DeviceType;
use super::event_details::{Details, KERNEL};
use super::event_ids;
use super::function_events::{FunctionEvent, FunctionEvents, Kind};
use super::node_rows::ARGUMENT;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::base::demangle::demangled;
use crate::base::rows::{Cell, Column, Rows, Shape};
use crate::trace::Trace;
use crate::trace::table::metadata::Source;
use crate::trace::table::tracks;
use alloc::vec;
use serde_json::Value;

/// The query `events`.
pub const EVENTS: Query =
    Query::new("events", "Every function event, with PyTorch's field names", COLUMNS, |trace, request| {
        Ok(request.limited(event_rows(trace, &FunctionEvents::new(trace))))
    })
    .examples(&["run.json --row-limit 100", "run.json --format csv -o events.csv"])
    .options::<ListOptions>()
    .inputs(&[Input::TorchRules, Input::ExecutionTrace])
    .questions(&[Question::Operators]);

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::int("idx", "#", "The position of the event."),
    Column::text("name", "Name", "The name of the event."),
    Column::ns("start_ns", "Start", "The start of the event, after the start of the recording."),
    Column::ns("end_ns", "End", "The end of the event, after the start of the recording."),
    Column::ns("cpu_time_total_ns", "CPU total", "CPU time, including callees."),
    Column::ns("self_cpu_time_total_ns", "Self CPU", "CPU time, excluding callees."),
    Column::ns(
        "device_time_total_ns",
        "Device total",
        "Sum of the durations of the device work launched by the event and its callees.",
    ),
    Column::ns(
        "self_device_time_total_ns",
        "Self device",
        "Sum of the durations of the device work launched by the event itself.",
    ),
    Column::bytes(
        "cpu_memory_usage_bytes",
        "CPU mem",
        "CPU memory allocated minus released, including callees.",
    ),
    Column::bytes(
        "self_cpu_memory_usage_bytes",
        "",
        "CPU memory allocated minus released, excluding callees.",
    ),
    Column::bytes(
        "device_memory_usage_bytes",
        "Device mem",
        "Device memory allocated minus released, including callees.",
    ),
    Column::bytes(
        "self_device_memory_usage_bytes",
        "",
        "Device memory allocated minus released, excluding callees.",
    ),
    Column::int("id", "", "The external or correlation id; 0 for none."),
    Column::text("trace_name", "", "The name in the trace, without the overload name.").nullable(),
    Column::text("overload_name", "", "The overload name of the operator."),
    Column::text("thread", "Thread", "The thread or stream."),
    Column::int("fwd_thread", "", "The thread of the forward operator; 0 for none."),
    Column::int("sequence_nr", "", "The autograd sequence number; -1 for none."),
    Column::int("scope", "", "PyTorch's record scope: 0 function, 1 backward function, 7 user scope."),
    Column::int("flops", "", "Estimated floating point operations, by PyTorch's formulas."),
    Column::json("input_shapes", "", Shape::Values, "The shapes of the inputs."),
    Column::json("stack", "", Shape::Texts, "The Python stack, innermost frame first."),
    Column::word(
        "device_type",
        "Device",
        &DeviceType::VOCABULARY,
        "The type of the device it ran on: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1.",
    ),
    Column::int("device_index", "", "The number of the device; of work on the CPU, that of the process."),
    Column::int(
        "device_resource_id",
        "",
        "The number of the stream; of work on the CPU, that of the thread.",
    ),
    Column::text("use_device", "", "The device whose times were recorded: cuda, xpu.").nullable(),
    Column::int("node_id", "", "The process of an RPC; -1 for none."),
    Column::int("external_id", "", "The external id; 0 for none."),
    Column::int("linked_correlation_id", "", "The id of the operator that caused device work; 0 for none."),
    Column::json("kernels", "", Shape::Records(&KERNEL), "The device work that the event itself launched."),
    Column::json(
        "concrete_inputs",
        "",
        Shape::Values,
        "The inputs that are no tensors; null for tensors. Infinity is {\"float\": \"inf\"}, because JSON has no such number.",
    ),
    Column::json("kwinputs", "", Shape::Object, "The keyword inputs; only profiling results contain them."),
    Column::json(
        "inputs",
        "",
        Shape::Records(&ARGUMENT),
        "All inputs; only an execution trace that was joined has them.",
    ),
    Column::json(
        "outputs",
        "",
        Shape::Records(&ARGUMENT),
        "All outputs; only an execution trace that was joined has them.",
    ),
    Column::json("flow", "", Shape::Values, "Number, type and start of the flow to or from the event."),
    Column::json(
        "python_ids",
        "",
        Shape::Numbers,
        "The ids of a Python call, of its parent and of its module; -1 for none.",
    ),
    Column::text("activity_type", "", "Kineto's type of the activity, such as cpu_op or kernel.").nullable(),
    Column::json("input_dtypes", "", Shape::Values, "The types of the inputs, such as float or ScalarList."),
    Column::json(
        "structured_input_shapes",
        "",
        Shape::Values,
        "The shapes of the inputs; of a list of tensors, a list with the shape of each.",
    ),
    Column::json(
        "structured_input_strides",
        "",
        Shape::Values,
        "The strides of the inputs, as structured_input_shapes; recorded with record_shapes.",
    ),
    Column::json(
        "metadata",
        "",
        Shape::Object,
        "The arguments in the trace of a call of the runtime or of device work, such as grid and stream, without its external id; null for others.",
    ),
    Column::bool("is_python_function", "", "Whether the event is a call of a Python function."),
    Column::bool(
        "is_async",
        "",
        "Whether the event ended on another thread than it began, which only records contain, or was open when the recording ended.",
    ),
    Column::bool(
        "is_remote",
        "",
        "Whether the event ran in another process by RPC; only records contain this.",
    ),
    Column::bool(
        "is_legacy",
        "",
        "Whether the event is from the legacy profiler, or its device time was measured by device events.",
    ),
    Column::bool("is_user_annotation", "", "Whether the event is a user annotation."),
    Column::int("cpu_parent", "Parent", "The position of the parent event.").nullable(),
    Column::json("cpu_children", "", Shape::Numbers, "The positions of the child events."),
];

/// Returns the rows. Times are in ns after the start of the recording; `cpu_parent` and `cpu_children` are positions.
pub fn event_rows(trace: &Trace, events: &FunctionEvents) -> Rows {
    let table = &trace.table;
    let mut rows = Rows::new(COLUMNS);
    let children = events.children();
    let device_totals = events.device_totals_ns();
    let ids = event_ids::of_events(table, events);
    let details = Details::new(trace, events, &device_totals);
    for event in events.events() {
        let row = events.row(event);
        let kind = events.kind(event);
        let is_plain_memory = kind == Kind::Memory && trace.table.metadata.source == Source::LegacyRecords;
        let ids = ids[event.index()];
        let (all, own) = (events.memory(event), events.self_memory(event));
        let start = events.start_ns(table, event);
        let mut cells = vec![
            event.index().into(),
            events.name(event).into(),
            Cell::Ns(start),
            Cell::Ns(start + events.duration_ns(table, event)),
            Cell::Ns(events.cpu_time_total_ns(table, event)),
            Cell::Ns(events.self_ns(event)),
            Cell::Ns(device_totals[event.index()]),
            Cell::Ns(events.self_device_time_total_ns(event)),
            Cell::Bytes(all.cpu),
            Cell::Bytes(own.cpu),
            Cell::Bytes(all.device),
            Cell::Bytes(own.device),
            Cell::Int(ids.id),
            if kind == Kind::Memory { Cell::Null } else { demangled(events.trace_name(table, event)).into() },
            events.overload(event).into(),
            if is_plain_memory { "0" } else { tracks::plain(&table.names, table.track(row).tid) }.into(),
            Cell::Int(ids.fwd_thread),
            Cell::Int(ids.sequence_nr),
            Cell::Int(i64::from(events.scope(table, event))),
            events.flops(event).into(),
            Cell::Json(serde_json::from_str(events.input_shapes(event)).unwrap_or_default()),
            Cell::Json(
                events.stacks.get(events.stack(event)).iter().map(|f| Value::from(f.as_str())).collect(),
            ),
            events.device_type(table, event).as_str().into(),
        ];
        cells.extend(details.cells(event, ids));
        cells.extend([
            Cell::Bool(events.is_async(event)),
            Cell::Bool(events.is_remote(event)),
            Cell::Bool(events.is_legacy(event)),
            Cell::Bool(events.is_user_annotation(table, event)),
            events.parent(event).map(FunctionEvent::index).map_or(Cell::Null, Cell::from),
            Cell::Json(children.of(event).iter().map(|child| Value::from(child.index())).collect()),
        ]);
        rows.push(cells);
    }
    rows
}
