//! Writes PyTorch execution traces: the tree of operators with their inputs, for replay and simulation. The format is
//! Chakra's schema, as `torch.profiler.ExecutionTraceObserver` writes it.
//!
//! Traces of PyTorch do not identify tensors: their ids, storages and offsets are 0. Recordings of Kinetoscope can have
//! `Tensor ids`, and events `[outputs]` with the outputs of the operator around them.
//!
//! With the execution trace of an observer joined to a trace, inputs and outputs are those of its nodes.
//!
//! If an observer ran, operators have a `Record function id` that is not 0. Only they are nodes then.

use crate::execution::{Node, Side};
use crate::index::Index;
use crate::rows::quote;
use crate::table::category::Category;
use crate::table::events::Row;
use crate::table::layout::{Key, Place};
use crate::trace::Trace;
use crate::tree::Position;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;
use serde_json::Value;

/// The version of the schema.
const SCHEMA: &str = "1.0.3-chakra.0.0.4";

/// The id of the root node, that of the process.
const PROCESS: u32 = 1;

/// The number of PyTorch's record scope `USER_SCOPE`, which nodes that are not operators have.
const USER_SCOPE: u8 = 7;

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
            let number = numbers.of((i64::from(table.track_id(row).0), 0), threads.len() as u32);
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
            attributes.write(PROCESS, thread, [NOTHING; 2], (name, ""), out);
        }
        let int = |key| table.int(row, key);
        let fw_tid = int(Key::FwdThreadId).unwrap_or(0);
        let forward = trace.links.forward(row).filter(|_| fw_tid > 0);
        let is_annotation = table.category(row) == Category::UserAnnotation;
        let attributes = Attributes {
            rf_id: Some(function_id(trace, row)).filter(|&id| id != 0).or(int(Key::ExternalId)).unwrap_or(0),
            fw_parent: forward.map_or(0, |forward| self.nodes[forward.index()]),
            seq_id: int(Key::SequenceNumber).unwrap_or(-1),
            scope: if is_annotation { USER_SCOPE } else { u8::from(fw_tid > 0) },
            tid,
            fw_tid,
        };
        let above = self.above(trace, at).unwrap_or(thread);
        if let Some(node) = trace.node(row) {
            let [inputs, outputs] = [Side::Inputs, Side::Outputs].map(|side| joined(&node, side));
            return attributes.write(above, id, [&inputs, &outputs], (table.name(row), &node.schema()), out);
        }
        let outputs = self.outputs.get((row.index() as i64, 0)).and_then(|row| table.row(row as usize));
        let outputs = outputs.map_or(Cow::Borrowed(NOTHING), |row| values(trace, row, OUTPUTS));
        attributes.write(above, id, [&values(trace, row, INPUTS), &outputs], (table.name(row), ""), out);
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
        let around = tree.open_at(table, table.track_id(event), table.ts(event));
        let around = around.into_iter().flat_map(|at| core::iter::once(at).chain(tree.ancestors(at)));
        let mut operators =
            around.map(|at| tree.row(at)).filter(|&row| table.category(row) == Category::CpuOp);
        if let Some(row) = operators.next().filter(|row| nodes[row.index()] != 0) {
            outputs.set((row.index() as i64, 0), event.index() as u32);
        }
    }
    outputs
}

/// Writes the members before the nodes, and the node of the process.
fn head(trace: &Trace, out: &mut String) {
    let table = &trace.table;
    let window = table.rows().find(|&row| table.category(row) == Category::Window);
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
    Attributes::default().write(PROCESS, PROCESS, [NOTHING; 2], (name, ""), out);
}

/// The attributes of a node.
#[derive(Clone, Copy, Debug)]
struct Attributes {
    rf_id: i64,
    fw_parent: u32,
    seq_id: i64,
    scope: u8,
    tid: u32,
    fw_tid: i64,
}

impl Default for Attributes {
    fn default() -> Self {
        Attributes { rf_id: 0, fw_parent: 0, seq_id: -1, scope: USER_SCOPE, tid: 0, fw_tid: 0 }
    }
}

/// Empty inputs or outputs.
const NOTHING: &str = "{\"shapes\":[],\"types\":[],\"values\":[]}";

