//! Stacks with the lines of calls.
//!
//! A frame of PyTorch's stacks has the line at which its function is defined. Since PyTorch 2.14, a Python function also
//! has `CallFrom`, the file and line from which it was called: the exact line in the frame around it. A frame without a
//! known call keeps the line of its definition.

use super::is_python_call;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The calls of a trace with the lines they were made from.
pub(super) struct CallSites<'a> {
    trace: &'a Trace,
}

impl<'a> CallSites<'a> {
    /// Returns the calls of a trace; `None` if it has no lines of calls.
    pub(super) fn new(trace: &'a Trace) -> Option<CallSites<'a>> {
        let table = &trace.table;
        let calls = CallSites { trace };
        let has_any = table.layouts.all().iter().any(|layout| layout.find(Key::CallFrom).is_some());
        (has_any && table.rows().any(|row| calls.line(row).is_some())).then_some(calls)
    }

    /// Replaces the lines in the frames of an event, which are all frames of its stack, innermost first.
    pub(super) fn set_lines(&self, frames: &mut [String], event: Row) {
        // The stack of a Python function begins with its caller.
        if is_python_call(&self.trace.table, event) {
            self.set_line(frames, 0, event);
        }
        let mut next = 0;
        for call in self.open_at_begin(event) {
            let Some(skipped) = self.frame(&frames[next.min(frames.len())..], call) else { continue };
            next += skipped + 1;
            self.set_line(frames, next, call);
        }
    }

    /// The Python calls that are open when an event begins, innermost first. They need not be around it: a range of
    /// `record_function` begins in the call that begins it, and ends after that call.
    fn open_at_begin(&self, event: Row) -> Vec<Row> {
        let (table, tree) = (&self.trace.table, &self.trace.tree);
        let (start, end) = (table.ts(event), table.end(event));
        let lanes = tree.lanes_of(table.track_id(event)).iter();
        let open = lanes.flat_map(|lane| tree.open_in(lane, table, start)).map(|at| tree.row(at));
        let is_inside = |row: Row| table.ts(row) == start && table.end(row) <= end;
        let mut calls: Vec<Row> = open.filter(|&row| is_python_call(table, row) && !is_inside(row)).collect();
        sort_by_key(&mut calls, |&row| (-table.ts(row), table.end(row)));
        calls
    }

    /// The index of the first frame of a call's function.
    fn frame(&self, frames: &[String], call: Row) -> Option<usize> {
        let name = without_line(self.trace.table.name(call));
        frames.iter().position(|frame| without_line(frame) == name)
    }

    /// The line that a function was called from.
    fn line(&self, call: Row) -> Option<&'a str> {
        let from = self.trace.table.field(call, Key::CallFrom)?.as_str()?;
        let (_, line) = from.rsplit_once(':')?;
        (!line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())).then_some(line)
    }

    fn set_line(&self, frames: &mut [String], at: usize, call: Row) {
        if let (Some(frame), Some(line)) = (frames.get_mut(at), self.line(call))
            && let Some((path, function)) = parts(frame)
        {
            *frame = format!("{path}({line}){function}");
        }
    }
}

/// Splits `path(line): function` into what precedes and what follows the line.
fn parts(frame: &str) -> Option<(&str, &str)> {
    let (before, function) = frame.split_at(frame.find("): ")?);
    let (path, line) = before.rsplit_once('(')?;
    line.bytes().all(|byte| byte.is_ascii_digit()).then_some((path, &function[1..]))
}

fn without_line(frame: &str) -> (&str, &str) {
    parts(frame).unwrap_or((frame, ""))
}
