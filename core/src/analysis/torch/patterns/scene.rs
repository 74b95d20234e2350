//! What a pattern sees: the event tree, with what it asks of a node.

use crate::analysis::torch::event_tree::{EventTree, Node};
use crate::analysis::torch::frames::is_torchs;
use crate::handle::collect;
use crate::table::events::Row;
use crate::table::layout::Key;
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// What a trace must have been recorded with for a pattern to be looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// torch's `record_shapes`.
    pub shapes: bool,
    /// torch's `with_stack`.
    pub stack: bool,
}

/// A trace as patterns see it.
pub struct Scene<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// torch's event tree.
    pub tree: EventTree,
    /// The roots of every track, by track.
    roots: Vec<Vec<Node>>,
    /// Of each node, the device time of everything at and below it; empty without device work.
    device: Vec<i64>,
}

impl<'a> Scene<'a> {
    /// The scene of a trace.
    pub fn new(trace: &'a Trace) -> Scene<'a> {
        let tree = EventTree::new(trace);
        let mut roots = vec![Vec::new(); trace.table.tracks.all().len()];
        for &root in tree.children.roots() {
            roots[trace.table.track_id(tree.row(root)).0 as usize].push(root);
        }
        let device = device_times(trace, &tree);
        Scene { trace, tree, roots, device }
    }

    /// Whether the trace was recorded with all that is needed.
    pub fn has(&self, needs: Needs) -> bool {
        let metadata = &self.trace.table.metadata;
        let has = |key: &str| metadata.flag(key) == Some(true);
        (!needs.shapes || has("record_shapes")) && (!needs.stack || has("with_stack"))
    }

    /// The row of a node.
    pub fn row(&self, node: Node) -> Row {
        self.tree.row(node)
    }

    /// The name of a node.
    pub fn name(&self, node: Node) -> &str {
        self.trace.table.name(self.row(node))
    }

    /// When a node began, in ns after the start of the recording.
    pub fn start_ns(&self, node: Node) -> i64 {
        self.trace.table.ts(self.row(node)).saturating_sub(self.trace.start_ns)
    }

    /// The duration of a node, in ns.
    pub fn duration_ns(&self, node: Node) -> i64 {
        self.trace.table.dur(self.row(node)).max(0)
    }

    /// The sum of the device work that a node and all below it launched, in ns.
    pub fn device_ns(&self, node: Node) -> i64 {
        self.device.get(node.index()).copied().unwrap_or(0)
    }

    /// The node's siblings: those before it and those after it. Roots have the roots of their track.
    pub fn siblings(&self, node: Node) -> (&[Node], &[Node]) {
        let list = match self.tree.parent(node) {
            Some(parent) => self.tree.children.of(parent),
            None => &self.roots[self.trace.table.track_id(self.row(node)).0 as usize],
        };
        // Nodes stand in ascending order in every list.
        let at = list.partition_point(|&other| other < node);
        (&list[..at], &list[at + 1..])
    }

    /// The types of an operator's inputs, as the trace names them; nothing for what is no tensor.
    pub fn input_types(&self, node: Node) -> Vec<Option<String>> {
        let is_tensor = |t: &&str| !matches!(*t, "" | "Scalar" | "ScalarList" | "TensorList");
        let types = self.list(node, Key::InputType);
        types.iter().map(|t| t.as_str().filter(is_tensor).map(ToOwned::to_owned)).collect()
    }

    /// The sizes of an operator's inputs; empty for what is no tensor.
    pub fn input_dims(&self, node: Node) -> Vec<Vec<i64>> {
        let sizes = |value: &Value| match value {
            Value::Array(sizes) => sizes.iter().filter_map(Value::as_i64).collect(),
            _ => Vec::new(),
        };
        self.list(node, Key::InputDims).iter().map(sizes).collect()
    }

    fn list(&self, node: Node, key: Key) -> Vec<Value> {
        let text = self.trace.table.field(self.row(node), key).and_then(|v| v.as_json());
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Where a node is called from: the innermost Python function at or above it that is not torch's own, or of these the
    /// innermost, as `path(line of its def): name`.
    pub fn place(&self, node: Node) -> Option<&str> {
        let is_frame = |name: &&str| name.contains(".py(");
        let frames = || self.tree.and_above(node).map(|node| self.name(node)).filter(is_frame);
        frames().find(|frame| !is_torchs(frame)).or_else(|| frames().next())
    }
}

fn device_times(trace: &Trace, tree: &EventTree) -> Vec<i64> {
    if trace.links.op_of.is_empty() {
        return Vec::new();
    }
    let mut by_row = vec![0i64; trace.table.len()];
    for &(device, op) in &trace.links.op_of {
        by_row[op.index()] = by_row[op.index()].saturating_add(trace.table.dur(device).max(0));
    }
    let mut device: Vec<i64> = collect(tree.len(), |node| by_row[tree.row(node).index()]);
    // Children come after their parents, so going backwards completes a child before it is added.
    for node in tree.nodes().rev() {
        if let Some(parent) = tree.parent(node) {
            device[parent.index()] = device[parent.index()].saturating_add(device[node.index()]);
        }
    }
    device
}
