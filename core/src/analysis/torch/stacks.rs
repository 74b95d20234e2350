//! Python stacks of function events, and torch's `export_stacks`.
//!
//! A backward function has no stack of its own: it and everything below it take the stack of the first event outside any
//! backward function with the same sequence number on the forward thread. The trace numbers that thread by the
//! profiler's own count; `fwdbwd` arrows translate it, and without arrows a lone forward thread is the one.

use super::averages::TorchClock;
use super::function_events::{FunctionEvents, Kind, scope};
use crate::analysis::children::NONE;
use crate::index::Index;
use crate::names::Names;
use crate::order::{descending, sort_by_key};
use crate::rows::{Cell, Column, Rows};
use crate::table::events::Table;
use crate::table::fields::Value;
use crate::table::layout::Key;
use crate::table::metadata::Source;
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;

/// How Kineto names the call of an `nn.Module`.
pub(crate) const MODULE_PREFIX: &str = "nn.Module: ";

/// Distinct stacks, innermost frame first.
#[derive(Clone, Debug, Default)]
pub struct StackTable {
    stacks: Vec<Vec<String>>,
}

impl StackTable {
    /// The frames of a stack; none for a number that is not there.
    pub fn get(&self, id: u32) -> &[String] {
        self.stacks.get(id as usize).map_or(&[], Vec::as_slice)
    }

    /// How many stacks there are, the empty one included.
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// No stack was recorded.
    pub fn is_empty(&self) -> bool {
        self.stacks.len() <= 1
    }
}

/// Whether torch shows this frame: those of the autograd entry points and of its test helpers are left out.
pub fn is_shown(frame: &str) -> bool {
    const LEFT_OUT: [(&str, &str); 6] = [
        ("autograd/__init__", "_make_grads"),
        ("autograd/__init__", "backward"),
        ("torch/tensor", "backward"),
        ("_internal/common_utils", "prof_callable"),
        ("_internal/common_utils", "prof_func_call"),
        ("_internal/common_utils", "prof_meth_call"),
    ];
    !LEFT_OUT.iter().any(|(file, function)| frame.contains(file) && frame.contains(function))
}

/// Whether a frame is torch's own code, by its path.
pub(crate) fn is_torchs(frame: &str) -> bool {
    frame.starts_with("torch/")
        || ["site-packages/torch/", "site-packages\\torch\\"].iter().any(|part| frame.contains(part))
}

/// Finds the stack of every event.
pub(super) struct Stacks<'a> {
    trace: &'a Trace,
    table: &'a Table,
    events: &'a FunctionEvents,
}

impl<'a> Stacks<'a> {
    pub(super) fn new(trace: &'a Trace, events: &'a FunctionEvents) -> Self {
        Stacks { trace, table: &trace.table, events }
    }

    /// The distinct stacks and the stack of each event; nothing when none was recorded.
    pub(super) fn build(&self) -> (StackTable, Vec<u32>) {
        let mut stacks = StackTable { stacks: vec![Vec::new()] };
        if self.table.layouts.all().iter().all(|l| l.find(Key::CallStack).is_none()) {
            return (stacks, Vec::new());
        }
        let lists = self.listed_stacks();
        let mut known = Index::default();
        let mut distinct = Names::default();
        let mut own = vec![0; self.events.len()];
        for (at, own) in own.iter_mut().enumerate() {
            let row = self.events.rows[at];
            if self.events.kinds[at] == Kind::Memory {
                continue;
            }
            let text = match self.table.field(row, Key::CallStack) {
                Some(Value::Text(text)) => text,
                Some(Value::Json(list)) => list,
                Some(Value::Int(id)) => {
                    let listed = usize::try_from(id).ok().and_then(|id| lists.get(id));
                    listed.map_or("", String::as_str)
                }
                _ => continue,
            };
            // Equal texts of a trace are one text, so that their place in memory is enough to know them by.
            let key = (text.as_ptr() as i64, text.len() as i64);
            *own = known.get(key).unwrap_or_else(|| {
                let frames = self.frames(text);
                let id = distinct.intern(&frames.join("\0")).0;
                if id as usize == stacks.stacks.len() {
                    stacks.stacks.push(frames);
                }
                known.set(key, id);
                id
            });
        }
        self.copy_to_backward(&mut own);
        (stacks, own)
    }

