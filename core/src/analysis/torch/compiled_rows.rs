//! The answer of `compiled` as rows and as text.

use super::compiled::{Broken, Compiled, GraphCalls, KernelCalls, only};
use super::source::SourceBy;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::analysis::query::{Answer, Input, Query};
use crate::base::page::{Page, listed};
use crate::base::rows::{Cell, Column, Kinds, Rows, RowsOfKinds, Variant, columns};
use crate::base::units::counted;
use crate::base::words::words;
use crate::trace::provenance::calls::MatchedBy;
use crate::trace::provenance::frames::Break;
use crate::trace::provenance::graphs::CompiledKernel;
use crate::trace::provenance::kind::CompiledKind;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The query `compiled`.
pub(crate) const COMPILED: Query = Query::with_kinds(
    "compiled",
    "torch.compile: graphs, kernels and their source, breaks",
    &KINDS,
    |trace, request| {
        let compiled = Compiled::new(trace);
        if request.for_reading {
            return Ok(if compiled.is_empty() {
                Rows::default().into()
            } else {
                Answer::page(text(&compiled))
            });
        }
        Ok(request.limited(rows(&compiled)))
    },
)
.examples(&["run.json", "run.json --provenance torch_trace/ --format json"])
.options::<ListOptions>()
.inputs(&[Input::Provenance])
.questions(&[Question::Operators])
.hint("no call of a compiled graph in this trace");

words! {
    "CompiledRowKind"
    /// What a row of `compiled` is about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum CompiledRowKind {
        /// A graph that is called.
        Graph = "graph",
        /// A kernel that a graph calls.
        Kernel = "kernel",
        /// A place where a graph broke.
        Break = "break",
    }
}

const KINDS: Kinds = Kinds {
    column: Column::word("kind", "Kind", &CompiledRowKind::VOCABULARY, "What the row is about."),
    variants: &[
        Variant { name: "CompiledGraph", kinds: &["graph"], columns: GRAPH },
        Variant { name: "CompiledKernel", kinds: &["kernel"], columns: KERNEL },
        Variant { name: "GraphBreak", kinds: &["break"], columns: BREAK },
    ],
};

fn rows(compiled: &Compiled<'_>) -> Rows {
    let mut rows = RowsOfKinds::new(&KINDS);
    for (at, one) in compiled.graphs.iter().enumerate() {
        rows.push(CompiledRowKind::Graph.as_str(), graph(at + 1, one));
    }
    for one in &compiled.kernels {
        rows.push(CompiledRowKind::Kernel.as_str(), kernel(one));
    }
    for one in &compiled.breaks {
        rows.push(CompiledRowKind::Break.as_str(), graph_break(one));
    }
    rows.finish()
}

const NUMBER: Column =
    Column::int("graph", "Graph", "The number of the graph, from 1, in the order of the first calls.");
const COMPILE_ID: Column = Column::text("compile_id", "Compile id", "The frame and its number of compilations, such as 0/1; null if neither a region around the call nor a file states it.").nullable();
const CALLS: Column = Column::int(
    "calls",
    "Calls",
    "The number of calls; of a graph of AOTInductor 0, because the trace does not show its calls.",
);
const EVENT: Column = Column::int("event", "", "The index of its first call.");
const HOST: Column = Column::ns("host_ns", "CPU", "Sum of the durations of the calls on the host.");
const DEVICE: Column =
    Column::ns("device_ns", "GPU", "Sum of the durations of the device work that they launch.");

columns! {
    /// The columns of a graph.
    const GRAPH: fn graph(number: usize, graph: &GraphCalls<'_>) {
        let known = graph.graph.map(|known| known.0);
        let only = only(graph.graph);
        let frame = graph.frame;
    } [
        NUMBER => number,
        COMPILE_ID => graph.compile_id,
        Column::word("graph_kind", "Pass", &CompiledKind::VOCABULARY, "Whether it is a forward or backward pass, or a graph without a backward pass; null without files.")
            .nullable() => only.and_then(|only| only.kind).map(CompiledKind::as_str),
        Column::text("function", "Function", "The function that was compiled, with the file and its first line; null without a log.").nullable() =>
            frame.map(|frame| frame.function.as_str()),
        CALLS => graph.count,
        HOST => graph.host_ns,
        DEVICE => graph.device_ns,
        Column::int("kernels", "Kernels", "The number of kernels and external functions that a call runs; null without files.").nullable() =>
            known.map(|known| known.kernels.len()),
        Column::text("key", "", "The key of the graph in the cache of Inductor.").nullable() => graph.key,
        Column::text("file", "", "The name of the generated file; null without a log.").nullable() =>
            only.and_then(|only| only.file.as_deref()),
        Column::bool("cached", "Cached", "Whether Inductor took it from its cache: the lines of its kernels are then those of the program that was compiled first. Null without a log.").nullable().minor() =>
            only.filter(|only| only.key.is_some()).map(|only| only.is_cached),
        Column::word("matched_by", "Matched by", &MatchedBy::VOCABULARY, "What shows which graph of the files is called: `key` its key, `file` the generated file in the stack, `region` the compile id and the names of kernels, `names` the names of kernels only, `equal_graphs` that several graphs fit whose kernels come from the same nodes and lines; null if no graph of the files fits, or several different ones do.")
            .nullable().minor() => graph.graph.map(|known| known.1.as_str()),
        Column::text("recompile_reason", "Recompiled because", "Why the frame was compiled again: the first guard that failed; null for a first compilation and without a log.").nullable() =>
            frame.and_then(|frame| frame.recompile_reason.as_deref()),
        Column::ns("compile_ns", "Compilation", "How long the compilation of its frame took, which is mostly before the recording; null without a log.").nullable().minor() =>
            frame.and_then(|frame| frame.compile_ns),
        EVENT => graph.first.index(),
    ]
}

