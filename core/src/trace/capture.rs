//! Captures of CUDA and HIP graphs: the calls that were recorded while a stream was captured, in the order in which they became
//! nodes of the graph.
//!
//! A call states the kernel that it launches (HIP), or the node that it becomes. What a call of another runtime launches is not
//! known.

use crate::base::demangle::demangled;
use crate::base::names::{NameId, Names};
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::link::is_launch_name;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::FieldPlace;
use crate::trace::tree::Position;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// A call that became a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) call: Row,
    /// What it launches: the name of the kernel, or that of copies or memsets.
    pub(crate) name: NameId,
    /// The operator around the call.
    pub(crate) op: Option<Row>,
    /// The id of the node in the graph, if the call states it.
    pub(crate) id: Option<i64>,
    /// The number of its graph.
    graph: u32,
}

/// The captures of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captures {
    pub(crate) nodes: Vec<Node>,
    /// The nodes of each graph.
    pub(crate) graphs: Vec<Range<usize>>,
    /// The call that began each capture, in the order in which the calls were found.
    begins: Vec<Row>,
}

/// The argument with the id of a node of a graph.
pub(crate) const NODE_ID: &str = "graph node id";

/// The names of copies and of memsets, which are the same whatever they copy.
const COPY: &str = "Memcpy";
const SET: &str = "Memset";

/// The name by which a kernel, a copy or a memset is found in a capture.
pub(crate) fn name_of_work(table: &Table, work: Row) -> Cow<'_, str> {
    match table.category(work) {
        Category::Memcpy => COPY.into(),
        Category::Memset => SET.into(),
        _ => name_of_kernel(table.name(work)),
    }
}

fn name_of_kernel(name: &str) -> Cow<'_, str> {
    let name = name.strip_suffix(".kd").unwrap_or(name);
    if name.starts_with("_Z") { demangled(name).into() } else { name.into() }
}

/// What a call launches, as far as it states that.
fn launched(table: &Table, call: Row) -> Option<Cow<'_, str>> {
    let text = |key| table.field_named(call, FieldPlace::Args, key).and_then(|value| value.as_str());
    let kernel = text("kernel").or_else(|| text("kernel name")).filter(|name| !name.is_empty());
    kernel.map(name_of_kernel).or_else(|| {
        let name = table.name(call);
        let name = name.strip_prefix("cuda").or_else(|| name.strip_prefix("hip")).unwrap_or(name);
        let name = name.strip_prefix("cu").unwrap_or(name);
        match () {
            () if name.starts_with("Memcpy") => Some(COPY.into()),
            () if name.starts_with("Memset") => Some(SET.into()),
            () => None,
        }
    })
}

impl Captures {
    /// Finds the captures of a trace. The names of nodes are interned in `names`.
    pub(crate) fn new(trace: &Trace, names: &mut Names) -> Captures {
        let table = &trace.table;
        let of = |part: &'static str| table.names.that(move |name| name.contains(part));
        let (begins, ends) = (of("StreamBeginCapture"), of("StreamEndCapture"));
        let launches = table.names.that(is_launch_name);
        let is_wanted = |row: &Row| {
            let name = table.name_id(*row);
            table.category(*row).is_launch_call()
                && table.is_span(*row)
                && (begins.has(name) || ends.has(name) || launches.has(name))
        };
        let mut calls: Vec<Row> = table.rows().filter(is_wanted).collect();
        sort_by_key(&mut calls, |&row| (table.ts(row), i64::from(row)));
        sort_by_key(&mut calls, |&row| (i64::from(table.track_id(row).0), 0));
        let mut found = Captures::default();
        if !calls.iter().any(|&row| begins.has(table.name_id(row))) {
            return found;
        }
        let operators = operators(trace);
        for thread in calls.chunk_by(|&a, &b| table.track_id(a) == table.track_id(b)) {
            let mut first = None;
            for &call in thread {
                let name = table.name_id(call);
                if begins.has(name) {
                    first = Some(found.nodes.len());
                    found.begins.push(call);
                } else if ends.has(name) {
                    let nodes = first.take().map(|first| first..found.nodes.len());
                    found.graphs.extend(nodes.filter(|nodes| !nodes.is_empty()));
                } else if first.is_some() {
                    let name = launched(table, call);
                    let id = table.field_named(call, FieldPlace::Args, NODE_ID).and_then(|v| v.as_i64());
                    let op = operators[call.index()];
                    let (name, graph) =
                        (names.intern(&name.unwrap_or_default()), found.begins.len() as u32 - 1);
                    found.nodes.push(Node { call, name, op, id, graph });
                }
            }
            found.nodes.truncate(first.unwrap_or(found.nodes.len()));
        }
        sort_by_key(&mut found.graphs, |graph| (table.ts(found.nodes[graph.start].call), 0));
        found
    }
}

/// The spans around the nodes of captures.
pub(crate) struct Paths<'a> {
    trace: &'a Trace,
    captures: &'a Captures,
    position: Vec<Option<Position>>,
}

impl<'a> Paths<'a> {
    pub(crate) fn new(trace: &'a Trace, captures: &'a Captures) -> Paths<'a> {
        let mut position = vec![None; trace.table.len()];
        trace.tree.positions().for_each(|at| position[trace.tree.row(at).index()] = Some(at));
        Paths { trace, captures, position }
    }

    /// The spans around the call of a node, the outermost first, without those that are around the beginning of the capture as
    /// well: what was captured.
    pub(crate) fn of(&self, node: usize) -> Vec<Row> {
        let tree = &self.trace.tree;
        let node = self.captures.nodes[node];
        let around = |call: Row| self.position[call.index()].into_iter().flat_map(|at| tree.ancestors(at));
        let outside: Vec<Position> = around(self.captures.begins[node.graph as usize]).collect();
        let inside = around(node.call).take_while(|at| !outside.contains(at));
        let mut path: Vec<Row> = inside.map(|at| tree.row(at)).collect();
        path.reverse();
        path
    }
}

/// The innermost operator around each row.
fn operators(trace: &Trace) -> Vec<Option<Row>> {
    let (table, tree) = (&trace.table, &trace.tree);
    let mut operators: Vec<Option<Row>> = vec![None; table.len()];
    for at in tree.positions() {
        let row = tree.row(at);
        let above = tree.parent(at).and_then(|above: Position| operators[tree.row(above).index()]);
        operators[row.index()] = if table.category(row) == Category::CpuOp { Some(row) } else { above };
    }
    operators
}
