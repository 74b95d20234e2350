//! The input of patterns: the event tree, and queries on its nodes.

use crate::analysis::torch::event_tree::{EventNode, EventTree};
use crate::base::handle::collect;
use crate::base::names::NameId;
use crate::trace::Trace;
use crate::trace::provenance::traceback::is_torch_frame;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::OnceCell;
use serde_json::Value;

/// The settings that a trace must have been recorded with for a pattern to be detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// PyTorch's `record_shapes`.
    pub shapes: bool,
    /// PyTorch's `with_stack`.
    pub stack: bool,
}

/// A trace, prepared for patterns.
pub struct Scene<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// PyTorch's event tree.
    pub tree: EventTree,
    /// Every node with its name, in depth-first order.
    order: Vec<(EventNode, NameId)>,
    /// The roots of every track, by track.
    roots: Vec<Vec<EventNode>>,
    /// The device time of each node and its descendants, in ns; empty without device work.
    device: Vec<i64>,
    /// What is around each node, if a place was requested.
    surroundings: OnceCell<Vec<Surroundings>>,
}

impl<'a> Scene<'a> {
    /// Prepares a trace.
    pub fn new(trace: &'a Trace) -> Scene<'a> {
        let tree = EventTree::from_program(trace);
        let mut roots = vec![Vec::new(); trace.table.tracks.all().len()];
        for &root in tree.children.roots() {
            roots[trace.table.track_id(tree.row(root)).0 as usize].push(root);
        }
        let device = device_times(trace, &tree);
        let order = tree.children.depth_first().into_iter();
        let order = order.map(|node| (node, trace.table.name_id(tree.row(node)))).collect();
        Scene { trace, tree, order, roots, device, surroundings: OnceCell::new() }
    }

    /// Returns whether the trace was recorded with all needed settings.
    pub fn has(&self, needs: Needs) -> bool {
        let metadata = &self.trace.table.metadata;
        let has = |key: &str| metadata.flag(key) == Some(true);
        (!needs.shapes || has("record_shapes")) && (!needs.stack || has("with_stack"))
    }

    /// Returns the row of a node.
    pub fn row(&self, node: EventNode) -> Row {
        self.tree.row(node)
    }

    /// Returns the name of a node.
    pub fn name(&self, node: EventNode) -> &str {
        self.tree.name(&self.trace.table, node)
    }

    /// Returns the nodes whose name fits, in depth-first order.
    pub fn named(&self, fits: impl Fn(&str) -> bool) -> Vec<EventNode> {
        let names = self.tree.names_that(&self.trace.table, &fits);
        let named = self.order.iter().filter(|(_, name)| names.has(*name)).map(|(node, _)| *node);
        named.filter(|&node| fits(self.name(node))).collect()
    }

    /// Returns the start of a node, in ns after the start of the recording.
    pub fn start_ns(&self, node: EventNode) -> i64 {
        self.trace.table.ts(self.row(node)).saturating_sub(self.trace.start_ns)
    }

    /// Returns the duration of a node, in ns.
    pub fn duration_ns(&self, node: EventNode) -> i64 {
        self.trace.table.dur(self.row(node)).max(0)
    }

    /// Returns the sum of the device work that a node and its descendants launched, in ns.
    pub fn device_ns(&self, node: EventNode) -> i64 {
        self.device.get(node.index()).copied().unwrap_or(0)
    }

    /// Returns the siblings before the node and those after it. The siblings of a root are the roots of its track.
    pub fn siblings(&self, node: EventNode) -> (&[EventNode], &[EventNode]) {
        let list = match self.tree.parent(node) {
            Some(parent) => self.tree.children.get(parent),
            None => &self.roots[self.trace.table.track_id(self.row(node)).0 as usize],
        };
        // Every list is in ascending order.
        let at = list.partition_point(|&other| other < node);
        (&list[..at], &list[at + 1..])
    }

    /// Returns the types of an operator's inputs, as the trace names them; `None` for non-tensors.
    pub fn input_types(&self, node: EventNode) -> Vec<Option<String>> {
        let is_tensor = |t: &&str| !matches!(*t, "" | "Scalar" | "ScalarList" | "TensorList");
        let types = self.list(node, Key::InputType);
        types.iter().map(|t| t.as_str().filter(is_tensor).map(ToOwned::to_owned)).collect()
    }

    /// Returns the sizes of an operator's inputs; empty for non-tensors.
    pub fn input_dims(&self, node: EventNode) -> Vec<Vec<i64>> {
        let sizes = |value: &Value| match value {
            Value::Array(sizes) => sizes.iter().filter_map(Value::as_i64).collect(),
            _ => Vec::new(),
        };
        self.list(node, Key::InputDims).iter().map(sizes).collect()
    }

    fn list(&self, node: EventNode, key: Key) -> Vec<Value> {
        let text = self.trace.table.field(self.row(node), key).and_then(|v| v.as_json());
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Returns the source location of a node: the innermost call at or above it that is not in PyTorch's own files, as
    /// `path:line`. Traces of PyTorch before 2.14 do not have the lines of calls. For them it is the innermost Python
    /// function that is not PyTorch's own, else the innermost one, as `path(line of its def): name`.
    pub fn place(&self, node: EventNode) -> Option<&str> {
        let surroundings = self.surroundings.get_or_init(|| self.surroundings())[node.index()];
        let caller = surroundings.caller.and_then(|node| self.caller(node));
        caller.or_else(|| surroundings.own_frame.or(surroundings.frame).map(|node| self.name(node)))
    }

    fn caller(&self, node: EventNode) -> Option<&str> {
        self.trace.table.field(self.row(node), Key::CallFrom)?.as_str()
    }

    /// Finds what is around each node. Children come after their parents.
    fn surroundings(&self) -> Vec<Surroundings> {
        let table = &self.trace.table;
        let [frames, torch] =
            [|name: &str| name.contains(".py("), is_torch_frame].map(|fits| table.names.that(fits));
        let mut all: Vec<Surroundings> = Vec::with_capacity(self.tree.len());
        for node in self.tree.nodes() {
            let mut surroundings =
                self.tree.parent(node).map_or_else(Surroundings::default, |above| all[above.index()]);
            if self.caller(node).is_some_and(|caller| !is_torch_frame(caller)) {
                surroundings.caller = Some(node);
            }
            let name = table.name_id(self.row(node));
            if frames.has(name) {
                surroundings.frame = Some(node);
                surroundings.own_frame = if torch.has(name) { surroundings.own_frame } else { Some(node) };
            }
            all.push(surroundings);
        }
        all
    }
}

/// The innermost nodes at or above a node: a call from a file that is not PyTorch's, a Python function, and one that is not
/// PyTorch's.
#[derive(Clone, Copy, Debug, Default)]
struct Surroundings {
    caller: Option<EventNode>,
    frame: Option<EventNode>,
    own_frame: Option<EventNode>,
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
    // Children come after their parents, so in reverse order each sum is complete before it is added to the parent's.
    for node in tree.nodes().rev() {
        if let Some(parent) = tree.parent(node) {
            device[parent.index()] = device[parent.index()].saturating_add(device[node.index()]);
        }
    }
    device
}
