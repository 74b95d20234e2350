//! PyTorch execution traces: which operators ran in which, with what inputs, for replay and simulation. Chakra's schema, as
//! `torch.profiler.ExecutionTraceObserver` writes it.

use kinetoscope_core::table::category::Category;
use kinetoscope_core::table::events::Row;
use kinetoscope_core::table::layout::Key;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::tree::NO_PARENT;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The version of the form.
const SCHEMA: &str = "1.0.3-chakra.0.0.4";

/// The node that everything is in.
const PROCESS: u64 = 1;

/// The operators and annotations of a trace as an execution trace. Tensors have no identity in a trace: their ids and
/// storages are 0, as are their offsets.
pub fn execution_trace(trace: &Trace) -> Value {
    let window = trace.table.rows().find(|&row| trace.table.category(row) == Category::Window);
    let start = trace.start_ns;
    let finish = window.map_or(start, |row| trace.table.end(row));
    json!({
        "schema": SCHEMA,
        "pid": trace.table.metadata.value("pid").unwrap_or(json!(0)),
        "time": (trace.table.base_ns().saturating_add(start)).to_string(),
        "start_ts": start / 1000,
        "nodes": Nodes::new(trace).all(),
        "finish_ts": finish / 1000,
    })
}

struct Nodes<'a> {
    trace: &'a Trace,
    /// The node of each row.
    ids: HashMap<Row, u64>,
    /// The node and the number, counted from 1, of each lane.
    threads: HashMap<u32, (u64, u64)>,
    nodes: Vec<Value>,
}

