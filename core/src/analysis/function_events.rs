//! torch.profiler's view of a trace: its `FunctionEvent`s, with the tree that torch builds of them.
//!
//! It differs from [`tree`](crate::tree): only operators, annotations, runtime calls and device work are events, an event
//! that sticks out of its parent is no child and closes it, and a lone child with its parent's name is merged into it.
//! Times are integer nanoseconds where torch has floats of microseconds; sums agree to the printed digit.
//!
//! What a trace does not carry stays at torch's default: `is_async` is false, the scope of TorchScript calls is 0.

mod build;
mod describe;

use super::stacks::{StackTable, Stacks};
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use build::Builder;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

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

/// The C++ name that a mangled name stands for. As for the C++ runtime, which torch asks, a mangled type is one, too; a
/// single letter is not.
pub fn demangle(name: &str) -> Option<String> {
    if name.starts_with("_Z") {
        return symbol(name);
    }
    // `St` is the namespace std, and no type.
    let is_word =
        name.len() > 1 && name != "St" && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    // The type as the one parameter of a function `x`.
    let function = if is_word { symbol(&["_Z1x", name].concat())? } else { return None };
    let parameters = function.strip_prefix("x(")?.strip_suffix(')')?;
    (!parameters.is_empty() && commas_outside(parameters) == 0).then(|| parameters.to_owned())
}

fn symbol(mangled: &str) -> Option<String> {
    let name = cpp_demangle::Symbol::new(mangled).ok()?.demangle().ok()?;
    // The library's own notation for what the compiler made: `{vtable(foo)}`.
    let special = name.strip_prefix('{').and_then(|n| n.strip_suffix(")}")).and_then(|n| n.split_once('('));
    Some(special.map_or_else(|| name.clone(), |(what, of)| [what, " for ", of].concat()))
}

/// Commas that are in no bracket.
fn commas_outside(text: &str) -> usize {
    let mut depth = 0i32;
    let outside = text.chars().filter(|c| {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        *c == ',' && depth == 0
    });
    outside.count()
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
    device: Vec<i64>,
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

    /// Of every event, the device time of its own kernels and of all below it, in ns.
    pub fn device_totals_ns(&self) -> Vec<i64> {
        let mut totals: Vec<i64> = (0..self.len()).map(|at| self.self_device_time_total_ns(at)).collect();
        // Children come after their parents, so going backwards completes a child before it is added.
        for at in (0..self.len()).rev().filter(|&at| self.parents[at] != NONE) {
            totals[self.parents[at] as usize] += totals[at];
        }
        totals
    }

    /// Device time of the event's own kernels, in ns.
    pub fn self_device_time_total_ns(&self, at: usize) -> i64 {
        self.device.get(at).copied().unwrap_or(0)
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

/// The start of the recording: that of the profiler's own span, else of its instant, else of the first event.
pub fn window_start(table: &Table) -> i64 {
    let times = || table.rows().filter(|&row| table.ts(row) != crate::time::NONE);
    let marker = times().find(|&row| {
        table.category(row) == Category::Window || table.name(row) == "Iteration Start: PyTorch Profiler"
    });
    let first = || times().filter(|&row| table.ph(row) != b'M').map(|row| table.ts(row)).min();
    marker.map(|row| table.ts(row)).or_else(first).unwrap_or(0)
}
