//! The stack of every function event.
//!
//! Backward functions have no stacks of their own. A backward function and its descendants take the stack of the first
//! event outside any backward function with the same sequence number on the forward thread. The trace identifies that
//! thread by the profiler's own thread number. `fwdbwd` flows map it to a track; without flows, a single forward thread
//! is used.

use super::call_sites::CallSites;
use super::{EventKind, FunctionEvent, FunctionEvents, is_python_call, scope};
use crate::analysis::torch::forward::forward_threads;
use crate::analysis::torch::frames::{StackId, StackTable, is_shown};
use crate::base::index::Index;
use crate::base::names::Names;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Finds the stack of every event.
pub(super) struct Stacks<'a> {
    trace: &'a Trace,
    table: &'a Table,
    events: &'a FunctionEvents,
    /// The calls whose lines frames have instead of those of definitions.
    calls: Option<CallSites<'a>>,
}

impl<'a> Stacks<'a> {
    pub(super) fn new(trace: &'a Trace, events: &'a FunctionEvents) -> Self {
        Stacks { trace, table: &trace.table, events, calls: None }
    }

    /// As [`Stacks::new`], with the lines of calls.
    pub(super) fn with_call_sites(
        trace: &'a Trace,
        events: &'a FunctionEvents,
        calls: CallSites<'a>,
    ) -> Self {
        Stacks { calls: Some(calls), ..Stacks::new(trace, events) }
    }

