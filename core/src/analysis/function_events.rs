//! torch.profiler's view of a trace: its `FunctionEvent`s, with the tree that torch builds of them.
//!
//! It differs from [`tree`](crate::tree): only operators, annotations, runtime calls and device work are events, an event
//! that sticks out of its parent is no child and closes it, and a lone child with its parent's name is merged into it.
//! Times are integer nanoseconds where torch has floats of microseconds; sums agree to the printed digit.
//!
//! What a trace does not carry stays at torch's default: `is_async` is false, the scope of TorchScript calls is 0.

use super::flops::{self, Inputs};
use super::stacks::{StackTable, Stacks};
use crate::names::NameId;
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::layout::Key;
use crate::table::tracks::TrackId;
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde_json::Value;

/// No event: the parent of a root.
pub const NONE: u32 = u32::MAX;

/// What a function event was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Work of a CPU thread: an operator, an annotation, a runtime call.
    Cpu,
    /// Work of a device.
    Device,
    /// An allocation or release outside of every operator, or a failed allocation.
    Memory,
}

/// torch's numbers of record scopes.
pub mod scope {
    /// An operator.
    pub const FUNCTION: u8 = 0;
    /// A backward function called by autograd.
    pub const BACKWARD_FUNCTION: u8 = 1;
    /// A user's range.
    pub const USER: u8 = 7;
}

/// The names that torch leaves out of its events.
pub const HIDDEN: [&str; 8] = [
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
];

/// torch's name for an event: mangled C++ names demangled, and one name for all profiler steps.
pub fn rewrite_name(name: &str) -> String {
    if name.starts_with("ProfilerStep#") {
        return "ProfilerStep*".to_owned();
    }
    demangle(name).unwrap_or_else(|| name.to_owned())
}

/// The C++ name that a mangled name stands for.
pub fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    cpp_demangle::Symbol::new(name).ok()?.demangle().ok()
}

/// Bytes allocated less bytes released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// In host memory.
    pub cpu: i64,
    /// In device memory.
    pub device: i64,
}

/// All function events, ordered by start and then by longest first.
#[derive(Clone, Debug, Default)]
pub struct FunctionEvents {
    /// Every distinct name after rewriting; an event's `key` is a position here.
    pub names: Vec<String>,
    /// Every distinct text of `input_shapes`; position 0 is `[]`.
    pub shapes: Vec<String>,
    /// Every distinct stack; position 0 is empty.
    pub stacks: StackTable,
    /// Unix time in ns that event times are relative to.
    pub trace_start_ns: i64,
    /// What to subtract from a table's time.
    pub(crate) origin: i64,
    /// How many events the merging of same-named lone children removed.
    pub removed: usize,
    /// Device time that no operator shows, in ns: torch replaces a parent's kernels by those of the child that it merges,
    /// and leaves out operators with a hidden name.
    pub dropped_device_ns: i64,
    /// The trace was recorded with memory.
    pub profile_memory: bool,
    /// The trace was recorded with FLOPs.
    pub with_flops: bool,
    /// torch's `use_device`: `cuda`, `xpu`, … when there is device work.
    pub use_device: Option<&'static str>,
    /// The event's row in the table.
    pub rows: Vec<Row>,
    /// The position of its name.
    pub keys: Vec<u32>,
    /// What it was made from.
    pub kinds: Vec<Kind>,
    /// The position of its parent, or [`NONE`].
    pub parents: Vec<u32>,
    /// CPU time without the children's, in ns.
    pub self_ns: Vec<i64>,
    device: Vec<(i64, i64)>,
    memory: Vec<(Bytes, Bytes)>,
    shape_of: Vec<u32>,
    stack_of: Vec<u32>,
    flops: Vec<i64>,
    overloads: HashMap<u32, String, FixedState>,
    overload_of: HashMap<Row, u32, FixedState>,
}

impl FunctionEvents {
    /// The function events of a trace.
    pub fn new(trace: &Trace) -> FunctionEvents {
        let mut builder = Builder::of(trace);
        builder.describe_inputs();
        let (stacks, stack_of) = Stacks::new(trace, &builder.out).build();
        FunctionEvents { stacks, stack_of, ..builder.out }
    }

