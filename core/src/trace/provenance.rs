//! What files next to a trace say about where its kernels come from: those that `torch.compile` writes about the kernels that it
//! generates, and annotations of the nodes of CUDA graphs.

pub(crate) mod calls;
mod code;
mod files;
pub(crate) mod frames;
pub(crate) mod graphs;
pub(crate) mod kind;
mod log;
pub(crate) mod names;
mod nodes;
mod text;
pub(crate) mod traceback;

use self::calls::{Calls, KnownKernels, MatchedBy};
use self::files::Files;
use self::frames::{Break, CompiledFrame};
use self::graphs::{CompiledGraph, CompiledKernel};
use self::names::generated;
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
    /// Kernels whose operators are not known, and that are known by their names: graph and kernel, sorted by row.
    named: Vec<(Row, (u32, u32))>,
}

impl ProvenanceFile<'_> {
    /// Checks that the file is of a known kind.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the reason why it cannot be used.
    pub fn check(&self) -> Result<(), Error> {
        Files::default().read(self).map_err(|why| Error::BadOption(format!("{}: {why}", self.path)))
    }
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
        for (at, file) in files.iter().enumerate() {
            if files[..at].iter().all(|other| other.bytes != file.bytes) {
                read.read(file).map_err(|why| Error::BadOption(format!("{}: {why}", file.path)))?;
            }
        }
        let graphs = read.take_graphs();
        let Files { frames, breaks, nodes, diagnostics, .. } = read;
        let mut provenance = Provenance { graphs, frames, breaks, nodes, ..Provenance::default() };
        let explained = provenance.join(self);
        if explained.operators + explained.activities == 0 {
            return Err(Error::BadOption(format!(
                "nothing in the trace is known to be one of the {} compiled graphs or {} nodes in these files: they are of another run, or several of \
                 the graphs fit",
                explained.graphs,
                provenance.nodes.entries().len()
            )));
        }
        self.diagnostics.append(&diagnostics);
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
        let op = if self.table.category(row).is_device_work() { self.links.op(row)? } else { row };
        provenance.kernel(find(&provenance.owned, op)?)
    }

    /// The kernel of a compiled graph that device work without an operator of its own has the name of.
    pub(crate) fn named_kernel(&self, work: Row) -> Option<&CompiledKernel> {
        let provenance = self.provenance.as_deref()?;
        provenance.kernel(find(&provenance.named, work)?)
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
        self.named = self.find_named(trace);
        let is_node = |&row: &Row| self.node(trace, row).is_some();
        explained.activities = table.rows().filter(is_node).count() + self.named.len();
        explained
    }

    fn node(&self, trace: &Trace, work: Row) -> Option<&GraphNode> {
        if self.nodes.entries().is_empty() || !trace.table.category(work).is_device_work() {
            return None;
        }
        self.nodes.get((node_key(&trace.table, work)?, 0))
    }

    fn kernel(&self, (graph, kernel): (u32, u32)) -> Option<&CompiledKernel> {
        self.graphs.get(graph as usize)?.kernels.get(kernel as usize)
    }

    /// Finds the kernels of graph launches, and those without operators, by their names. The files have to have all generated kernels
    /// of a launch; else it is of another program. Of a name that several calls in code have, these have to come from the same
    /// nodes and lines.
    fn find_named(&self, trace: &Trace) -> Vec<(Row, (u32, u32))> {
        let (table, links) = (&trace.table, &trace.links);
        let names = self.kernels_by_name(&table.names);
        let kernels_of = |row: Row| {
            let from = names.partition_point(|one| one.0 < table.name_id(row));
            let same = names[from..].iter().take_while(|one| one.0 == table.name_id(row));
            same.map(|one| one.1).collect::<Vec<_>>()
        };
        let generated = table.names.that(|name| generated(name).is_some());
        let is_generated =
            |row: &Row| table.category(*row) == Category::Kernel && generated.has(table.name_id(*row));
        let graphs = links.graph_work(table).filter(|(row, _)| is_generated(row));
        let mut work: Vec<(i64, Row)> = graphs.map(|(row, launch)| (i64::from(launch), row)).collect();
        let is_alone =
            |row: &Row| is_generated(row) && links.op(*row).is_none() && links.launch(*row).is_none();
        work.extend(table.rows().filter(is_alone).map(|row| (-1, row)));
        sort_by_key(&mut work, |&(launch, row)| (launch, i64::from(row)));
        let mut found = Vec::new();
        for launch in work.chunk_by(|a, b| a.0 == b.0) {
            if launch.iter().any(|one| kernels_of(one.1).is_empty()) {
                continue;
            }
            found.extend(launch.iter().filter_map(|&(_, row)| Some((row, self.only(&kernels_of(row))?))));
        }
        sort_by_key(&mut found, |one| (i64::from(one.0), 0));
        found
    }

    /// The kernels of all graphs, sorted by their names in a trace.
    fn kernels_by_name(&self, names: &Names) -> Vec<(NameId, (u32, u32))> {
        let mut all: Vec<(NameId, (u32, u32))> = Vec::new();
        for (graph, of) in self.graphs.iter().enumerate() {
            for (at, kernel) in of.kernels.iter().enumerate() {
                all.extend(names.find(&kernel.name).map(|name| (name, (graph as u32, at as u32))));
            }
        }
        sort_by_key(&mut all, |one| (i64::from(one.0.0), 0));
        all
    }

    /// The first of some kernels, if all come from the same nodes and lines.
    fn only(&self, of: &[(u32, u32)]) -> Option<(u32, u32)> {
        let first = self.kernel(*of.first()?)?;
        of.iter()
            .all(|&one| self.kernel(one).is_some_and(|other| other.comes_from_same(first)))
            .then_some(of[0])
    }
}

fn find<T: Copy>(sorted: &[(Row, T)], row: Row) -> Option<T> {
    let at = lower_bound(sorted.len(), |at| i64::from(sorted[at].0), i64::from(row));
    sorted.get(at).filter(|one| one.0 == row).map(|one| one.1)
}
