//! Collectives and point-to-point messages: what each call sent, and how long it took.
//!
//! A call with arguments is a row with the sum of its device work. Kernels of collectives without such a call, and spans of
//! Gloo or MPI, are rows as well: their names say which collective they are, and what the arguments would say is not known.

use super::classes::{Class, Classes};
use super::names::{is_host_collective, short_name};
use super::operation::Operation;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::base::rows::{Cell, Column, Rows, Shape, columns};
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::FieldPlace;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The query `collectives`.
pub(crate) const COLLECTIVES: Query = Query::new(
    "collectives",
    "Collectives: what each call sent, and how long it took",
    COLUMNS,
    |trace, request| Ok(request.limited(collectives(trace))),
)
.examples(&["rank0.json", "rank0.json --row-limit 20 --format csv"])
.options::<ListOptions>()
.inputs(&[Input::KernelRules])
.questions(&[Question::Communication])
.hint("no collective in this trace: neither calls, nor kernels, nor spans of Gloo or MPI");

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(trace: &Trace, call: &Call<'_>) {
        let table = &trace.table;
        let [name, group, about, size, ranks, seq, id, src, dst, is_async, dtype, ins, outs] = call.args;
        let int = |value: Option<Value<'_>>| value.and_then(|value| value.as_i64());
        let item = dtype.and_then(|dtype| dtype.as_str()).unwrap_or("");
        let bytes = message_bytes([int(ins), int(outs)], item);
        let time = call.device_ns.unwrap_or(0);
        let sent = bytes.filter(|&bytes| bytes > 0 && time > 0);
        let is_on_host = !table.category(call.row).is_device_work();
    } [
        Column::ns("start_ns", "Start", "The start of the call, after the start of the recording.") =>
            table.ts(call.row).saturating_sub(trace.start_ns),
        Column::text("collective", "Collective", "The name of the collective. Of a kernel or span without arguments, what its name means.") =>
            text(name).unwrap_or_else(|| meaning(table, call.row)),
        Column::text("group", "Group", "The name of the process group.").nullable() => text(group),
        Column::text("group_description", "", "The description of the process group.").nullable() =>
            text(about),
        Column::int("group_size", "Ranks", "The number of ranks of the process group.").nullable() =>
            int(size),
        Column::json("ranks", "", Shape::Values, "The ranks of the process group; `...` for those that the trace leaves out.") =>
            ranks.and_then(|ranks| ranks_of(ranks.as_str()?)).unwrap_or_default(),
        Column::int("seq", "Seq", "The number of the call in its process group.").nullable() => int(seq),
        Column::text("comms_id", "", "The id that the calls of all ranks have in common.").nullable() =>
            text(id),
        Column::int("src_rank", "", "The rank that sends, of a point-to-point message.").nullable() =>
            int(src),
        Column::int("dst_rank", "", "The rank that receives, of a point-to-point message.").nullable() =>
            int(dst),
        Column::bool("is_async", "", "Whether the call does not wait for its end.").nullable() =>
            is_async.and_then(flag),
        Column::text("dtype", "Type", "The type of the elements.").nullable() => text(dtype),
        Column::int("in_nelems", "", "The number of elements of the input of this rank.").nullable() =>
            int(ins),
        Column::int("out_nelems", "", "The number of elements of the output of this rank.").nullable() =>
            int(outs),
        Column::bytes("bytes", "Bytes", "The size of the input or the output, whichever is larger.")
            .nullable() => bytes,
        Column::ns("cpu_ns", "CPU", "The duration of the call on the CPU.").nullable() =>
            is_on_host.then(|| table.dur(call.row).max(0)),
        Column::ns("device_ns", "Device", "Sum of the durations of its device work.").nullable() =>
            call.device_ns,
        Column::rate("bytes_per_second", "B/s", "The bytes divided by the device time. It includes the time in which the collective waited for other ranks.")
            .nullable() => sent.map(|bytes| bytes as f64 / (time as f64 / 1e9)),
    ]
}

/// The arguments of a call, in the order of [`Call::args`].
const ARGUMENTS: [&str; 13] = [
    "Collective name",
    "Process Group Name",
    "Process Group Description",
    "Group size",
    "Process Group Ranks",
    "Seq",
    "Comms Id",
    "Src Rank",
    "Dst Rank",
    "Is asynchronized op",
    "dtype",
    "In msg nelems",
    "Out msg nelems",
];

/// A call with its arguments and the sum of its device work.
struct Call<'a> {
    row: Row,
    args: [Option<Value<'a>>; 13],
    device_ns: Option<i64>,
}

impl Call<'_> {
    /// The call of an event without arguments.
    fn unnamed(row: Row) -> Self {
        Call { row, args: [None; 13], device_ns: None }
    }
}

/// The collective that the name of a kernel or span means.
fn meaning(table: &Table, row: Row) -> String {
    match Operation::from_name(table.name(row)) {
        Operation::Other => short_name(table.name(row)),
        operation => operation.as_str().to_owned(),
    }
}

/// Returns every call of a collective, in order of time.
pub(crate) fn collectives(trace: &Trace) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for (_, cells) in calls(trace) {
        rows.push(cells);
    }
    rows
}

