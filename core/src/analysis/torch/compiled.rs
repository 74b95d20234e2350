//! What `torch.compile` made of a program: the graphs that ran, their kernels, and where graphs broke.
//!
//! The trace shows calls of graphs and the names of kernels. The rest comes from the files that were joined.

use super::source::{Source, SourceBy, Sources, joined};
use crate::base::index::Index;
use crate::base::names::Names;
use crate::base::order::{descending, sort_by_key};
use crate::trace::Trace;
use crate::trace::provenance::Provenance;
use crate::trace::provenance::calls::{Call, Calls, MatchedBy};
use crate::trace::provenance::frames::{Break, CompiledFrame};
use crate::trace::provenance::graphs::{CompiledGraph, CompiledKernel};
use crate::trace::provenance::names::generated;
use crate::trace::table::events::Row;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The answer of `compiled`.
pub(super) struct Compiled<'a> {
    pub(super) graphs: Vec<GraphCalls<'a>>,
    pub(super) kernels: Vec<KernelCalls<'a>>,
    pub(super) breaks: Vec<Broken<'a>>,
    /// The number of calls whose graph is not in the files; `None` without files.
    pub(super) unknown_calls: Option<usize>,
}

/// The calls of a compiled graph.
pub(super) struct GraphCalls<'a> {
    pub(super) compile_id: Option<&'a str>,
    pub(super) key: Option<&'a str>,
    /// The graph, and what shows it, if files were joined that have it.
    pub(super) graph: Option<(&'a CompiledGraph, MatchedBy)>,
    pub(super) frame: Option<&'a CompiledFrame>,
    /// The first call.
    pub(super) first: Row,
    pub(super) count: usize,
    pub(super) host_ns: i64,
    pub(super) device_ns: i64,
}

/// The calls of a kernel of a graph.
pub(super) struct KernelCalls<'a> {
    pub(super) name: &'a str,
    /// Its graph: the position in [`Compiled::graphs`].
    pub(super) graph: usize,
    pub(super) kernel: Option<&'a CompiledKernel>,
    /// The first call.
    pub(super) first: Row,
    pub(super) count: usize,
    pub(super) host_ns: i64,
    pub(super) device_ns: i64,
    pub(super) source: Option<Source>,
}

/// A place where graphs broke, and how often it was met.
pub(super) struct Broken<'a> {
    pub(super) first: &'a Break,
    pub(super) count: usize,
}

impl<'a> Compiled<'a> {
    pub(super) fn new(trace: &'a Trace) -> Compiled<'a> {
        let known = trace.provenance.as_deref();
        let calls = Calls::new(trace, known.map_or(&[], |known| &known.graphs));
        let mut found = Finder::new(trace, known);
        for (at, call) in calls.calls.iter().enumerate() {
            found.add_call(at, call);
        }
        found.add_kernels(&calls);
        found.add_work(&calls);
        found.finish()
    }
}

struct Finder<'a> {
    trace: &'a Trace,
    known: Option<&'a Provenance>,
    answer: Compiled<'a>,
    /// The number of the graph that each call is of.
    graph_of: Vec<Option<usize>>,
    /// The number of the kernel that each operator is a call of.
    kernel_of: Index,
}