    /// The function events of a trace without shapes, stacks and FLOPs.
    pub fn without_inputs(trace: &Trace) -> FunctionEvents {
        Builder::of(trace).out
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No event at all.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The name after rewriting.
    pub fn name(&self, at: usize) -> &str {
        &self.names[self.keys[at] as usize]
    }

    /// Start in ns after `trace_start_ns`.
    pub fn start_ns(&self, table: &Table, at: usize) -> i64 {
        table.ts(self.rows[at]).saturating_sub(self.origin)
    }

    /// Duration in ns.
    pub fn duration_ns(&self, table: &Table, at: usize) -> i64 {
        if self.kinds[at] == Kind::Memory { 0 } else { table.dur(self.rows[at]).max(0) }
    }

    /// CPU time with the children's, in ns; 0 for device work.
    pub fn cpu_time_total_ns(&self, table: &Table, at: usize) -> i64 {
        if self.kinds[at] == Kind::Device { 0 } else { self.duration_ns(table, at) }
    }

    /// Device time of the event's own kernels and of all below it, in ns.
    pub fn device_time_total_ns(&self, at: usize) -> i64 {
        self.device.get(at).map_or(0, |d| d.1)
    }

    /// Device time of the event's own kernels, in ns.
    pub fn self_device_time_total_ns(&self, at: usize) -> i64 {
        self.device.get(at).map_or(0, |d| d.0)
    }

    /// Memory of the event with its children's.
    pub fn memory(&self, at: usize) -> Bytes {
        self.memory.get(at).map_or(Bytes::default(), |m| m.1)
    }

    /// Memory of the event without its children's.
    pub fn self_memory(&self, at: usize) -> Bytes {
        self.memory.get(at).map_or(Bytes::default(), |m| m.0)
    }

    /// The position of the event's `input_shapes`.
    pub fn shape(&self, at: usize) -> u32 {
        self.shape_of.get(at).copied().unwrap_or(0)
    }

    /// The position of the event's stack.
    pub fn stack(&self, at: usize) -> u32 {
        self.stack_of.get(at).copied().unwrap_or(0)
    }

    /// The event's floating point operations; 0 unless the trace was recorded with FLOPs.
    pub fn flops(&self, at: usize) -> i64 {
        self.flops.get(at).copied().unwrap_or(0)
    }

    /// The event's overload name; empty unless the trace was recorded with overload names.
    pub fn overload(&self, at: usize) -> &str {
        self.overload_of.get(&self.rows[at]).and_then(|id| self.overloads.get(id)).map_or("", String::as_str)
    }

    /// The event is a range that the user named.
    pub fn is_user_annotation(&self, table: &Table, at: usize) -> bool {
        matches!(table.category(self.rows[at]), Category::UserAnnotation | Category::GpuUserAnnotation)
            && self.kinds[at] != Kind::Memory
    }

    /// torch's number of the record scope.
    pub fn scope(&self, table: &Table, at: usize) -> u8 {
        if self.kinds[at] == Kind::Cpu && table.category(self.rows[at]) == Category::UserAnnotation {
            scope::USER
        } else if self.is_backward(at) {
            scope::BACKWARD_FUNCTION
        } else {
            scope::FUNCTION
        }
    }

    /// The event is called `NAME` right under `autograd::engine::evaluate_function: NAME`.
    pub(crate) fn is_backward(&self, at: usize) -> bool {
        let parent = self.parents[at];
        parent != NONE
            && self.name(parent as usize).strip_prefix("autograd::engine::evaluate_function: ")
                == Some(self.name(at))
    }

    /// The sum of all self CPU times, in ns.
    pub fn self_cpu_time_total_ns(&self) -> i64 {
        self.self_ns.iter().sum()
    }
}

struct Builder<'a> {
    trace: &'a Trace,
    table: &'a Table,
    out: FunctionEvents,
    records: Vec<Row>,
    failures: Vec<Row>,
}

