//! The line of a program, or the generated file, that device work comes from.

use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::provenance::traceback::{Line, is_torch_frame};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::{FieldPlace, Key};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;

words! {
    "SourceBy"
    /// What shows the source of device work.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum SourceBy {
        /// The files of `torch.compile`: the lines that the nodes of a generated kernel come from.
        Inductor = "inductor",
        /// The same of a kernel that is known by its name only, because a CUDA graph replays it.
        Name = "kernel_name",
        /// The stack that added the node to its graph, in a file that was joined.
        GraphNode = "graph_node",
        /// The Python stack around the operator that launched it, or that was captured.
        Stack = "stack",
        /// The operator names the generated file of the kernel, or is called in one.
        Generated = "generated_file",
    }
}

/// The source of device work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// `FILE:LINE`; several ones separated by a comma; a frame as `FILE(LINE): FUNCTION` with the first line of the function; or a
    /// file.
    pub(crate) text: String,
    pub(crate) by: SourceBy,
}

/// Finds the sources of device work.
pub(crate) struct Sources<'a> {
    trace: &'a Trace,
    /// The innermost Python call around each row that is not PyTorch's, of the trace and of the captures that are joined to it.
    calls: Vec<(&'a Trace, Vec<Option<Row>>)>,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Sources<'a> {
        let traces = core::iter::once(trace).chain(trace.captures());
        Sources { trace, calls: traces.map(|trace| (trace, python_calls(trace))).collect() }
    }

    /// The source of device work.
    pub(crate) fn of(&self, work: Row) -> Option<Source> {
        let found = |text: String, by| Some(Source { text, by });
        let named = self.trace.named_kernel(work).map(|kernel| (kernel, SourceBy::Name));
        let known = named.or_else(|| Some((self.trace.compiled_kernel(work)?, SourceBy::Inductor)));
        if let Some((kernel, by)) = known.filter(|known| !known.0.lines.is_empty()) {
            return found(joined(&kernel.lines), by);
        }
        if let Some(line) = self.trace.node_line(work) {
            return found(line.to_string(), SourceBy::GraphNode);
        }
        let owner = self.trace.owner(work)?;
        let (table, op) = (&owner.trace.table, owner.op.or(owner.call)?);
        let file = table.field_named(op, FieldPlace::Args, "kernel_file").and_then(|file| file.as_str());
        if let Some(file) = file.filter(|file| !file.is_empty()) {
            return found(file.to_owned(), SourceBy::Generated);
        }
        let recorded = table.field(op, Key::CallStack).and_then(|stack| stack.as_str()).unwrap_or("");
        let calls = self.calls.iter().find(|calls| core::ptr::eq(calls.0, owner.trace));
        let call = calls.and_then(|calls| calls.1[op.index()]);
        let place = recorded
            .split(';')
            .find(|frame| is_own(frame))
            .or_else(|| call.map(|call| place(table, call)))?;
        let by = if is_generated_file(place) { SourceBy::Generated } else { SourceBy::Stack };
        found(place.to_owned(), by)
    }
}

/// The lines as a text, the file of each only if it is another one than before.
pub(crate) fn joined(lines: &[Line]) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let is_same = at > 0 && lines[at - 1].file == line.file;
        let separator = if at > 0 { ", " } else { "" };
        let _ = if is_same {
            write!(text, "{separator}{}", line.number)
        } else {
            write!(text, "{separator}{line}")
        };
    }
    text
}

/// The place that a Python call shows: its own function, in which the line is not known, or the line that it was called from.
fn place(table: &Table, call: Row) -> &str {
    if is_own(table.name(call)) { table.name(call) } else { from(table, call).unwrap_or_default() }
}

/// Whether a frame is of Python and not PyTorch's.
fn is_own(frame: &str) -> bool {
    frame.contains(".py(") && !is_torch_frame(frame)
}

fn from(table: &Table, call: Row) -> Option<&str> {
    table.field(call, Key::CallFrom)?.as_str().filter(|place| !place.is_empty())
}

fn python_calls(trace: &Trace) -> Vec<Option<Row>> {
    let (table, tree) = (&trace.table, &trace.tree);
    let own = table.names.that(is_own);
    let mut calls: Vec<Option<Row>> = vec![None; table.len()];
    for at in tree.positions() {
        let row = tree.row(at);
        let around = tree.parent(at).and_then(|above| calls[tree.row(above).index()]);
        let is_call = table.category(row) == Category::PythonFunction
            && (own.has(table.name_id(row)) || from(table, row).is_some_and(|from| !is_torch_frame(from)));
        calls[row.index()] = if is_call { Some(row) } else { around };
    }
    for at in tree.positions() {
        let row = tree.row(at);
        if calls[row.index()].is_none() {
            let forward = trace.links.forward(row).or_else(|| Some(tree.row(tree.parent(at)?)));
            calls[row.index()] = forward.and_then(|row| calls[row.index()]);
        }
    }
    calls
}

/// Whether a place is in a file of Inductor's cache, whose name is a hash: `c` and 51 digits of base 32.
fn is_generated_file(place: &str) -> bool {
    let end = place.find(".py").unwrap_or(0);
    let name = place[..end].rsplit(['/', '\\']).next().unwrap_or("");
    let is_digit = |c: u8| c.is_ascii_lowercase() || (b'2'..=b'7').contains(&c);
    name.len() == 52 && name.starts_with('c') && name.bytes().all(is_digit)
}