/// Returns the event and the cells of every call.
pub(crate) fn calls(trace: &Trace) -> Vec<(Row, Vec<Cell>)> {
    let table = &trace.table;
    let arguments = Arguments::new(table);
    let mut calls = described(&arguments);
    add_work(trace, &arguments, &mut calls);
    // A call without device work is one that the host carries out: its span is the same call.
    if calls.iter().all(|call| call.device_ns.is_some()) {
        let spans = table.names.that(is_host_collective);
        let rows = table.rows().filter(|&row| spans.has(table.name_id(row)) && table.is_span(row));
        calls.extend(rows.map(Call::unnamed));
    }
    sort_by_key(&mut calls, |call| (table.ts(call.row), i64::from(call.row)));
    calls.iter().map(|call| (call.row, row(trace, call).into())).collect()
}

/// The calls of operators with the arguments of a collective.
fn described<'a>(arguments: &Arguments<'a>) -> Vec<Call<'a>> {
    let table = arguments.table;
    let operators = table.rows_of(Category::CpuOp).filter(|&row| table.is_span(row));
    operators.filter_map(|row| arguments.call(row)).collect()
}

/// Adds the device work to its calls. Work of collectives that no call started is a call of its own.
fn add_work<'a>(trace: &Trace, arguments: &Arguments<'a>, calls: &mut Vec<Call<'a>>) {
    let table = &trace.table;
    let classes = Classes::new(trace);
    let mut call_of: Vec<Option<usize>> = vec![None; table.len()];
    for (at, call) in calls.iter().enumerate() {
        call_of[call.row.index()] = Some(at);
    }
    let is_work = |&row: &Row| table.category(row).is_device_work() && table.is_span(row);
    for work in table.rows().filter(is_work) {
        let duration = table.dur(work).max(0);
        if let Some(at) = trace.links.op(work).and_then(|op| call_of[op.index()]) {
            let sum = calls[at].device_ns.get_or_insert(0);
            *sum = sum.saturating_add(duration);
            continue;
        }
        let is_unnamed = classes.class(work) == Class::Communication;
        let alone = arguments.call(work).or_else(|| is_unnamed.then(|| Call::unnamed(work)));
        calls.extend(alone.map(|call| Call { device_ns: Some(duration), ..call }));
    }
}

/// The keys of the arguments of a table.
struct Arguments<'a> {
    table: &'a Table,
    keys: [Option<NameId>; 13],
}

impl<'a> Arguments<'a> {
    fn new(table: &'a Table) -> Arguments<'a> {
        Arguments { table, keys: ARGUMENTS.map(|key| table.names.find(key)) }
    }

    /// Returns the call that an event with the arguments of a collective is.
    fn call(&self, row: Row) -> Option<Call<'a>> {
        let name = self.keys[0]?;
        if !self.table.layout(row).fields.iter().any(|field| field.key == name) {
            return None;
        }
        let mut args = [None; 13];
        let fields = self.table.all_fields(row).filter(|(field, _)| field.place == FieldPlace::Args);
        for (field, value) in fields {
            if let Some(at) = self.keys.iter().position(|&key| key == Some(field.key)) {
                args[at] = Some(value);
            }
        }
        args[0].is_some().then_some(Call { row, args, device_ns: None })
    }
}

/// The ranks in a text such as `[0, 1, 2]`; long ones are shortened to `[0, 1, ..., 7]`.
fn ranks_of(text: &str) -> Option<serde_json::Value> {
    let ranks = rank_texts(text)?;
    Some(
        ranks.map(|rank| rank.parse::<i64>().map_or_else(|_| rank.into(), serde_json::Value::from)).collect(),
    )
}

/// The texts of the ranks in a text such as `[0, 1, 2]`.
pub(crate) fn rank_texts(text: &str) -> Option<impl Iterator<Item = &str>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    Some(inner.split(',').map(str::trim).filter(|rank| !rank.is_empty()))
}

/// The size of the input or the output, whichever is larger, from the numbers of their elements.
pub(crate) fn message_bytes([ins, outs]: [Option<i64>; 2], dtype: &str) -> Option<i64> {
    Some(ins.max(outs).filter(|&count| count >= 0)?.saturating_mul(item_size(dtype)?))
}

/// Traces have `true`, or 1.
fn flag(value: Value<'_>) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(flag),
        value => value.as_i64().map(|number| number != 0),
    }
}

/// A text, or the digits of a number.
fn text(value: Option<Value<'_>>) -> Option<String> {
    match value? {
        Value::Text(text) | Value::Number(text) => Some(text.to_owned()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The size of an element, in bytes, by PyTorch's name of the type.
fn item_size(dtype: &str) -> Option<i64> {
    Some(match dtype {
        "Byte" | "Char" | "Bool" => 1,
        "Short" | "Half" | "BFloat16" => 2,
        "Int" | "Float" => 4,
        "Long" | "Double" | "ComplexFloat" => 8,
        "ComplexDouble" => 16,
        name if name.starts_with("Float8") => 1,
        _ => return None,
    })
}