impl<'a> Builder<'a> {
    /// A builder that has done everything but describe the inputs.
    fn of(trace: &'a Trace) -> Self {
        let mut builder = Builder::start(trace);
        builder.collect();
        builder.sort();
        builder.attribute_memory();
        builder.build_tree();
        builder.name_events();
        builder.attach_kernels();
        builder.merge_lone_children();
        builder.sum_up();
        builder
    }

    fn start(trace: &'a Trace) -> Self {
        let table = &trace.table;
        let flag = |key: &str| table.metadata.text(key).is_some_and(|v| !matches!(v, "0" | "false" | "null"));
        let origin = window_start(table);
        let out = FunctionEvents {
            shapes: vec!["[]".to_owned()],
            origin,
            trace_start_ns: table.base_ns().saturating_add(origin),
            with_flops: flag("with_flops"),
            profile_memory: flag("profile_memory"),
            ..FunctionEvents::default()
        };
        Builder { trace, table, out, records: Vec::new(), failures: Vec::new() }
    }

    fn collect(&mut self) {
        let table = self.table;
        let known = |name: &str| table.names.find(name);
        let (memory, failure, collector) = (known("[memory]"), known("[OutOfMemory]"), known("Python GC"));
        let hidden: Vec<Option<NameId>> = HIDDEN.iter().map(|name| known(name)).collect();
        let mut used = 0;
        for row in table.rows() {
            let category = table.category(row);
            let name = Some(table.name_id(row));
            if (name == memory || name == failure) && table.ts(row) != crate::time::NONE {
                let list = if name == memory { &mut self.records } else { &mut self.failures };
                list.push(row);
                continue;
            }
            let wanted = match category {
                Category::CpuOp
                | Category::UserAnnotation
                | Category::Runtime
                | Category::Driver
                | Category::Overhead => true,
                Category::PythonFunction => name == collector && table.field(row, Key::PythonId).is_none(),
                _ => category.is_device_work() || category == Category::GpuUserAnnotation,
            };
            if wanted && table.is_span(row) && !hidden.contains(&name) {
                self.out.rows.push(row);
                used += usize::from(category.is_device_work());
            }
        }
        self.out.use_device = (used > 0).then(|| device_name(table));
        self.out.profile_memory |= !self.records.is_empty();
    }

    /// The order of a record in the profiler's own list.
    fn order(&self, row: Row) -> i64 {
        self.table.int(row, Key::EvIdx).unwrap_or(i64::from(row))
    }

    fn sort(&mut self) {
        let table = self.table;
        let mut rows = core::mem::take(&mut self.out.rows);
        rows.sort_by(|&a, &b| {
            let key = |row: Row| (table.ts(row), Reverse(table.end(row)));
            key(a).cmp(&key(b)).then_with(|| self.order(a).cmp(&self.order(b)))
        });
        self.out.rows = rows;
        self.out.kinds = self.out.rows.iter().map(|&row| kind(table, row)).collect();
    }

    /// Gives every CPU event the bytes of all records within its closed interval, of any thread; a record within none
    /// becomes an event of its own, and so does every failed allocation.
    fn attribute_memory(&mut self) {
        if self.records.is_empty() && self.failures.is_empty() {
            return;
        }
        let table = self.table;
        let mut records = core::mem::take(&mut self.records);
        records.sort_by_key(|&row| table.ts(row));
        let mut sums = vec![Bytes::default()];
        for &row in &records {
            let last = sums[sums.len() - 1];
            let bytes = record_bytes(table, row);
            sums.push(Bytes { cpu: last.cpu + bytes.cpu, device: last.device + bytes.device });
        }
        let mut cover = vec![0i64; records.len() + 1];
        let mut memory = Vec::with_capacity(self.out.rows.len());
        for (&row, &kind) in self.out.rows.iter().zip(&self.out.kinds) {
            let first = records.partition_point(|&r| table.ts(r) < table.ts(row));
            let last = first + records[first..].partition_point(|&r| table.ts(r) <= table.end(row));
            if kind == Kind::Device || first >= last {
                memory.push((Bytes::default(), Bytes::default()));
                continue;
            }
            cover[first] += 1;
            cover[last] -= 1;
            let bytes = Bytes {
                cpu: sums[last].cpu - sums[first].cpu,
                device: sums[last].device - sums[first].device,
            };
            memory.push((bytes, bytes));
        }
        self.out.memory = memory;
        let mut covered = 0;
        let mut loose: Vec<Row> = Vec::new();
        for (at, &row) in records.iter().enumerate() {
            covered += cover[at];
            if covered == 0 {
                loose.push(row);
            }
        }
        loose.append(&mut self.failures);
        self.insert_memory_events(&loose);
    }

