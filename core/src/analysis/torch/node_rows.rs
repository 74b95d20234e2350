//! The nodes of execution traces as rows, and their arguments.

use crate::analysis::query::Query;
use crate::analysis::query::options::ListOptions;
use crate::base::rows::{Cell, Column, Record, Rows, Shape};
use crate::trace::Trace;
use crate::trace::execution::{Node, Side, nodes_of};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value as Json;

/// An argument or a result.
pub(crate) static ARGUMENT: Record = Record {
    name: "Argument",
    members: &[
        Column::text("type", "", "The type, such as Tensor(float), Int or GenericList[Int]."),
        Column::json(
            "shape",
            "",
            Shape::Values,
            "The sizes of a tensor, or of the tensors of a list; null if the file has none.",
        ),
        Column::json(
            "stride",
            "",
            Shape::Any,
            "The strides of a tensor, in elements, or those of the tensors of a list; null before schema 1.1.1.",
        ),
        Column::json(
            "value",
            "",
            Shape::Any,
            "The value; of a tensor its id, the id of its storage, the offset in it, the number of elements, their size in bytes, and the device.",
        ),
    ],
};

/// The query `nodes`.
pub(crate) const NODES: Query = Query::new(
    "nodes",
    "Operators of an execution trace, with their tensors and arguments",
    COLUMNS,
    |trace, request| Ok(request.limited(node_rows(trace))),
)
.examples(&["execution_trace.json", "execution_trace.json --format json -o nodes.json"])
.options::<ListOptions>()
.hint("this is no execution trace, as PyTorch's ExecutionTraceObserver writes it");

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::int("id", "Id", "The id of the node."),
    Column::int("parent", "Parent", "The id of the node around it.").nullable(),
    Column::text("name", "Name", "The name of the operator or annotation."),
    Column::int("rf_id", "", "The number of the record function: `Record function id` of the event.")
        .nullable(),
    Column::int("seq_id", "Seq", "The sequence number of autograd; -1 for none.").nullable(),
    Column::int("tid", "Thread", "The number of the thread.").nullable(),
    Column::int("fw_parent", "", "The id of the forward node of a backward node; 0 for none.").nullable(),
    Column::text("types", "Arguments", "The types of the arguments."),
    Column::text("op_schema", "", "The name of the operator with the types of arguments and results."),
    Column::text(
        "module_hierarchy",
        "",
        "The modules around the operator, such as TOP(Net)::forward.fc(Linear)::forward.; null if the file has none, as PyTorch's.",
    )
    .nullable(),
    Column::json("inputs", "", Shape::Records(&ARGUMENT), "The arguments."),
    Column::json("outputs", "", Shape::Records(&ARGUMENT), "The results."),
];

/// Returns the nodes of an execution trace in the order of the file; none for other traces.
pub(crate) fn node_rows(trace: &Trace) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for node in nodes_of(&trace.table).into_iter().flatten() {
        let [_, _, types, _] = node.lists(Side::Inputs);
        let types: Vec<&str> = types.iter().filter_map(Json::as_str).collect();
        rows.push(vec![
            node.int("id").unwrap_or(0).into(),
            node.parent().into(),
            node.name().into(),
            node.rf_id().into(),
            node.int("seq_id").into(),
            node.thread().into(),
            node.int("fw_parent").into(),
            types.join(", ").into(),
            node.schema().into(),
            node.modules().into(),
            arguments(&node, Side::Inputs),
            arguments(&node, Side::Outputs),
        ]);
    }
    rows
}

/// Returns the arguments or results of a node, each with its type, shape, strides and value.
pub(crate) fn arguments(node: &Node<'_>, side: Side) -> Cell {
    let [values, shapes, types, strides] = node.lists(side);
    let count = values.len().max(types.len());
    let argument = |at: usize| {
        let kind: String = types.get(at).and_then(Json::as_str).unwrap_or("").into();
        let json = |list: &[Json]| Cell::Json(list.get(at).cloned().unwrap_or(Json::Null));
        // A damaged file can have anything for a shape.
        let shape = shapes.get(at).filter(|shape| shape.is_array()).cloned().unwrap_or(Json::Null);
        ARGUMENT.object(vec![kind.into(), Cell::Json(shape), json(&strides), json(&values)])
    };
    Cell::Json((0..count).map(argument).collect())
}