columns! {
    /// The columns of a kernel.
    const KERNEL: fn kernel(one: &KernelCalls<'_>) {
        let known = one.kernel;
    } [
        NUMBER => one.graph + 1,
        Column::text("name", "Kernel", "The name of the operator in the trace.") => one.name,
        Column::int("handle", "Handle", "PyTorch's number of the call in the generated code; null without files.").nullable().minor() =>
            known.map(|known| known.handle as usize),
        CALLS => one.count,
        HOST => one.host_ns,
        DEVICE => one.device_ns,
        Column::text("source", "Source", "The lines of the program that its nodes come from, as FILE:LINE; without files, the generated file that the trace names.").nullable() =>
            one.source.as_ref().map(|source| source.text.as_str()),
        Column::word("source_by", "", &SourceBy::VOCABULARY, "What shows the source, as in `kernels`.").nullable() =>
            one.source.as_ref().map(|source| source.by.as_str()),
        Column::text("operators", "Operators", "The operators of its nodes; of a generated kernel whose nodes are not known, those before decomposition; null without files.").nullable() =>
            texts(known, |known| &known.operators),
        Column::text("nodes", "Nodes", "The nodes of the graph that Inductor lowered.").nullable().minor() =>
            texts(known, |known| &known.nodes),
        Column::text("source_nodes", "", "The nodes of the graph as the program has it, whose names are mostly those of variables.").nullable() =>
            texts(known, |known| &known.source_nodes),
        EVENT => one.first.index(),
    ]
}

columns! {
    /// The columns of a graph break.
    const BREAK: fn graph_break(one: &Broken<'_>) [
        COMPILE_ID => one.first.compile_id.as_deref(),
        Column::text("line", "Line", "The line at which the graph ends, as FILE:LINE.") => one.first.line.as_str(),
        Column::text("reason", "Reason", "The reason, in PyTorch's words.") => one.first.reason.as_str(),
        Column::int("count", "Compilations", "The number of compilations that met it.") => one.count,
    ]
}

/// The texts of a kernel, separated by commas; `None` if they are not known.
fn texts<'a>(
    kernel: Option<&'a CompiledKernel>,
    of: impl FnOnce(&'a CompiledKernel) -> &'a Vec<String>,
) -> Option<String> {
    kernel.map(of).filter(|texts| !texts.is_empty()).map(|texts| texts.join(", "))
}

/// The number of rows of each table of the text.
const LISTED: usize = 20;

fn text(compiled: &Compiled<'_>) -> Page {
    let mut page = Page::default();
    let calls: usize = compiled.graphs.iter().map(|graph| graph.count).sum();
    page.line(format!(
        "torch.compile: {} of {}, {}",
        counted(calls, "call"),
        counted(compiled.graphs.len(), "graph"),
        counted(compiled.kernels.len(), "kernel")
    ));
    match compiled.unknown_calls {
        None => page.line("  --provenance adds source lines, operators and graph breaks from the log of TORCH_TRACE or a folder torch_compile_debug"),
        Some(0) => {}
        Some(count) => page.line(format!("  the graph of {} is not in the files, or several fit", counted(count, "call"))),
    }
    if compiled.graphs.iter().any(GraphCalls::is_cached) {
        page.line("  (cached): from the cache of Inductor; the lines are those of the program that was compiled first");
    }
    page.indented("Graphs", &graphs_table(compiled));
    page.indented(&listed("Kernels", compiled.kernels.len(), LISTED), &kernels_table(compiled));
    let mut breaks = Rows::page(&["Line", "Compilations", "Reason"]);
    for one in compiled.breaks.iter().take(LISTED) {
        let Break { line, reason, .. } = one.first;
        breaks.push(vec![line.as_str().into(), Cell::Int(one.count as i64), reason.as_str().into()]);
    }
    page.indented(&listed("Graph breaks", compiled.breaks.len(), LISTED), &breaks);
    page
}

fn graphs_table(compiled: &Compiled<'_>) -> Rows {
    let mut rows = Rows::page(&["Graph", "Function", "Calls", "CPU", "GPU", "Kernels", "Recompiled because"]);
    for graph in compiled.graphs.iter().take(LISTED) {
        let known = |count: usize| if count > 0 { Cell::Int(count as i64) } else { Cell::Null };
        rows.push(vec![
            graph.label().into_owned().into(),
            optional(graph.frame.map(|frame| frame.function.as_str())),
            known(graph.count),
            Cell::Ns(graph.host_ns),
            Cell::Ns(graph.device_ns),
            known(graph.graph.map_or(0, |known| known.0.kernels.len())),
            optional(graph.frame.and_then(|frame| frame.recompile_reason.as_deref())),
        ]);
    }
    rows
}

fn kernels_table(compiled: &Compiled<'_>) -> Rows {
    let mut rows = Rows::page(&["Kernel", "Graph", "Calls", "CPU", "GPU", "Source", "Operators"]);
    for one in compiled.kernels.iter().take(LISTED) {
        rows.push(vec![
            one.name.into(),
            compiled.graphs[one.graph].label().into_owned().into(),
            Cell::Int(one.count as i64),
            Cell::Ns(one.host_ns),
            Cell::Ns(one.device_ns),
            optional(one.source.as_ref().map(|source| source.text.as_str())),
            optional(texts(one.kernel, |kernel| &kernel.operators).as_deref()),
        ]);
    }
    rows
}

fn optional(text: Option<&str>) -> Cell {
    text.map_or(Cell::Null, Cell::from)
}