    /// Merges zero-length memory events into the order, behind everything else of their instant.
    fn insert_memory_events(&mut self, loose: &[Row]) {
        let table = self.table;
        let old = core::mem::take(&mut self.out);
        let mut merged: Vec<(Row, Kind, Bytes)> = (0..old.rows.len())
            .map(|at| (old.rows[at], old.kinds[at], old.memory.get(at).map_or(Bytes::default(), |m| m.0)))
            .collect();
        merged.extend(loose.iter().map(|&row| {
            let bytes =
                if table.name(row) == "[memory]" { record_bytes(table, row) } else { Bytes::default() };
            (row, Kind::Memory, bytes)
        }));
        merged.sort_by_key(|&(row, kind, _)| {
            let end = if kind == Kind::Memory { table.ts(row) } else { table.end(row) };
            (table.ts(row), Reverse(end))
        });
        self.out = FunctionEvents {
            rows: merged.iter().map(|m| m.0).collect(),
            kinds: merged.iter().map(|m| m.1).collect(),
            memory: merged.iter().map(|m| (m.2, m.2)).collect(),
            ..old
        };
    }

    fn build_tree(&mut self) {
        let table = self.table;
        let mut open: HashMap<TrackId, Vec<u32>, FixedState> = HashMap::default();
        self.out.parents = vec![NONE; self.out.rows.len()];
        for at in 0..self.out.rows.len() {
            if self.out.kinds[at] == Kind::Device {
                continue;
            }
            let row = self.out.rows[at];
            let begin = table.ts(row);
            let end = begin + self.out.duration_ns(table, at);
            let stack = open.entry(table.track_id(row)).or_default();
            while let Some(&top) = stack.last() {
                let top_end =
                    table.ts(self.out.rows[top as usize]) + self.out.duration_ns(table, top as usize);
                if begin < top_end && end <= top_end {
                    self.out.parents[at] = top;
                    break;
                }
                stack.pop();
            }
            stack.push(at as u32);
        }
    }

    /// Rewrites every name once; splits overload names off when the trace was recorded with them.
    fn name_events(&mut self) {
        let table = self.table;
        let split = has_overload_names(table);
        let mut index: HashMap<String, u32, FixedState> = HashMap::default();
        let mut known: [Vec<u32>; 2] = [vec![NONE; table.names.len()], vec![NONE; table.names.len()]];
        let mut keys = Vec::with_capacity(self.out.rows.len());
        for at in 0..self.out.rows.len() {
            let row = self.out.rows[at];
            let is_op = split && table.category(row) == Category::CpuOp;
            let name_id = table.name_id(row).0;
            let memo = &mut known[usize::from(is_op)][name_id as usize];
            if *memo == NONE {
                let (name, overload) = match split_overload(table.name(row)).filter(|_| is_op) {
                    Some((name, overload)) => (name.to_owned(), Some(overload)),
                    None => (rewrite_name(table.name(row)), None),
                };
                if let Some(overload) = overload {
                    self.out.overloads.insert(name_id, overload.to_owned());
                }
                let next = index.len() as u32;
                *memo = *index.entry(name.clone()).or_insert(next);
                if *memo == next {
                    self.out.names.push(name);
                }
            }
            if is_op && self.out.overloads.contains_key(&name_id) {
                self.out.overload_of.insert(row, name_id);
            }
            keys.push(*memo);
        }
        self.out.keys = keys;
    }

