//! What files next to a trace say about where its kernels come from: those that `torch.compile` writes about the kernels that it
//! generates, and annotations of the nodes of CUDA graphs.

pub(crate) mod calls;
mod code;
mod files;
pub(crate) mod frames;
pub(crate) mod graphs;
pub(crate) mod kind;
mod log;
mod nodes;
mod text;
pub(crate) mod traceback;

use self::calls::{Calls, KnownKernels, MatchedBy, generated};
use self::files::Files;
use self::frames::{Break, CompiledFrame};
use self::graphs::{CompiledGraph, CompiledKernel};
use self::nodes::{GraphNode, GraphNodes, node_key};
use self::traceback::Line;
use super::link::search::lower_bound;
use crate::base::error::Error;
use crate::base::names::{NameId, Names};
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::vec::Vec;

/// A file next to a trace, with its path or name.
#[derive(Clone, Copy, Debug)]
pub struct ProvenanceFile<'a> {
    /// The path, whose last folders can say which graph the file is of.
    pub path: &'a str,
    /// The bytes, which can be compressed.
    pub bytes: &'a [u8],
}

/// What the files explain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// The number of compiled graphs in the files.
    pub graphs: usize,
    /// The number of calls of compiled graphs in the trace, and of those whose graph is known.
    pub calls: usize,
    /// Those whose graph is known.
    pub known_calls: usize,
    /// The number of operators that are calls of their kernels.
    pub operators: usize,
    /// The number of activities that are nodes of graphs with annotations or stacks.
    pub activities: usize,
}

/// What was joined.
#[derive(Clone, Debug, Default)]
pub(crate) struct Provenance {
    pub(crate) graphs: Vec<CompiledGraph>,
    pub(crate) frames: Vec<CompiledFrame>,
    pub(crate) breaks: Vec<Break>,
    nodes: GraphNodes,
    /// The graph of each call of [`Calls`], in their order.
    pub(crate) called: Vec<Option<(usize, MatchedBy)>>,
    /// The operators that are calls of kernels, and those inside of them: graph and kernel, sorted by row.
    owned: Vec<(Row, (u32, u32))>,
    /// The kernels that are known by their names alone, sorted by name.
    named: Vec<(NameId, (u32, u32))>,
}

