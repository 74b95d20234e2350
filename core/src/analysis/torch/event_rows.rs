//! Function events as rows with PyTorch's field names.

use super::device_type::DeviceType;
use super::event_details::{Details, KERNEL};
use super::event_ids::{self, EventIds};
use super::function_events::{EventKind, FunctionEvent, FunctionEvents};
use super::node_rows::ARGUMENT;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::base::demangle::demangled;
use crate::base::rows::{Column, Rows, Shape, columns};
use crate::trace::Trace;
use crate::trace::execution::Side;
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use crate::trace::table::tracks;
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

columns! {
    /// The columns of the answer.
    pub const COLUMNS:
        fn row(details: &Details<'_>, ids: EventIds, children: &[FunctionEvent], event: FunctionEvent) {
        let (table, events) = (&details.trace.table, details.events);
        let is_memory = events.kind(event) == EventKind::Memory;
        let is_plain_memory = is_memory && table.metadata.source == Source::LegacyRecords;
        let thread = tracks::plain(&table.names, table.track(events.row(event)).tid);
        let (all, self_memory) = (events.memory(event), events.self_memory(event));
        let start = events.start_ns(table, event);
    } [
        Column::int("idx", "#", "The position of the event.") => event.index(),
        Column::text("name", "Name", "The name of the event.") => events.name(event),
        Column::ns("start_ns", "Start", "The start of the event, after the start of the recording.") => start,
        Column::ns("end_ns", "End", "The end of the event, after the start of the recording.") =>
            start + events.duration_ns(table, event),
        Column::ns("cpu_time_total_ns", "CPU total", "CPU time, including callees.") =>
            events.cpu_time_total_ns(table, event),
        Column::ns("self_cpu_time_total_ns", "Self CPU", "CPU time, excluding callees.") =>
            events.self_ns(event),
        Column::ns("device_time_total_ns", "Device total", "Sum of the durations of the device work launched by the event and its callees.") =>
            details.totals[event.index()],
        Column::ns("self_device_time_total_ns", "Self device", "Sum of the durations of the device work launched by the event itself.") =>
            events.self_device_time_total_ns(event),
        Column::bytes("cpu_memory_usage_bytes", "CPU mem", "CPU memory allocated minus released, including callees.") =>
            all.cpu,
        Column::bytes("self_cpu_memory_usage_bytes", "", "CPU memory allocated minus released, excluding callees.") =>
            self_memory.cpu,
        Column::bytes("device_memory_usage_bytes", "Device mem", "Device memory allocated minus released, including callees.") =>
            all.device,
        Column::bytes("self_device_memory_usage_bytes", "", "Device memory allocated minus released, excluding callees.") =>
            self_memory.device,
        Column::int("id", "", "The external or correlation id; 0 for none.") => ids.id,
        Column::text("trace_name", "", "The name in the trace, without the overload name.").nullable() =>
            (!is_memory).then(|| demangled(events.trace_name(table, event))),
        Column::text("overload_name", "", "The overload name of the operator.") => events.overload(event),
        Column::text("thread", "Thread", "The thread or stream.") =>
            if is_plain_memory { "0" } else { thread },
        Column::int("fwd_thread", "", "The thread of the forward operator; 0 for none.") => ids.fwd_thread,
        Column::int("sequence_nr", "", "The autograd sequence number; -1 for none.") => ids.sequence_nr,
        Column::int("scope", "", "PyTorch's record scope: 0 function, 1 backward function, 7 user scope.") =>
            i64::from(events.scope(table, event)),
        Column::int("flops", "", "Estimated floating point operations, by PyTorch's formulas.") =>
            events.flops(event),
        Column::json("input_shapes", "", Shape::Values, "The shapes of the inputs.") =>
            serde_json::from_str::<Value>(events.input_shapes(event)).unwrap_or_default(),
        Column::json("stack", "", Shape::Texts, "The Python stack, innermost frame first.") =>
            Value::from(events.stacks.get(events.stack(event))),
        Column::word("device_type", "Device", &DeviceType::VOCABULARY, "The type of the device it ran on: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1.") =>
            events.device_type(table, event).as_str(),
        Column::int("device_index", "", "The number of the device; of work on the CPU, that of the process.") =>
            ids.device_index,
        Column::int("device_resource_id", "", "The number of the stream; of work on the CPU, that of the thread.") =>
            ids.device_resource_id,
        Column::text("use_device", "", "The device whose times were recorded: cuda, xpu.").nullable() =>
            events.device_of(event),
        Column::int("node_id", "", "The process of an RPC; -1 for none.") =>
            events.node_id(table, event).unwrap_or(-1),
        Column::int("external_id", "", "The external id; 0 for none.") => details.id(event, "external_id"),
        Column::int("linked_correlation_id", "", "The id of the operator that caused device work; 0 for none.") =>
            details.linked(event),
        Column::json("kernels", "", Shape::Records(&KERNEL), "The device work that the event itself launched.") =>
            Value::from(details.kernels(event)),
        Column::json("concrete_inputs", "", Shape::Values, "The inputs that are no tensors; null for tensors. Infinity is {\"float\": \"inf\"}, because JSON has no such number.") =>
            details.inputs(event),
        Column::json("kwinputs", "", Shape::Object, "The keyword inputs; only profiling results contain them.") =>
            details.result(event, "kwinputs").filter(Value::is_object).unwrap_or_default(),
        Column::json("inputs", "", Shape::Records(&ARGUMENT), "All inputs; only an execution trace that was joined has them.") =>
            details.node(event, Side::Inputs),
        Column::json("outputs", "", Shape::Records(&ARGUMENT), "All outputs; only an execution trace that was joined has them.") =>
            details.node(event, Side::Outputs),
        Column::json("flow", "", Shape::Values, "Number, type and start of the flow to or from the event.") =>
            details.flow(event),
        Column::json("python_ids", "", Shape::Numbers, "The ids of a Python call, of its parent and of its module; -1 for none.") =>
            details.python_ids(event),
        Column::text("activity_type", "", "Kineto's type of the activity, such as cpu_op or kernel.")
            .nullable() => details.activity_type(event),
        Column::json("input_dtypes", "", Shape::Values, "The types of the inputs, such as float or ScalarList.") =>
            details.list(event, Key::InputType, "dtypes"),
        Column::json("structured_input_shapes", "", Shape::Values, "The shapes of the inputs; of a list of tensors, a list with the shape of each.") =>
            details.list(event, Key::InputDims, "structured_input_shapes"),
        Column::json("structured_input_strides", "", Shape::Values, "The strides of the inputs, as structured_input_shapes; recorded with record_shapes.") =>
            details.list(event, Key::InputStrides, "structured_input_strides"),
        Column::json("metadata", "", Shape::Object, "The arguments in the trace of a call of the runtime or of device work, such as grid and stream, without its external id; null for others.") =>
            details.metadata(event),
        Column::bool("is_python_function", "", "Whether the event is a call of a Python function.") =>
            events.is_python_function(table, event),
        Column::bool("is_async", "", "Whether the event ended on another thread than it began, which only records contain, or was open when the recording ended.") =>
            events.is_async(event),
        Column::bool("is_remote", "", "Whether the event ran in another process by RPC; only records contain this.") =>
            events.is_remote(event),
        Column::bool("is_legacy", "", "Whether the event is from the legacy profiler, or its device time was measured by device events.") =>
            events.is_legacy(event),
        Column::bool("is_user_annotation", "", "Whether the event is a user annotation.") =>
            events.is_user_annotation(table, event),
        Column::int("cpu_parent", "Parent", "The position of the parent event.").nullable() =>
            events.parent(event).map(FunctionEvent::index),
        Column::json("cpu_children", "", Shape::Numbers, "The positions of the child events.") =>
            children.iter().map(|child| child.index()).collect::<Value>(),
    ]
}

/// Returns the rows. Times are in ns after the start of the recording; `cpu_parent` and `cpu_children` are positions.
pub fn event_rows(trace: &Trace, events: &FunctionEvents) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let children = events.children();
    let details = Details::new(trace, events);
    let ids = event_ids::assign(&trace.table, events);
    for event in events.events() {
        rows.push(row(&details, ids[event.index()], children.get(event), event));
    }
    rows
}