    /// Hangs device work on the operator that it was done for.
    fn attach_kernels(&mut self) {
        if self.out.use_device.is_none() {
            return;
        }
        let table = self.table;
        let mut position = vec![NONE; table.len()];
        for (at, &row) in self.out.rows.iter().enumerate() {
            position[row as usize] = at as u32;
        }
        let mut device = vec![(0, 0); self.out.rows.len()];
        for at in 0..self.out.rows.len() {
            if self.out.kinds[at] != Kind::Device {
                continue;
            }
            let row = self.out.rows[at];
            let duration = table.dur(row).max(0);
            device[at] = (duration, duration);
            let op = self.trace.links.op(row).filter(|_| table.category(row).is_device_work());
            match op.map(|op| position[op as usize]) {
                Some(NONE) => self.out.dropped_device_ns += duration,
                Some(op) => device[op as usize].0 += duration,
                None => {}
            }
        }
        self.out.device = device;
    }

    /// Removes every event whose parent has the same name and no other child: its children and kernels go to the parent.
    fn merge_lone_children(&mut self) {
        let count = self.out.rows.len();
        loop {
            let mut children = vec![0u32; count];
            for &parent in self.out.parents.iter().filter(|&&p| p != NONE) {
                children[parent as usize] += 1;
            }
            let mut heir = vec![NONE; self.out.rows.len()];
            let mut gone = 0;
            for at in 0..self.out.rows.len() {
                let mut parent = self.out.parents[at];
                if parent == NONE {
                    continue;
                }
                if heir[parent as usize] != NONE {
                    parent = heir[parent as usize];
                    self.out.parents[at] = parent;
                }
                let above = parent as usize;
                if self.out.keys[above] == self.out.keys[at] && children[above] == 1 {
                    heir[at] = parent;
                    children[above] = children[at];
                    if let Some(&kernels) = self.out.device.get(at) {
                        self.out.dropped_device_ns += self.out.device[above].0;
                        self.out.device[above] = kernels;
                    }
                    gone += 1;
                }
            }
            if gone == 0 {
                return;
            }
            self.out.removed += gone;
            self.remove(&heir);
        }
    }

    fn remove(&mut self, heir: &[u32]) {
        let mut moved = vec![NONE; heir.len()];
        let mut next = 0;
        for at in 0..heir.len() {
            if heir[at] == NONE {
                moved[at] = next;
                next += 1;
            }
        }
        let kept = |at: usize| heir[at] == NONE;
        let out = &mut self.out;
        retain(&mut out.rows, kept);
        retain(&mut out.kinds, kept);
        retain(&mut out.keys, kept);
        retain(&mut out.parents, kept);
        retain(&mut out.memory, kept);
        retain(&mut out.device, kept);
        for parent in out.parents.iter_mut().filter(|p| **p != NONE) {
            *parent = moved[*parent as usize];
        }
    }

    /// Self times, self memory, and device times with those below.
    fn sum_up(&mut self) {
        let table = self.table;
        let out = &mut self.out;
        out.self_ns = (0..out.rows.len()).map(|at| out.cpu_time_total_ns(table, at)).collect();
        // Children come after their parents, so going backwards completes a child before it is added.
        for at in (0..out.rows.len()).rev() {
            let parent = out.parents[at] as usize;
            if parent == NONE as usize {
                continue;
            }
            out.self_ns[parent] -= out.cpu_time_total_ns(table, at);
            if !out.memory.is_empty() {
                let below = out.memory[at].1;
                out.memory[parent].0.cpu -= below.cpu;
                out.memory[parent].0.device -= below.device;
            }
        }
        if !out.device.is_empty() {
            for at in 0..out.rows.len() {
                out.device[at].1 = out.device[at].0;
            }
            for at in (0..out.rows.len()).rev().filter(|&at| out.parents[at] != NONE) {
                let below = out.device[at].1;
                out.device[out.parents[at] as usize].1 += below;
            }
        }
    }