impl Attributes {
    /// Writes a node with these attributes and the parent `above`.
    fn write(
        self,
        above: u32,
        id: u32,
        [inputs, outputs]: [&str; 2],
        (name, schema): (&str, &str),
        out: &mut String,
    ) {
        let attributes = [
            ("rf_id", "uint64", self.rf_id),
            ("fw_parent", "uint64", i64::from(self.fw_parent)),
            ("seq_id", "int64", self.seq_id),
            ("scope", "uint64", i64::from(self.scope)),
            ("tid", "uint64", i64::from(self.tid)),
            ("fw_tid", "uint64", self.fw_tid),
        ];
        let comma = if id == PROCESS { "" } else { "," };
        let _ = write!(out, "{comma}{{\"attrs\":[");
        for (name, kind, value) in attributes {
            let _ = write!(out, "{{\"name\":\"{name}\",\"type\":\"{kind}\",\"value\":{value}}},");
        }
        let [name, schema] = [name, schema].map(quote);
        let _ = write!(
            out,
            "{{\"name\":\"op_schema\",\"type\":\"string\",\"value\":{schema}}}],\"ctrl_deps\":{above},\"id\":{id},\
             \"inputs\":{inputs},\"name\":{name},\"outputs\":{outputs}}}"
        );
    }
}

/// The arguments with the shapes, the types and the values of inputs or outputs.
const INPUTS: [&str; 3] = ["Input Dims", "Input type", "Concrete Inputs"];
const OUTPUTS: [&str; 3] = ["Output Dims", "Output type", ""];

/// Formats the inputs or outputs of an operator.
fn values(trace: &Trace, row: Row, names: [&str; 3]) -> Cow<'static, str> {
    let list = |name| -> Vec<Value> {
        let key = if name == INPUTS[0] { trace.table.field(row, Key::InputDims) } else { None };
        let value = key.or_else(|| trace.table.field_named(row, Place::Args, name));
        value.and_then(|value| serde_json::from_str(value.as_json()?).ok()).unwrap_or_default()
    };
    let [shapes, types, concrete] = names.map(list);
    let ids = list("Tensor ids");
    let count = shapes.len().max(concrete.len()).max(ids.len());
    if count == 0 {
        return Cow::Borrowed(NOTHING);
    }
    let (mut values, mut kinds) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for at in 0..count {
        let text = |list: &[Value]| list.get(at).and_then(Value::as_str).unwrap_or("").to_string();
        let (value, kind) = value(shapes.get(at), &text(&types), &text(&concrete), ids.get(at));
        values.push(value);
        kinds.push(Value::from(kind));
    }
    let [shapes, kinds, values] = [shapes, kinds, values].map(Value::from);
    Cow::Owned(format!("{{\"shapes\":{shapes},\"types\":{kinds},\"values\":{values}}}"))
}

/// Formats the inputs or outputs of a node of the execution trace that was joined.
fn joined(node: &Node<'_>, side: Side) -> String {
    let [values, shapes, kinds] = node.lists(side).map(Value::from);
    format!("{{\"shapes\":{shapes},\"types\":{kinds},\"values\":{values}}}")
}

/// The value and the type of an input or output.
fn value(shape: Option<&Value>, dtype: &str, concrete: &str, id: Option<&Value>) -> (Value, String) {
    if let Ok(number) = concrete.parse::<i64>() {
        return (Value::from(number), "Int".into());
    }
    if let Ok(number) = concrete.parse::<f64>() {
        // JSON has no infinite numbers.
        let value = if number.is_finite() { Value::from(number) } else { Value::from(concrete) };
        return (value, "Double".into());
    }
    if !concrete.is_empty() {
        return (Value::from(concrete), "String".into());
    }
    let id = id.and_then(Value::as_array).filter(|id| !id.is_empty());
    let sizes = shape.and_then(Value::as_array).filter(|sizes| !sizes.is_empty() || id.is_some());
    match sizes {
        Some(sizes) => tensor(sizes, dtype, id),
        None => (Value::from("<None>"), "None".into()),
    }
}

/// The value and the type of a tensor, or of a list of tensors. The id is tensor, storage, offset and device.
fn tensor(sizes: &[Value], dtype: &str, id: Option<&Vec<Value>>) -> (Value, String) {
    if sizes.iter().any(Value::is_array) {
        let each = sizes.iter().filter_map(Value::as_array).map(|sizes| tensor(sizes, dtype, None));
        let (values, kinds): (Vec<Value>, Vec<String>) = each.unzip();
        return (Value::from(values), format!("GenericList[{}]", kinds.join(",")));
    }
    let elements = sizes.iter().filter_map(Value::as_u64).fold(1, u64::saturating_mul);
    let part = |at: usize, none: Value| id.and_then(|id| id.get(at).cloned()).unwrap_or(none);
    let place = [0, 1, 2].map(|at| part(at, Value::from(0)));
    let size = [elements, item_size(dtype)].map(Value::from);
    let value = place.into_iter().chain(size).chain([part(3, Value::from("cpu"))]).collect();
    (value, format!("Tensor({dtype})"))
}

/// The size of an element in bytes, by PyTorch's name of its data type.
fn item_size(dtype: &str) -> u64 {
    match dtype {
        "double" | "long int" | "long" => 8,
        "c10::Half" | "c10::BFloat16" | "short" => 2,
        "unsigned char" | "signed char" | "bool" => 1,
        _ => 4,
    }
}
