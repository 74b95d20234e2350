//! Writes PyTorch execution traces: the tree of operators with their inputs, for replay and simulation. The format is
//! Chakra's schema, as `torch.profiler.ExecutionTraceObserver` writes it.
//!
//! Traces of PyTorch do not identify tensors: their ids, storages and offsets are 0. Recordings of Kinetoscope can have
//! `Tensor ids`, and events `[outputs]` with the outputs of the operator around them.
//!
//! With the execution trace of an observer joined to a trace, inputs, outputs and numbers are those of its nodes. Ids of
//! nodes and `fw_parent`, which is one, are always those of the written file.
//!
//! Operators in modules have the attribute `module_hierarchy`, which is the `Module Hierarchy` of the event. PyTorch's
//! execution traces do not have the modules.
//!
//! If an observer ran, operators have a `Record function id` that is not 0. Only they are nodes then.

mod values;

use self::values::Values;
use crate::base::index::Index;
use crate::base::rows::quote;
use crate::trace::Trace;
use crate::trace::execution::{ExecutionNode, MODULES, Side};
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use crate::trace::tree::Position;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;
use serde_json::Value;

/// The version of the schema.
const SCHEMA: &str = "1.1.1-chakra.0.0.4";

/// The id of the root node, that of the process.
const PROCESS: u32 = 1;

/// The number of PyTorch's record scope `USER_SCOPE`, which nodes that are not operators have.
const USER_SCOPE: i64 = 7;

/// Formats the operators and annotations of a trace as an execution trace.
pub fn execution_trace(trace: &Trace) -> String {
    written(trace, ExecutionTraceWriter::new(trace))
}

/// Formats those that an observer saw as an execution trace.
pub fn observed_trace(trace: &Trace) -> String {
    written(trace, ExecutionTraceWriter::observed(trace))
}

fn written(trace: &Trace, mut writer: ExecutionTraceWriter) -> String {
    let mut out = String::new();
    while writer.next(trace, &mut out, usize::MAX) {}
    out
}

/// Writes an execution trace node by node.
#[derive(Debug)]
pub struct ExecutionTraceWriter {
    /// The node id of each row; 0 for none.
    nodes: Vec<u32>,
    /// The index of each thread, by its track.
    numbers: Index,
    /// The node id of each thread, by its index.
    threads: Vec<u32>,
    /// The event with the outputs of each row.
    outputs: Index,
    /// The index of the next position in the tree.
    next: usize,
}

impl ExecutionTraceWriter {
    /// Creates a writer of the operators and annotations of a trace, or of those that an observer saw if there are any.
    /// The node of a thread precedes its first one.
    pub fn new(trace: &Trace) -> Self {
        let is_observed = trace.tree.rows().iter().any(|&row| function_id(trace, row) != 0);
        ExecutionTraceWriter::with(trace, is_observed)
    }

    /// Creates a writer of the operators and annotations that an observer saw.
    pub fn observed(trace: &Trace) -> Self {
        ExecutionTraceWriter::with(trace, true)
    }

    fn with(trace: &Trace, is_observed: bool) -> Self {
        let table = &trace.table;
        let is_node = |row| is_node(trace, row) && (!is_observed || function_id(trace, row) != 0);
        let (mut nodes, mut numbers) = (vec![0; table.len()], Index::default());
        let mut threads: Vec<u32> = Vec::new();
        let mut last = PROCESS;
        for &row in trace.tree.rows().iter().filter(|&&row| is_node(row)) {
            let number = numbers.get_or_insert((i64::from(table.track_id(row).0), 0), threads.len() as u32);
            if number as usize == threads.len() {
                last += 1;
                threads.push(last);
            }
            last += 1;
            nodes[row.index()] = last;
        }
        let outputs = outputs(trace, &nodes);
        ExecutionTraceWriter { nodes, numbers, threads, outputs, next: 0 }
    }