impl Trace {
    /// Joins files that say where kernels come from: logs of `TORCH_TRACE`, files of a folder `torch_compile_debug`,
    /// `kernel_information.json`, and annotations or stacks of the nodes of CUDA graphs, as JSON or as a pickle. The files of earlier
    /// calls are replaced.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if a file is none of these, or if nothing in the trace is what the files describe.
    pub fn join_provenance(&mut self, files: &[ProvenanceFile<'_>]) -> Result<Explained, Error> {
        let mut read = Files::default();
        for file in files {
            read.read(file).map_err(|why| Error::BadOption(format!("{}: {why}", file.path)))?;
        }
        let graphs = read.take_graphs();
        let Files { frames, breaks, nodes, .. } = read;
        let mut provenance = Provenance { graphs, frames, breaks, nodes, ..Provenance::default() };
        let explained = provenance.join(self);
        if explained.operators + explained.activities == 0 {
            return Err(Error::BadOption(format!(
                "no kernel in the trace is one of the {} compiled graphs or {} nodes in these files; are they of another run?",
                explained.graphs,
                provenance.nodes.entries().len()
            )));
        }
        self.provenance = Some(provenance.into());
        Ok(explained)
    }

    /// Whether the trace has calls of kernels that `torch.compile` generated.
    pub fn calls_generated_kernels(&self) -> bool {
        let names = self.table.names.that(|name| generated(name).is_some());
        let is_call = |row: Row| {
            matches!(self.table.category(row), Category::CpuOp | Category::Kernel)
                && names.has(self.table.name_id(row))
        };
        !names.is_empty() && self.table.rows().any(is_call)
    }

    /// The kernel of a compiled graph that an operator or device work is of.
    pub(crate) fn compiled_kernel(&self, row: Row) -> Option<&CompiledKernel> {
        let provenance = self.provenance.as_deref()?;
        if !self.table.category(row).is_device_work() {
            return provenance.of_operator(row);
        }
        match self.links.op(row) {
            Some(op) => provenance.of_operator(op),
            None => provenance.named(self.table.name_id(row)),
        }
    }

    /// The annotation of a node of a graph in the files that were joined, as JSON.
    pub(crate) fn node_annotation(&self, work: Row) -> Option<&str> {
        self.provenance.as_ref()?.node(self, work)?.annotation.as_deref()
    }

    /// The line of the program that added a node to a graph.
    pub(crate) fn node_line(&self, work: Row) -> Option<&Line> {
        self.provenance.as_ref()?.node(self, work)?.line.as_ref()
    }
}

impl Provenance {
    /// Finds the calls of the graphs and of their kernels.
    fn join(&mut self, trace: &Trace) -> Explained {
        let table = &trace.table;
        let (found, known) = (Calls::new(trace, &self.graphs), KnownKernels::new(&self.graphs));
        let mut explained = Explained { graphs: self.graphs.len(), ..Explained::default() };
        let mut kernel_of: Vec<(Row, (u32, u32))> = Vec::new();
        for call in &found.calls {
            let graph = call.graph(table, &self.graphs, &known);
            if call.row().is_some() && call.has_generated(table) {
                explained.calls += 1;
                explained.known_calls += usize::from(graph.is_some());
            }
            self.called.push(graph);
            if let Some((graph, _)) = graph {
                let kernels = call.kernels(table, &known, graph);
                kernel_of.extend(kernels.into_iter().map(|(row, at)| (row, (graph as u32, at as u32))));
            }
        }
        explained.operators = kernel_of.len();
        sort_by_key(&mut kernel_of, |one| (i64::from(one.0), 0));
        let kernel = |row: Row| find(&kernel_of, row);
        let all = table.rows().filter_map(|row| Some((row, kernel(found.operator_of[row.index()]?)?)));
        self.owned = all.collect();
        self.find_named(&table.names);
        let is_explained = |&row: &Row| {
            let is_named = || trace.links.op(row).is_none() && self.named(table.name_id(row)).is_some();
            self.node(trace, row).is_some() || table.category(row) == Category::Kernel && is_named()
        };
        explained.activities = table.rows().filter(is_explained).count();
        explained
    }

    fn node(&self, trace: &Trace, work: Row) -> Option<&GraphNode> {
        if self.nodes.entries().is_empty() || !trace.table.category(work).is_device_work() {
            return None;
        }
        self.nodes.get((node_key(&trace.table, work)?, 0))
    }

    fn of_operator(&self, row: Row) -> Option<&CompiledKernel> {
        let (graph, kernel) = find(&self.owned, row)?;
        Some(&self.graphs[graph as usize].kernels[kernel as usize])
    }

    fn named(&self, name: NameId) -> Option<&CompiledKernel> {
        let at = self.named.binary_search_by_key(&name, |one| one.0).ok()?;
        let (graph, kernel) = self.named[at].1;
        Some(&self.graphs[graph as usize].kernels[kernel as usize])
    }

    /// Finds the kernels whose names only one call in all graphs has, or only calls that come from the same nodes and lines.
    fn find_named(&mut self, names: &Names) {
        let mut all: Vec<(NameId, (u32, u32))> = Vec::new();
        for (graph, of) in self.graphs.iter().enumerate() {
            let known = of
                .kernels
                .iter()
                .enumerate()
                .filter_map(|(at, kernel)| Some((names.find(&kernel.name)?, at)));
            all.extend(known.map(|(name, at)| (name, (graph as u32, at as u32))));
        }
        sort_by_key(&mut all, |one| (i64::from(one.0.0), 0));
        let kernel = |of: (u32, u32)| &self.graphs[of.0 as usize].kernels[of.1 as usize];
        for same in all.chunk_by(|a, b| a.0 == b.0) {
            let first = kernel(same[0].1);
            let is_same = |other: &CompiledKernel| other.lines == first.lines && other.nodes == first.nodes;
            if same.iter().all(|one| is_same(kernel(one.1))) {
                self.named.push(same[0]);
            }
        }
    }
}

fn find<T: Copy>(sorted: &[(Row, T)], row: Row) -> Option<T> {
    let at = lower_bound(sorted.len(), |at| i64::from(sorted[at].0), i64::from(row));
    sorted.get(at).filter(|one| one.0 == row).map(|one| one.1)
}