    /// Returns the distinct stacks and the stack of each event; empty if none was recorded.
    pub(super) fn build(&self) -> (StackTable, Vec<StackId>) {
        let mut stacks = StackTable::new();
        if self.table.layouts.all().iter().all(|l| l.find(Key::CallStack).is_none()) {
            return (stacks, Vec::new());
        }
        let lists = self.listed_stacks();
        let mut known = Index::default();
        let mut distinct = Names::default();
        let mut stack_of = vec![StackId::EMPTY; self.events.len()];
        for event in self.events.events() {
            let row = self.events.row(event);
            if self.events.kind(event) == EventKind::Memory {
                continue;
            }
            if self.is_call(row) {
                stack_of[event.index()] = self.call_stack(event, &stack_of, &mut stacks, &mut distinct);
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
            // Equal strings of a trace are stored once, so the address identifies the text.
            let key = (text.as_ptr() as i64, text.len() as i64);
            let id = known.get(key).filter(|_| self.calls.is_none()).unwrap_or_else(|| {
                let mut frames = self.frames(text);
                if let Some(calls) = &self.calls {
                    calls.set_lines(&mut frames, row);
                }
                frames.retain(|frame| is_shown(frame));
                let id = intern(frames, &mut stacks, &mut distinct).index() as u32;
                known.set(key, id);
                id
            });
            stack_of[event.index()] = StackId::new(id as usize);
        }
        let devices = self.device_stacks(&stack_of);
        self.copy_to_backward(&mut stack_of);
        for (event, stack) in devices {
            stack_of[event.index()] = stack;
        }
        (stacks, stack_of)
    }

    /// Returns the stacks of device work of a trace: those of the launches, before a backward function takes the stack of
    /// its forward function. The annotation of a stream has the stack of the first work in it.
    fn device_stacks(&self, stack_of: &[StackId]) -> Vec<(FunctionEvent, StackId)> {
        if self.events.source != Source::Chrome {
            return Vec::new();
        }
        let (table, links) = (self.table, &self.trace.links);
        let mut calls = Index::default();
        for event in self.events.events().filter(|&event| self.events.kind(event) == EventKind::Cpu) {
            calls.set((i64::from(self.events.row(event)), 0), event.index() as u32);
        }
        let mut next = Index::default();
        let mut stacks = Vec::new();
        for event in self.events.events().rev().filter(|&event| self.events.kind(event) == EventKind::Device)
        {
            let row = self.events.row(event);
            let track = (i64::from(table.track_id(row).0), 0);
            if table.category(row) == Category::GpuUserAnnotation {
                stacks.extend(next.get(track).map(|stack| (event, StackId::new(stack as usize))));
                continue;
            }
            let caller = links.launch(row).or_else(|| links.op(row));
            let caller = caller.and_then(|row| calls.get((i64::from(row), 0)));
            let stack = caller.map_or(StackId::EMPTY, |caller| stack_of[caller as usize]);
            next.set(track, stack.index() as u32);
            stacks.push((event, stack));
        }
        stacks
    }

    /// Whether a row of a trace is a call or overhead, which have no stack of their own in the trace.
    fn is_call(&self, row: Row) -> bool {
        let category = self.table.category(row);
        self.events.source == Source::Chrome
            && matches!(category, Category::Runtime | Category::Driver | Category::Overhead)
    }

    /// Returns the stack of a call: that of the operator in which it was made, or the Python functions around it.
    fn call_stack(
        &self,
        event: FunctionEvent,
        stack_of: &[StackId],
        stacks: &mut StackTable,
        distinct: &mut Names,
    ) -> StackId {
        let is_annotation = |event| self.events.is_user_annotation(self.table, event);
        // The stack of an annotation is that of the call that begins it.
        if let Some(parent) = self.events.parent(event).filter(|&parent| !is_annotation(parent)) {
            return stack_of[parent.index()];
        }
        let (table, tree) = (self.table, &self.trace.tree);
        let track = self.events.track(table, event);
        let innermost = tree.open_at(table, track, table.ts(self.events.row(event)));
        let enclosing = innermost.into_iter().flat_map(|at| core::iter::once(at).chain(tree.ancestors(at)));
        let functions = enclosing.map(|at| tree.row(at)).filter(|&row| is_python_call(table, row));
        let names = functions.map(|row| table.name(row).to_owned());
        intern(names.filter(|frame| is_shown(frame)).collect(), stacks, distinct)
    }

    /// Returns the stacks of `stack_table`, which events refer to by index, as JSON.
    fn listed_stacks(&self) -> Vec<String> {
        match self.table.metadata.value("stack_table") {
            Some(serde_json::Value::Array(stacks)) => stacks.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the frames of a stack, innermost first. In traces, a stack is a text with `;` after every frame;
    /// in records, it is a JSON list.
    fn frames(&self, text: &str) -> Vec<String> {
        if self.events.source == Source::Chrome {
            let text = text.rsplit_once(';').map_or("", |(frames, _)| frames);
            return text.split(';').filter(|_| !text.is_empty()).map(ToOwned::to_owned).collect();
        }
        serde_json::from_str(text).unwrap_or_default()
    }

    fn copy_to_backward(&self, stack_of: &mut [StackId]) {
        let backward = self.backward_functions();
        let is_trace = self.events.source == Source::Chrome;
        let threads = if is_trace { forward_threads(self.trace) } else { Index::default() };
        let single = self.single_forward_thread(&backward).filter(|_| is_trace);
        let sequence =
            |event: FunctionEvent| self.table.int(self.events.row(event), Key::SequenceNumber).unwrap_or(-1);
        let mut forward = Index::default();
        for event in self.events.events().filter(|event| backward[event.index()].is_none()) {
            let stack = stack_of[event.index()].index() as u32;
            forward.get_or_insert((sequence(event), self.thread(event)), stack);
        }
        for event in self.events.events() {
            let Some(function) = backward[event.index()] else { continue };
            let number = self.table.int(self.events.row(function), Key::FwdThreadId).unwrap_or(0);
            let thread = if is_trace {
                threads.get((number, 0)).map(i64::from).or(single.filter(|_| number != 0))
            } else {
                Some(number)
            };
            let found = thread.and_then(|thread| forward.get((sequence(function), thread)));
            stack_of[event.index()] = found.map_or(StackId::EMPTY, |stack| StackId::new(stack as usize));
        }
    }

    /// Returns, for each event, the innermost backward function that it is or lies in.
    fn backward_functions(&self) -> Vec<Option<FunctionEvent>> {
        let mut backward: Vec<Option<FunctionEvent>> = Vec::with_capacity(self.events.len());
        for event in self.events.events() {
            let is_one = self.events.scope(self.table, event) == scope::BACKWARD_FUNCTION;
            let inherited = || backward[self.events.parent(event)?.index()];
            let innermost = if is_one { Some(event) } else { inherited() };
            backward.push(innermost);
        }
        backward
    }

    /// Returns the thread of an event: its track; for records, the number of the thread regardless of the process.
    /// Allocations outside of every range of legacy records are on thread 0.
    fn thread(&self, event: FunctionEvent) -> i64 {
        let track = self.table.track_id(self.events.row(event));
        match self.events.source {
            Source::Chrome | Source::ExecutionTrace => i64::from(track.0),
            Source::LegacyRecords if self.events.kind(event) == EventKind::Memory => 0,
            _ => self.table.names.get(self.table.tracks.get(track).tid).parse().unwrap_or(0),
        }
    }

    fn single_forward_thread(&self, backward: &[Option<FunctionEvent>]) -> Option<i64> {
        let forward = self.events.events().filter(|&event| {
            backward[event.index()].is_none()
                && self.events.scope(self.table, event) != scope::USER
                && self.table.int(self.events.row(event), Key::SequenceNumber).is_some_and(|n| n >= 0)
        });
        let mut tracks = forward.map(|event| self.thread(event));
        let first = tracks.next()?;
        tracks.all(|track| track == first).then_some(first)
    }
}

/// Returns the id of a stack, which is stored once.
fn intern(frames: Vec<String>, stacks: &mut StackTable, distinct: &mut Names) -> StackId {
    let id = distinct.intern(&frames.join("\0")).0 as usize;
    if id == stacks.len() {
        stacks.push(frames);
    }
    StackId::new(id)
}