    /// Appends nodes to `out` until it holds about `limit` bytes. Returns whether more nodes follow. `trace` must be
    /// the trace that the writer was created for.
    pub fn next(&mut self, trace: &Trace, out: &mut String, limit: usize) -> bool {
        if self.next == 0 {
            head(trace, out);
        }
        let tree = &trace.tree;
        while self.next < tree.len() {
            let at = Position::new(self.next);
            if self.nodes[tree.row(at).index()] != 0 {
                self.node(trace, at, out);
            }
            self.next += 1;
            if out.len() >= limit {
                break;
            }
        }
        let is_more = self.next < tree.len();
        if !is_more {
            out.push_str("]}");
        }
        is_more
    }

    /// Writes the node of a position. The first node of a thread is preceded by that of the thread.
    fn node(&self, trace: &Trace, at: Position, out: &mut String) {
        let (table, row) = (&trace.table, trace.tree.row(at));
        let id = self.nodes[row.index()];
        let number = self.numbers.get((i64::from(table.track_id(row).0), 0)).unwrap_or(0);
        let thread = self.threads[number as usize];
        let tid = number + 1;
        if thread == id - 1 {
            let attributes = Attributes { tid, ..Attributes::default() };
            let name = "[pytorch|profiler|execution_trace|thread]";
            attributes.write(PROCESS, thread, &Default::default(), Texts::new(name), out);
        }
        let int = |key| table.int(row, key);
        let fw_tid = int(Key::FwdThreadId).unwrap_or(0);
        let forward = trace.links.forward(row).filter(|_| fw_tid > 0);
        let is_annotation = table.category(row) == Category::UserAnnotation;
        let attributes = Attributes {
            rf_id: Some(function_id(trace, row)).filter(|&id| id != 0).or(int(Key::ExternalId)).unwrap_or(0),
            fw_parent: forward.map_or(0, |forward| self.nodes[forward.index()]),
            seq_id: int(Key::SequenceNumber).unwrap_or(-1),
            scope: if is_annotation { USER_SCOPE } else { i64::from(fw_tid > 0) },
            tid,
            fw_tid,
        };
        let above = self.above(trace, at).unwrap_or(thread);
        let modules = table.field(row, Key::ModuleHierarchy).and_then(|value| value.as_str());
        let texts = Texts { modules, ..Texts::new(table.name(row)) };
        if let Some(node) = trace.node(row) {
            let sides = [Side::Inputs, Side::Outputs].map(|side| Values::from_node(&node, side));
            let (schema, listed) = (node.schema(), node.modules());
            let texts = Texts { schema: &schema, modules: modules.or(listed.as_deref()), ..texts };
            return attributes.joined(&node).write(above, id, &sides, texts, out);
        }
        let outputs = self.outputs.get((row.index() as i64, 0)).and_then(|row| table.row(row as usize));
        let sides = [
            Values::from_event(trace, row, values::INPUTS),
            outputs.map(|row| Values::from_event(trace, row, values::OUTPUTS)).unwrap_or_default(),
        ];
        attributes.write(above, id, &sides, texts, out);
    }

    /// The node of the innermost ancestor that has one.
    fn above(&self, trace: &Trace, at: Position) -> Option<u32> {
        let tree = &trace.tree;
        tree.ancestors(at).map(|at| self.nodes[tree.row(at).index()]).find(|&node| node != 0)
    }
}

fn is_node(trace: &Trace, row: Row) -> bool {
    matches!(trace.table.category(row), Category::CpuOp | Category::UserAnnotation)
}

/// The id of the node that an observer assigned; 0 for none.
fn function_id(trace: &Trace, row: Row) -> i64 {
    trace.table.int(row, Key::RecordFunctionId).unwrap_or(0)
}

/// The last event `[outputs]` in each operator, by the row of the operator.
fn outputs(trace: &Trace, nodes: &[u32]) -> Index {
    let (table, tree) = (&trace.table, &trace.tree);
    let mut outputs = Index::default();
    let Some(name) = table.names.find("[outputs]") else { return outputs };
    for event in table.rows().filter(|&row| table.name_id(row) == name && table.ph(row) == b'i') {
        let innermost = tree.open_at(table, table.track_id(event), table.ts(event));
        let enclosing = innermost.into_iter().flat_map(|at| core::iter::once(at).chain(tree.ancestors(at)));
        let mut operators =
            enclosing.map(|at| tree.row(at)).filter(|&row| table.category(row) == Category::CpuOp);
        if let Some(row) = operators.next().filter(|row| nodes[row.index()] != 0) {
            outputs.set((row.index() as i64, 0), event.index() as u32);
        }
    }
    outputs
}

