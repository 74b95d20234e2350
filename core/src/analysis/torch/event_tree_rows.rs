//! PyTorch's event tree as rows.

use super::event_tree::{EventNode, EventTree};
use crate::analysis::query::Query;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::base::rows::{Column, Rows, Shape, columns};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::tracks::plain;
use serde_json::Value;

words! {
    "EventTreeTag"
    /// PyTorch's `_EventType` of a node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Tag {
        /// An operator or a range.
        TorchOp = "TorchOp",
        /// An allocation.
        Allocation = "Allocation",
        /// A failed allocation.
        OutOfMemory = "OutOfMemory",
        /// A call of a Python function.
        PyCall = "PyCall",
        /// A call of a function that is written in C.
        PyCCall = "PyCCall",
        /// A run of Python's garbage collector.
        PythonGc = "PythonGC",
        /// A call of the device's runtime or driver, the work of a device, or the profiler's overhead.
        Kineto = "Kineto",
    }
}

/// The query `event-tree`.
pub const EVENT_TREE: Query = Query::new(
    "event-tree",
    "Operators, Python calls and allocations as PyTorch nests them",
    COLUMNS,
    |trace, request| Ok(request.limited(event_tree_rows(trace))),
)
.examples(&["run.json --row-limit 100", "run.json --format json -o tree.json"])
.options::<ListOptions>()
.questions(&[Question::Operators]);

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(trace: &Trace, tree: &EventTree, node: EventNode) {
        let table = &trace.table;
        let (start, end) = tree.time(table, node);
        let children = tree.children.get(node).iter();
    } [
        Column::int("idx", "#", "The position of the node.") => node.index(),
        Column::text("name", "Name", "The name of the node, without the overload name.") =>
            tree.name(table, node),
        Column::word("tag", "Tag", &Tag::VOCABULARY, "PyTorch's type of the event.") =>
            tag(trace, tree, node).as_str(),
        Column::ns("start_ns", "Start", "The start of the node, after the start of the recording.") =>
            start.saturating_sub(trace.start_ns),
        Column::ns("duration_ns", "Duration", "The duration of the node.") => end.saturating_sub(start),
        Column::text("thread", "Thread", "The thread.") =>
            plain(&table.names, table.track(tree.row(node)).tid),
        Column::int("parent", "Parent", "The position of the parent.").nullable() =>
            tree.parent(node).map(EventNode::index),
        Column::json("children", "", Shape::Numbers, "The positions of the children.") =>
            children.map(|child| child.index()).collect::<Value>(),
    ]
}

/// Returns the nodes in the order of their starts.
pub fn event_tree_rows(trace: &Trace) -> Rows {
    let tree = EventTree::new(trace);
    Rows::from_cells(COLUMNS, tree.nodes().map(|node| row(trace, &tree, node)))
}

fn tag(trace: &Trace, tree: &EventTree, node: EventNode) -> Tag {
    let row = tree.row(node);
    match (trace.table.category(row), trace.table.name(row)) {
        (Category::CpuInstant, "[OutOfMemory]") => Tag::OutOfMemory,
        (Category::CpuInstant, _) => Tag::Allocation,
        (Category::PythonFunction, "Python GC") => Tag::PythonGc,
        (Category::PythonFunction, name) if name.starts_with("<built-in") => Tag::PyCCall,
        (Category::PythonFunction, _) => Tag::PyCall,
        (Category::CpuOp | Category::UserAnnotation, _) => Tag::TorchOp,
        _ => Tag::Kineto,
    }
}