impl<'a> Finder<'a> {
    fn new(trace: &'a Trace, known: Option<&'a Provenance>) -> Finder<'a> {
        let answer = Compiled {
            graphs: Vec::new(),
            kernels: Vec::new(),
            breaks: Vec::new(),
            unknown_calls: known.map(|_| 0),
        };
        Finder { trace, known, answer, graph_of: Vec::new(), kernel_of: Index::default() }
    }

    fn add_call(&mut self, at: usize, call: &Call) {
        let table = &self.trace.table;
        let graph = self.known.and_then(|known| known.called[at].map(|(at, by)| (&known.graphs[at], by)));
        // A region around a call of a graph calls no kernels.
        let is_called = graph.is_some() || call.key(table).is_some() || call.has_generated(table);
        let first = call.row().or_else(|| call.operators.first().copied().filter(|_| graph.is_some()));
        let Some(first) = first.filter(|_| is_called) else {
            self.graph_of.push(None);
            return;
        };
        let (compile_id, key) = (call.compile_id(table), call.key(table));
        let is_same = |other: &GraphCalls<'_>| match (graph, other.graph) {
            (Some((graph, by)), Some((of, _))) => {
                core::ptr::eq(graph, of) && (by != MatchedBy::Equal || other.compile_id == compile_id)
            }
            (None, None) => (other.compile_id, other.key) == (compile_id, key),
            _ => false,
        };
        let number = self.answer.graphs.iter().position(is_same).unwrap_or_else(|| {
            let only = only(graph);
            let id = compile_id.or_else(|| only?.compile_id.as_deref());
            let frame = only.and_then(|only| self.frame(only));
            let calls = GraphCalls {
                compile_id: id,
                key: key.or_else(|| only?.key.as_deref()),
                graph,
                frame,
                first,
                count: 0,
                host_ns: 0,
                device_ns: 0,
            };
            self.answer.graphs.push(calls);
            self.answer.graphs.len() - 1
        });
        let of = &mut self.answer.graphs[number];
        if let Some(row) = call.row() {
            of.count += 1;
            of.host_ns += table.dur(row).max(0);
        }
        if graph.is_none() {
            self.answer.unknown_calls.iter_mut().for_each(|count| *count += 1);
        }
        self.graph_of.push(Some(number));
    }

    /// The compilation of a graph's frame; `None` if logs of several processes have different ones.
    fn frame(&self, graph: &CompiledGraph) -> Option<&'a CompiledFrame> {
        let id = graph.compile_id.as_deref();
        let mut frames = self.known?.frames.iter().filter(|frame| Some(&*frame.compile_id) == id);
        let first = frames.next()?;
        let is_same = |other: &CompiledFrame| {
            (&other.function, &other.recompile_reason) == (&first.function, &first.recompile_reason)
        };
        frames.all(is_same).then_some(first)
    }

    /// Finds the operators that are calls of kernels.
    fn add_kernels(&mut self, calls: &Calls) {
        let table = &self.trace.table;
        let mut names = Names::default();
        let mut numbers = Index::default();
        for (at, call) in calls.calls.iter().enumerate() {
            let Some(graph) = self.graph_of[at] else { continue };
            for &row in &call.operators {
                let kernel = self.trace.compiled_kernel(row);
                if kernel.is_none() && generated(table.name(row)).is_none() {
                    continue;
                }
                let name = table.name(row);
                let key = kernel
                    .map_or_else(|| -i64::from(names.intern(name).0), |kernel| i64::from(kernel.handle));
                let kernels = &mut self.answer.kernels;
                let number = numbers.get_or_insert((graph as i64, key), kernels.len() as u32) as usize;
                if number == kernels.len() {
                    kernels.push(KernelCalls {
                        name,
                        graph,
                        kernel,
                        first: row,
                        count: 0,
                        host_ns: 0,
                        device_ns: 0,
                        source: None,
                    });
                }
                self.kernel_of.set((i64::from(row), 0), number as u32);
                kernels[number].count += 1;
                kernels[number].host_ns += table.dur(row).max(0);
            }
        }
    }

    /// Adds up the device work that calls launch.
    fn add_work(&mut self, calls: &Calls) {
        let (table, links) = (&self.trace.table, &self.trace.links);
        let mut sources: Option<Sources<'_>> = None;
        for work in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
            let (op, launch) = (links.op(work), links.launch(work));
            let Some(by) = launch.or(op) else { continue };
            let ns = table.dur(work).max(0);
            if let Some(graph) = self.graph_of[calls.call_of[by.index()] as usize] {
                self.answer.graphs[graph].device_ns += ns;
            }
            let operator = op.and_then(|op| calls.operator_of[op.index()]);
            let Some(number) = operator.and_then(|row| self.kernel_of.get((i64::from(row), 0))) else {
                continue;
            };
            let kernel = &mut self.answer.kernels[number as usize];
            kernel.device_ns += ns;
            if kernel.source.is_none() && kernel.kernel.is_none() {
                let sources = sources.get_or_insert_with(|| Sources::new(self.trace));
                kernel.source = sources.of(work);
            }
        }
    }

    fn finish(mut self) -> Compiled<'a> {
        for kernel in &mut self.answer.kernels {
            let lines = kernel.kernel.map_or(&[][..], |kernel| &kernel.lines);
            if !lines.is_empty() {
                kernel.source = Some(Source { text: joined(lines), by: SourceBy::Inductor });
            }
        }
        for one in self.known.into_iter().flat_map(|known| &known.breaks) {
            let breaks = &mut self.answer.breaks;
            match breaks.iter_mut().find(|of| (&of.first.line, &of.first.reason) == (&one.line, &one.reason))
            {
                Some(of) => of.count += 1,
                None => breaks.push(Broken { first: one, count: 1 }),
            }
        }
        let time = |device_ns: i64, host_ns: i64| (descending(device_ns), descending(host_ns));
        // The order of graphs stays: kernels refer to it.
        sort_by_key(&mut self.answer.kernels, |kernel| time(kernel.device_ns, kernel.host_ns));
        self.answer
    }
}

impl Compiled<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.graphs.is_empty() && self.breaks.is_empty()
    }
}

/// The graph of the files, unless it is one of several equal ones.
pub(super) fn only(graph: Option<(&CompiledGraph, MatchedBy)>) -> Option<&CompiledGraph> {
    graph.filter(|graph| graph.1 != MatchedBy::Equal).map(|graph| graph.0)
}

impl GraphCalls<'_> {
    /// Whether Inductor took the graph from its cache.
    pub(super) fn is_cached(&self) -> bool {
        self.graph.is_some_and(|known| known.0.is_cached)
    }

    /// A short text for the graph: the compile id and the kind, else the key.
    pub(super) fn label(&self) -> Cow<'_, str> {
        let cached = if self.is_cached() { " (cached)" } else { "" };
        match (self.compile_id, only(self.graph).and_then(|only| only.kind), self.key) {
            (Some(id), Some(kind), _) => alloc::format!("{id} {}{cached}", kind.as_str()).into(),
            (Some(id), None, _) => alloc::format!("{id}{cached}").into(),
            (None, _, Some(key)) => key.get(..12).unwrap_or(key).into(),
            (None, Some(kind), None) => kind.as_str().into(),
            // Only AOTInductor calls graphs without any of these.
            (None, None, None) if self.count == 0 => "AOTInductor".into(),
            (None, None, None) => "(unknown)".into(),
        }
    }
}