/// Writes the members before the nodes, and the node of the process.
fn head(trace: &Trace, out: &mut String) {
    let table = &trace.table;
    let window = table.rows_of(Category::Window).next();
    let finish = window.map_or(trace.start_ns, |row| table.end(row));
    let pid = table.metadata.value("pid").unwrap_or(Value::from(0));
    let time = table.base_ns().saturating_add(trace.start_ns);
    let (start, finish) = (trace.start_ns / 1000, finish / 1000);
    // Readers recognise the format by the schema, which must come first.
    let _ = write!(
        out,
        "{{\"schema\":\"{SCHEMA}\",\"pid\":{pid},\"time\":\"{time}\",\"start_ts\":{start},\"finish_ts\":{finish},\"nodes\":["
    );
    let name = "[pytorch|profiler|execution_trace|process]";
    Attributes::default().write(PROCESS, PROCESS, &Default::default(), Texts::new(name), out);
}

/// The attributes that no trace has.
const UNKNOWN: &str = ",{\"name\":\"kernel_backend\",\"type\":\"string\",\"value\":\"\"},\
    {\"name\":\"kernel_file\",\"type\":\"string\",\"value\":\"\"},\
    {\"name\":\"tensor_range\",\"type\":\"string\",\"value\":\"\"}";

/// The texts of a node.
#[derive(Clone, Copy, Debug)]
struct Texts<'a> {
    name: &'a str,
    schema: &'a str,
    modules: Option<&'a str>,
}

impl<'a> Texts<'a> {
    /// The texts of a node that has only a name.
    fn new(name: &'a str) -> Texts<'a> {
        Texts { name, schema: "", modules: None }
    }
}

/// The attributes of a node that are numbers.
#[derive(Clone, Copy, Debug)]
struct Attributes {
    rf_id: i64,
    fw_parent: u32,
    seq_id: i64,
    scope: i64,
    tid: u32,
    fw_tid: i64,
}

impl Default for Attributes {
    fn default() -> Self {
        Attributes { rf_id: 0, fw_parent: 0, seq_id: -1, scope: USER_SCOPE, tid: 0, fw_tid: 0 }
    }
}

impl Attributes {
    /// The attributes with the numbers of a node.
    fn joined(self, node: &ExecutionNode<'_>) -> Attributes {
        Attributes {
            seq_id: node.int("seq_id").unwrap_or(self.seq_id),
            scope: node.int("scope").unwrap_or(self.scope),
            fw_tid: node.int("fw_tid").unwrap_or(self.fw_tid),
            ..self
        }
    }

    /// Writes a node with these attributes and the parent `above`.
    fn write(self, above: u32, id: u32, [inputs, outputs]: &[Values; 2], texts: Texts<'_>, out: &mut String) {
        let attributes = [
            ("rf_id", "uint64", self.rf_id),
            ("fw_parent", "uint64", i64::from(self.fw_parent)),
            ("seq_id", "int64", self.seq_id),
            ("scope", "uint64", self.scope),
            ("tid", "uint64", i64::from(self.tid)),
            ("fw_tid", "uint64", self.fw_tid),
        ];
        let comma = if id == PROCESS { "" } else { "," };
        let _ = write!(out, "{comma}{{\"attrs\":[");
        for (name, kind, value) in attributes {
            let _ = write!(out, "{{\"name\":\"{name}\",\"type\":\"{kind}\",\"value\":{value}}},");
        }
        let [name, schema] = [texts.name, texts.schema].map(quote);
        let _ = write!(out, "{{\"name\":\"op_schema\",\"type\":\"string\",\"value\":{schema}}}{UNKNOWN}");
        if let Some(modules) = texts.modules.map(quote) {
            let _ = write!(out, ",{{\"name\":\"{MODULES}\",\"type\":\"string\",\"value\":{modules}}}");
        }
        let _ = write!(
            out,
            "],\"ctrl_deps\":{above},\"id\":{id},\
             \"inputs\":{inputs},\"name\":{name},\"outputs\":{outputs}}}"
        );
    }
}