    /// Shapes, and FLOPs where they were recorded.
    fn describe_inputs(&mut self) {
        let table = self.table;
        if table.layouts.all().iter().all(|l| l.find(Key::InputDims).is_none()) {
            return;
        }
        let mut known: HashMap<&str, u32, FixedState> = HashMap::default();
        let mut index: HashMap<String, u32, FixedState> = HashMap::default();
        index.insert("[]".to_owned(), 0);
        let mut shape_of = vec![0; self.out.rows.len()];
        let mut flops = if self.out.with_flops { vec![0; self.out.rows.len()] } else { Vec::new() };
        for at in 0..self.out.rows.len() {
            let row = self.out.rows[at];
            let text = |key| table.field(row, key).and_then(|v| v.as_json());
            let Some(dims) = text(Key::InputDims) else { continue };
            shape_of[at] = *known.entry(dims).or_insert_with(|| {
                let shapes = input_shapes(dims);
                let next = index.len() as u32;
                let id = *index.entry(shapes.clone()).or_insert(next);
                if id == next {
                    self.out.shapes.push(shapes);
                }
                id
            });
            if self.out.with_flops {
                let inputs = Inputs::parse(Some(dims), text(Key::InputType), text(Key::ConcreteInputs));
                flops[at] = flops::estimate(self.out.name(at), &inputs);
            }
        }
        self.out.shape_of = shape_of;
        self.out.flops = flops;
    }
}

fn retain<T>(values: &mut Vec<T>, kept: impl Fn(usize) -> bool) {
    let mut at = 0;
    values.retain(|_| {
        at += 1;
        kept(at - 1)
    });
}

fn kind(table: &Table, row: Row) -> Kind {
    if table.category(row).is_on_device() { Kind::Device } else { Kind::Cpu }
}

/// The start of the recording: that of the profiler's own span, else of its instant, else of the first event.
pub fn window_start(table: &Table) -> i64 {
    let times = || table.rows().filter(|&row| table.ts(row) != crate::time::NONE);
    let marker = times().find(|&row| {
        table.category(row) == Category::Window || table.name(row) == "Iteration Start: PyTorch Profiler"
    });
    let first = || times().filter(|&row| table.ph(row) != b'M').map(|row| table.ts(row)).min();
    marker.map(|row| table.ts(row)).or_else(first).unwrap_or(0)
}

fn record_bytes(table: &Table, row: Row) -> Bytes {
    // A petabyte is the most that sums of many records are safe with.
    let bytes = table.int(row, Key::Bytes).unwrap_or(0).clamp(-(1 << 50), 1 << 50);
    match table.int(row, Key::DeviceType).unwrap_or(0) {
        0 | 2 | 5 => Bytes { cpu: bytes, device: 0 },
        1 | 6 | 12 | 20 => Bytes { cpu: 0, device: bytes },
        _ => Bytes::default(),
    }
}

/// torch's `use_device` for a trace with device work.
fn device_name(table: &Table) -> &'static str {
    let has = |prefix: &str| {
        table.layouts.all().iter().any(|l| l.cat.is_some_and(|cat| table.names.get(cat).starts_with(prefix)))
    };
    if has("mtia") {
        "mtia"
    } else if has("xpu") {
        "xpu"
    } else if has("hpu") {
        "hpu"
    } else if has("privateuse1") {
        "privateuse1"
    } else {
        "cuda"
    }
}

/// A trace does not say that overload names were captured, but without them no `aten::` operator has a dot.
fn has_overload_names(table: &Table) -> bool {
    table.rows().any(|row| {
        table.category(row) == Category::CpuOp
            && table.name(row).starts_with("aten::")
            && split_overload(table.name(row)).is_some()
    })
}

fn split_overload(name: &str) -> Option<(&str, &str)> {
    let (name, overload) = name.rsplit_once('.')?;
    let word = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let (space, op) = name.split_once("::")?;
    (word(space) && word(op) && word(overload)).then_some((name, overload))
}

/// The `input_shapes` of an event, as Python writes them: a list of tensors becomes `[]`.
fn input_shapes(dims: &str) -> String {
    let Ok(Value::Array(inputs)) = serde_json::from_str(dims) else { return "[]".to_owned() };
    let parts: Vec<String> = inputs
        .iter()
        .map(|input| match input {
            Value::Array(sizes) if sizes.iter().any(Value::is_array) => "[]".to_owned(),
            Value::Array(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
                format!("[{}]", sizes.join(", "))
            }
            other => other.to_string(),
        })
        .collect();
    format!("[{}]", parts.join(", "))
}
