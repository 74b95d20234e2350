//! The nodes of execution traces as rows, and their arguments.

use crate::analysis::query::Query;
use crate::analysis::query::options::ListOptions;
use crate::base::rows::{Column, Rows, Shape, columns, record};
use crate::trace::Trace;
use crate::trace::execution::{ExecutionNode, Side, nodes_of};
use alloc::vec::Vec;
use serde_json::Value as Json;

record! {
    /// An argument or a result.
    pub(crate) static ARGUMENT = "Argument": fn argument(kind: &str, shape: Json, stride: Json, value: Json) [
        Column::text("type", "", "The type, such as Tensor(float), Int or GenericList[Int].") => kind,
        Column::json("shape", "", Shape::Values, "The sizes of a tensor, or of the tensors of a list; null if the file has none.") =>
            shape,
        Column::json("stride", "", Shape::Any, "The strides of a tensor, in elements, or those of the tensors of a list; null before schema 1.1.1.") =>
            stride,
        Column::json("value", "", Shape::Any, "The value; of a tensor its id, the id of its storage, the offset in it, the number of elements, their size in bytes, and the device.") =>
            value,
    ]
}

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

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(node: &ExecutionNode<'_>) {
        let [_, _, types, _] = node.lists(Side::Inputs);
        let types = types.iter().filter_map(Json::as_str).collect::<Vec<_>>();
    } [
        Column::int("id", "Id", "The id of the node.") => node.int("id").unwrap_or(0),
        Column::int("parent", "Parent", "The id of the node around it.").nullable() => node.parent(),
        Column::text("name", "Name", "The name of the operator or annotation.") => node.name(),
        Column::int("rf_id", "", "The number of the record function: `Record function id` of the event.")
            .nullable() => node.rf_id(),
        Column::int("seq_id", "Seq", "The sequence number of autograd; -1 for none.").nullable() =>
            node.int("seq_id"),
        Column::int("tid", "Thread", "The number of the thread.").nullable() => node.thread(),
        Column::int("fw_parent", "", "The id of the forward node of a backward node; 0 for none.")
            .nullable() => node.int("fw_parent"),
        Column::text("types", "Arguments", "The types of the arguments.") => types.join(", "),
        Column::text("op_schema", "", "The name of the operator with the types of arguments and results.") =>
            node.schema(),
        Column::text("module_hierarchy", "", "The modules around the operator, such as TOP(Net)::forward.fc(Linear)::forward.; null if the file has none, as PyTorch's.")
            .nullable() => node.modules(),
        Column::json("inputs", "", Shape::Records(&ARGUMENT), "The arguments.") =>
            arguments(node, Side::Inputs),
        Column::json("outputs", "", Shape::Records(&ARGUMENT), "The results.") =>
            arguments(node, Side::Outputs),
    ]
}

/// Returns the nodes of an execution trace in the order of the file; none for other traces.
pub(crate) fn node_rows(trace: &Trace) -> Rows {
    Rows::from_cells(COLUMNS, nodes_of(&trace.table).into_iter().flatten().map(|node| row(&node)))
}

/// Returns the arguments or results of a node, each with its type, shape, strides and value.
pub(crate) fn arguments(node: &ExecutionNode<'_>, side: Side) -> Json {
    let [values, shapes, types, strides] = node.lists(side);
    let count = values.len().max(types.len());
    let argument_at = |at: usize| {
        let kind = types.get(at).and_then(Json::as_str).unwrap_or("");
        let json = |list: &[Json]| list.get(at).cloned().unwrap_or(Json::Null);
        // A damaged file can have anything for a shape.
        let shape = shapes.get(at).filter(|shape| shape.is_array()).cloned().unwrap_or(Json::Null);
        argument(kind, shape, json(&strides), json(&values))
    };
    (0..count).map(argument_at).collect()
}