impl<'a> Nodes<'a> {
    fn new(trace: &'a Trace) -> Nodes<'a> {
        Nodes { trace, ids: HashMap::new(), threads: HashMap::new(), nodes: Vec::new() }
    }

    fn all(mut self) -> Vec<Value> {
        let (table, tree) = (&self.trace.table, &self.trace.tree);
        self.nodes.push(node(
            PROCESS,
            "[pytorch|profiler|execution_trace|process]",
            PROCESS,
            Attributes::default(),
        ));
        for at in 0..tree.len() {
            let row = tree.rows[at];
            if !matches!(table.category(row), Category::CpuOp | Category::UserAnnotation) {
                continue;
            }
            let mut parent = tree.parents[at];
            while parent != NO_PARENT && !self.ids.contains_key(&tree.rows[parent as usize]) {
                parent = tree.parents[parent as usize];
            }
            let (thread, tid) = self.thread(table.track_id(row).0);
            let above = if parent == NO_PARENT { thread } else { self.ids[&tree.rows[parent as usize]] };
            let id = self.next();
            self.ids.insert(row, id);
            let made = self.operator(row, id, above, tid);
            self.nodes.push(made);
        }
        self.nodes
    }

    fn next(&self) -> u64 {
        self.nodes.len() as u64 + 1
    }

    fn thread(&mut self, track: u32) -> (u64, u64) {
        if let Some(known) = self.threads.get(&track) {
            return *known;
        }
        let made = (self.next(), self.threads.len() as u64 + 1);
        let attributes = Attributes { scope: 7, tid: made.1, ..Attributes::default() };
        self.nodes.push(node(made.0, "[pytorch|profiler|execution_trace|thread]", PROCESS, attributes));
        self.threads.insert(track, made);
        made
    }

    fn operator(&self, row: Row, id: u64, above: u64, tid: u64) -> Value {
        let table = &self.trace.table;
        let int = |key| table.int(row, key);
        let is_annotation = table.category(row) == Category::UserAnnotation;
        let fw_tid = int(Key::FwdThreadId).unwrap_or(0);
        let forward = self.trace.pairs.flows.iter().find_map(|&(from, to)| {
            let covers = |flow: Row, span: Row| {
                table.track_id(flow) == table.track_id(span) && table.ts(flow) == table.ts(span)
            };
            (fw_tid > 0 && covers(to, row))
                .then(|| self.ids.iter().find(|(of, _)| covers(from, **of)).map(|(_, id)| *id))?
        });
        let attributes = Attributes {
            rf_id: int(Key::ExternalId).unwrap_or(0),
            fw_parent: forward.unwrap_or(0),
            seq_id: int(Key::SequenceNumber).unwrap_or(-1),
            scope: if is_annotation { 7 } else { u64::from(fw_tid > 0) },
            tid,
            fw_tid,
        };
        let mut made = node(id, table.name(row), above, attributes);
        made["inputs"] = self.inputs(row);
        made
    }

    fn inputs(&self, row: Row) -> Value {
        let list = |key| -> Vec<Value> {
            let text = self.trace.table.field(row, key).and_then(|value| value.as_json());
            text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
        };
        let (shapes, types, concrete) =
            (list(Key::InputDims), list(Key::InputType), list(Key::ConcreteInputs));
        let count = shapes.len().max(concrete.len());
        let (mut values, mut kinds) = (Vec::new(), Vec::new());
        for at in 0..count {
            let dtype = types.get(at).and_then(Value::as_str).unwrap_or("");
            let (value, kind) =
                input(shapes.get(at), dtype, concrete.get(at).and_then(Value::as_str).unwrap_or(""));
            values.push(value);
            kinds.push(json!(kind));
        }
        json!({"values": values, "shapes": shapes, "types": kinds})
    }
}

/// The value and the type of an input.
fn input(shape: Option<&Value>, dtype: &str, concrete: &str) -> (Value, String) {
    if let Ok(number) = concrete.parse::<i64>() {
        return (json!(number), "Int".into());
    }
    if let Ok(number) = concrete.parse::<f64>() {
        return (json!(number), "Double".into());
    }
    if !concrete.is_empty() {
        return (json!(concrete), "String".into());
    }
    let sizes = shape.and_then(Value::as_array).filter(|sizes| !sizes.is_empty());
    match sizes {
        Some(sizes) => {
            let elements: u64 = sizes.iter().filter_map(Value::as_u64).product();
            (json!([0, 0, 0, elements, item_size(dtype), "cpu"]), format!("Tensor({dtype})"))
        }
        None => (json!("<None>"), "None".into()),
    }
}

/// The size of an element in bytes, by torch's name of its type.
fn item_size(dtype: &str) -> u64 {
    match dtype {
        "double" | "long int" | "long" => 8,
        "c10::Half" | "c10::BFloat16" | "short" => 2,
        "unsigned char" | "signed char" | "bool" => 1,
        _ => 4,
    }
}

#[derive(Clone, Copy, Debug)]
struct Attributes {
    rf_id: i64,
    fw_parent: u64,
    seq_id: i64,
    scope: u64,
    tid: u64,
    fw_tid: i64,
}

impl Default for Attributes {
    fn default() -> Self {
        Attributes { rf_id: 0, fw_parent: 0, seq_id: -1, scope: 7, tid: 0, fw_tid: 0 }
    }
}

fn node(id: u64, name: &str, above: u64, of: Attributes) -> Value {
    let nothing = || json!({"values": [], "shapes": [], "types": []});
    json!({
        "id": id,
        "name": name,
        "ctrl_deps": above,
        "inputs": nothing(),
        "outputs": nothing(),
        "attrs": [
            {"name": "rf_id", "type": "uint64", "value": of.rf_id},
            {"name": "fw_parent", "type": "uint64", "value": of.fw_parent},
            {"name": "seq_id", "type": "int64", "value": of.seq_id},
            {"name": "scope", "type": "uint64", "value": of.scope},
            {"name": "tid", "type": "uint64", "value": of.tid},
            {"name": "fw_tid", "type": "uint64", "value": of.fw_tid},
            {"name": "op_schema", "type": "string", "value": ""},
        ],
    })
}
