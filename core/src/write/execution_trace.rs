//! Writes PyTorch execution traces: the tree of operators with their inputs, for replay and simulation. The format is
//! Chakra's schema, as `torch.profiler.ExecutionTraceObserver` writes it.
//!
//! A trace does not identify tensors: their ids, storages and offsets are 0.

use crate::index::Index;
use crate::rows::quote;
use crate::table::category::Category;
use crate::table::events::Row;
use crate::table::layout::Key;
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
    let mut out = String::new();
    let mut writer = ExecutionTraceWriter::new(trace);
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
    /// The index of the next position in the tree.
    next: usize,
}

impl ExecutionTraceWriter {
    /// Creates a writer of the operators and annotations of a trace. The node of a thread precedes its first one.
    pub fn new(trace: &Trace) -> Self {
        let table = &trace.table;
        let (mut nodes, mut numbers) = (vec![0; table.len()], Index::default());
        let mut threads: Vec<u32> = Vec::new();
        let mut last = PROCESS;
        for &row in trace.tree.rows().iter().filter(|&&row| is_node(trace, row)) {
            let number = numbers.of((i64::from(table.track_id(row).0), 0), threads.len() as u32);
            if number as usize == threads.len() {
                last += 1;
                threads.push(last);
            }
            last += 1;
            nodes[row.index()] = last;
        }
        ExecutionTraceWriter { nodes, numbers, threads, next: 0 }
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
            if is_node(trace, tree.row(at)) {
                self.node(trace, at, out);
            }
            self.next += 1;
            if out.len() >= limit {
                break;
            }
        }
        let is_more = self.next < tree.len();
        if !is_more {
            tail(trace, out);
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
            attributes.write(PROCESS, thread, NOTHING, "[pytorch|profiler|execution_trace|thread]", out);
        }
        let int = |key| table.int(row, key);
        let fw_tid = int(Key::FwdThreadId).unwrap_or(0);
        let forward = trace.links.forward(row).filter(|_| fw_tid > 0);
        let is_annotation = table.category(row) == Category::UserAnnotation;
        let attributes = Attributes {
            rf_id: int(Key::ExternalId).unwrap_or(0),
            fw_parent: forward.map_or(0, |forward| self.nodes[forward.index()]),
            seq_id: int(Key::SequenceNumber).unwrap_or(-1),
            scope: if is_annotation { USER_SCOPE } else { u8::from(fw_tid > 0) },
            tid,
            fw_tid,
        };
        let above = self.above(trace, at).unwrap_or(thread);
        attributes.write(above, id, &inputs(trace, row), table.name(row), out);
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

/// Writes the members before the nodes, and the node of the process.
fn head(trace: &Trace, out: &mut String) {
    let table = &trace.table;
    let window = table.rows().find(|&row| table.category(row) == Category::Window);
    let finish = window.map_or(trace.start_ns, |row| table.end(row));
    let _ = write!(out, "{{\"finish_ts\":{},\"nodes\":[", finish / 1000);
    let name = "[pytorch|profiler|execution_trace|process]";
    Attributes::default().write(PROCESS, PROCESS, NOTHING, name, out);
}

/// Writes the members after the nodes.
fn tail(trace: &Trace, out: &mut String) {
    let pid = trace.table.metadata.value("pid").unwrap_or(Value::from(0));
    let time = trace.table.base_ns().saturating_add(trace.start_ns);
    let start = trace.start_ns / 1000;
    let _ = write!(out, "],\"pid\":{pid},\"schema\":\"{SCHEMA}\",\"start_ts\":{start},\"time\":\"{time}\"}}");
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
    fn write(self, above: u32, id: u32, inputs: &str, name: &str, out: &mut String) {
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
        let name = quote(name);
        let _ = write!(
            out,
            "{{\"name\":\"op_schema\",\"type\":\"string\",\"value\":\"\"}}],\"ctrl_deps\":{above},\"id\":{id},\
             \"inputs\":{inputs},\"name\":{name},\"outputs\":{NOTHING}}}"
        );
    }
}

/// Formats the inputs of an operator.
fn inputs(trace: &Trace, row: Row) -> Cow<'static, str> {
    let list = |key| -> Vec<Value> {
        let text = trace.table.field(row, key).and_then(|value| value.as_json());
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    };
    let shapes = list(Key::InputDims);
    let (types, concrete) = (list(Key::InputType), list(Key::ConcreteInputs));
    let count = shapes.len().max(concrete.len());
    if count == 0 {
        return Cow::Borrowed(NOTHING);
    }
    let (mut values, mut kinds) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for at in 0..count {
        let text = |list: &[Value]| list.get(at).and_then(Value::as_str).unwrap_or("").to_string();
        let (value, kind) = input(shapes.get(at), &text(&types), &text(&concrete));
        values.push(value);
        kinds.push(Value::from(kind));
    }
    let [shapes, kinds, values] = [shapes, kinds, values].map(Value::from);
    Cow::Owned(format!("{{\"shapes\":{shapes},\"types\":{kinds},\"values\":{values}}}"))
}

/// The value and the type of an input.
fn input(shape: Option<&Value>, dtype: &str, concrete: &str) -> (Value, String) {
    if let Ok(number) = concrete.parse::<i64>() {
        return (Value::from(number), "Int".into());
    }
    if let Ok(number) = concrete.parse::<f64>() {
        return (Value::from(number), "Double".into());
    }
    if !concrete.is_empty() {
        return (Value::from(concrete), "String".into());
    }
    let Some(sizes) = shape.and_then(Value::as_array).filter(|sizes| !sizes.is_empty()) else {
        return (Value::from("<None>"), "None".into());
    };
    let elements = sizes.iter().filter_map(Value::as_u64).fold(1, u64::saturating_mul);
    let tensor = [0, 0, 0, elements, item_size(dtype)].map(Value::from);
    let value = tensor.into_iter().chain([Value::from("cpu")]).collect();
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
