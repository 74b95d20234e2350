//! Collectives and point-to-point messages: what each call sent, and how long it took.

use crate::analysis::query::Query;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::base::order::sort_by_key;
use crate::base::rows::{Cell, Column, Rows, Shape, columns};
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
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
.questions(&[Question::Communication])
.hint("no calls of collectives in this trace: PyTorch records them with its backends for several ranks");

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
    } [
        Column::ns("start_ns", "Start", "The start of the call, after the start of the recording.") =>
            table.ts(call.row).saturating_sub(trace.start_ns),
        Column::text("collective", "Collective", "The name of the collective.") => text(name),
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
            (table.category(call.row) == Category::CpuOp).then(|| table.dur(call.row).max(0)),
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

/// Returns every call of a collective, in order of time. Device work with the arguments of a collective counts as a call
/// of its own if the call itself was not recorded.
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
    let keys = ARGUMENTS.map(|key| table.names.find(key));
    if keys[0].is_none() {
        return Vec::new();
    }
    let call = |row: Row| {
        let mut args = [None; 13];
        for (field, value) in table.all_fields(row).filter(|(field, _)| field.place == FieldPlace::Args) {
            if let Some(at) = keys.iter().position(|&key| key == Some(field.key)) {
                args[at] = Some(value);
            }
        }
        args[0].is_some().then_some(Call { row, args, device_ns: None })
    };
    let has_name = |row: Row| table.layout(row).fields.iter().any(|field| Some(field.key) == keys[0]);
    let named = || table.rows().filter(|&row| table.is_span(row) && has_name(row));
    let mut calls: Vec<Call<'_>> =
        named().filter(|&row| table.category(row) == Category::CpuOp).filter_map(call).collect();
    let mut call_of: Vec<Option<usize>> = vec![None; table.len()];
    for (at, call) in calls.iter().enumerate() {
        call_of[call.row.index()] = Some(at);
    }
    for &(work, op) in &trace.links.op_of {
        if let Some(at) = call_of[op.index()] {
            let sum = calls[at].device_ns.get_or_insert(0);
            *sum = sum.saturating_add(table.dur(work).max(0));
        }
    }
    let is_alone = |row: Row| trace.links.op(row).is_none_or(|op| call_of[op.index()].is_none());
    let alone = named().filter(|&row| table.category(row).is_device_work() && is_alone(row));
    let alone = alone.filter_map(call);
    calls.extend(alone.map(|call| Call { device_ns: Some(table.dur(call.row).max(0)), ..call }));
    sort_by_key(&mut calls, |call| (table.ts(call.row), i64::from(call.row)));
    calls.iter().map(|call| (call.row, row(trace, call).into())).collect()
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