    /// The stacks that events name by their position in `stack_table`, as JSON.
    fn listed_stacks(&self) -> Vec<String> {
        match self.table.metadata.value("stack_table") {
            Some(serde_json::Value::Array(stacks)) => stacks.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    /// The shown frames of a stack, innermost first: of a trace, a text that ends every frame with `;`; of records, a
    /// JSON list.
    fn frames(&self, text: &str) -> Vec<String> {
        if self.events.source == Source::Chrome {
            let text = text.rsplit_once(';').map_or("", |(frames, _)| frames);
            return text
                .split(';')
                .filter(|f| !text.is_empty() && is_shown(f))
                .map(ToOwned::to_owned)
                .collect();
        }
        let frames: Vec<String> = serde_json::from_str(text).unwrap_or_default();
        frames.into_iter().filter(|frame| is_shown(frame)).collect()
    }

    fn copy_to_backward(&self, own: &mut [u32]) {
        let backward = self.backward_functions();
        let threads = if self.events.source == Source::Chrome {
            forward_threads(self.trace)
        } else {
            self.own_threads()
        };
        let single = self.single_forward_thread(&backward).filter(|_| self.events.source == Source::Chrome);
        let sequence = |at: usize| self.table.int(self.events.rows[at], Key::SequenceNumber).unwrap_or(-1);
        let mut forward = Index::default();
        for at in (0..own.len()).filter(|&at| backward[at] == NONE) {
            forward.of((sequence(at), i64::from(self.thread(at))), own[at]);
        }
        for at in (0..own.len()).filter(|&at| backward[at] != NONE) {
            let function = backward[at] as usize;
            let thread = self.table.int(self.events.rows[function], Key::FwdThreadId).unwrap_or(0);
            let thread = threads.get((thread, 0)).or(single.filter(|_| thread != 0));
            let found = thread.and_then(|thread| forward.get((sequence(function), i64::from(thread))));
            own[at] = found.unwrap_or(0);
        }
    }

    /// For each event the innermost backward function that it is or lies in.
    fn backward_functions(&self) -> Vec<u32> {
        let mut backward = vec![NONE; self.events.len()];
        for at in 0..self.events.len() {
            let parent = self.events.parents[at];
            backward[at] = if self.events.scope(self.table, at) == scope::BACKWARD_FUNCTION {
                at as u32
            } else if parent == NONE {
                NONE
            } else {
                backward[parent as usize]
            };
        }
        backward
    }

    /// What stands for the thread of an event: its track; of records, the number of the thread, in whichever process.
    fn thread(&self, at: usize) -> u32 {
        let track = self.table.track_id(self.events.rows[at]);
        if self.events.source == Source::Chrome { track.0 } else { self.table.tracks.get(track).tid.0 }
    }

    /// Records number threads as they stand on them.
    fn own_threads(&self) -> Index {
        let mut threads = Index::default();
        for track in self.table.tracks.all() {
            if let Ok(number) = self.table.names.get(track.tid).parse() {
                threads.set((number, 0), track.tid.0);
            }
        }
        threads
    }

    fn single_forward_thread(&self, backward: &[u32]) -> Option<u32> {
        let forward = (0..self.events.len()).filter(|&at| {
            backward[at] == NONE
                && self.events.scope(self.table, at) != scope::USER
                && self.table.int(self.events.rows[at], Key::SequenceNumber).is_some_and(|n| n >= 0)
        });
        let mut tracks = forward.map(|at| self.thread(at));
        let first = tracks.next()?;
        tracks.all(|track| track == first).then_some(first)
    }
}

/// The tracks of the threads that ran forward operators, by the profiler's own number of the thread, as `fwdbwd` arrows
/// tell.
pub(super) fn forward_threads(trace: &Trace) -> Index {
    let table = &trace.table;
    let mut threads = Index::default();
    for &(backward, forward) in &trace.links.forward_of {
        if let Some(thread) = table.int(backward, Key::FwdThreadId).filter(|&thread| thread != 0) {
            threads.set((thread, 0), table.track_id(forward).0);
        }
    }
    threads
}

/// What a line of [`export`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// `self_cpu_time_total`, in whole microseconds.
    SelfCpuTime,
    /// `self_cuda_time_total` (torch's name for any device), in whole microseconds.
    SelfDeviceTime,
}

impl Metric {
    /// The metric of torch's name.
    pub fn of(name: &str) -> Option<Metric> {
        match name {
            "self_cpu_time_total" => Some(Metric::SelfCpuTime),
            "self_cuda_time_total"
            | "self_device_time_total"
            | "self_xpu_time_total"
            | "self_privateuse1_time_total" => Some(Metric::SelfDeviceTime),
            _ => None,
        }
    }
}

/// torch's `export_stacks`: a line an event, outermost frame first, `;` between frames, then the metric. Events without
/// a stack or with less than a microsecond are left out.
pub fn export(events: &FunctionEvents, table: &Table, metric: Metric) -> String {
    let clock = TorchClock::new(events, table);
    let mut out = String::new();
    for at in 0..events.len() {
        let frames = events.stacks.get(events.stack(at));
        let us = match metric {
            Metric::SelfCpuTime => clock.times(at).self_cpu_time_total,
            Metric::SelfDeviceTime => clock.times(at).self_device_time_total,
        } as i64;
        if frames.is_empty() || us <= 0 {
            continue;
        }
        for (i, frame) in frames.iter().rev().enumerate() {
            if i > 0 {
                out.push(';');
            }
            out.extend(frame.chars().map(|c| if matches!(c, ' ' | ';' | '\t' | '\n') { '_' } else { c }));
        }
        let _ = writeln!(out, " {us}");
    }
    out
}

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::ns("self_cpu_time_total_ns", "Self CPU", "Self time on the CPU of the events with this stack."),
    Column::ns(
        "self_device_time_total_ns",
        "Self device",
        "Device work that the events with this stack launched.",
    ),
    Column::int("count", "Events", "How many events have this stack."),
    Column::text("frame", "Innermost frame", "The innermost frame: path(line): function.").or_null(),
    Column::text("caller", "Called from", "The frame around it.").or_null(),
    Column::json("stack", "", "string[]", "The whole stack, innermost frame first."),
];

/// Stacks with the time spent in them, most self CPU time first.
pub fn stack_rows(events: &FunctionEvents) -> Rows {
    let mut sums: Vec<(i64, i64, usize, u32)> =
        (0..events.stacks.len() as u32).map(|id| (0, 0, 0, id)).collect();
    for at in 0..events.len() {
        let Some(sum) = sums.get_mut(events.stack(at) as usize) else { continue };
        sum.0 += events.self_ns[at];
        sum.1 += events.self_device_time_total_ns(at);
        sum.2 += 1;
    }
    sums.retain(|s| s.2 > 0 && s.3 != 0);
    sort_by_key(&mut sums, |s| (descending(s.0), descending(s.1)));
    let mut rows = Rows::new(COLUMNS);
    for (cpu, device, count, id) in sums {
        let frames = events.stacks.get(id);
        rows.push(vec![
            Cell::Ns(cpu),
            Cell::Ns(device),
            count.into(),
            frames.first().map(String::as_str).into(),
            frames.get(1).map(String::as_str).into(),
            Cell::Json(frames.iter().map(|f| serde_json::Value::from(f.as_str())).collect()),
        ]);
    }
    rows
}
