//! The calls of compiled graphs in a trace, and the operators in them that are calls of kernels.

use super::graphs::CompiledGraph;
use super::kind::CompiledKind;
use super::names::{generated, name_in_code, name_of_call};
use super::text::{base_name, cut, cut_last};
use crate::base::names::{NameId, NameSet, Names};
use crate::base::order::sort_by_key;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::tree::sorted_by_track;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

words! {
    "CompiledMatchedBy"
    /// What shows which graph a call is of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum MatchedBy {
        /// The key of the graph in the cache of Inductor, which the call has in its name.
        Key = "key",
        /// The name of the generated file, which the stack shows.
        File = "file",
        /// The compile id of the region around it, and the names of its kernels.
        Region = "region",
        /// The names of its kernels only.
        Names = "names",
        /// Several graphs fit, whose kernels come from the same nodes and lines.
        Equal = "equal_graphs",
    }
}

/// A call of a compiled graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Call {
    /// The event that has the key in its name.
    keyed: Option<Row>,
    /// The Python function of the generated file.
    code: Option<Row>,
    /// The region around it that has the compile id.
    pub(crate) region: Option<Row>,
    /// The outermost operators in it.
    pub(crate) operators: Vec<Row>,
}

/// The calls of a trace.
pub(crate) struct Calls {
    /// The first one is everything outside of calls.
    pub(crate) calls: Vec<Call>,
    /// The number of the call around each row; 0 outside.
    pub(crate) call_of: Vec<u32>,
    /// The outermost operator of a call around each row.
    pub(crate) operator_of: Vec<Option<Row>>,
}

const REGION: &str = "Torch-Compiled Region: ";
const KEYED: &str = "## Call CompiledFxGraph ";

impl Calls {
    /// Finds the calls. The Python functions of generated files are known by the names of the graphs' files.
    ///
    /// What is inside of what follows from times: in the tree, Python calls that do not nest move operators to other lanes.
    pub(crate) fn new(trace: &Trace, graphs: &[CompiledGraph]) -> Calls {
        let table = &trace.table;
        let files: Vec<&str> = graphs.iter().filter_map(|graph| graph.file.as_deref()).collect();
        let is_code = |name: &str| python_file(name).is_some_and(|file| files.contains(&file));
        let [regions, keyed, code, wrappers]: [NameSet; 4] = [
            table.names.that(|name| name.starts_with(REGION)),
            table.names.that(|name| name.starts_with(KEYED)),
            table.names.that(|name| !files.is_empty() && is_code(name)),
            // The functions of autograd around a compiled graph.
            table.names.that(|name| name.contains("CompiledFunction")),
        ];
        let mut found = Calls {
            calls: vec![Call::default()],
            call_of: vec![0; table.len()],
            operator_of: vec![None; table.len()],
        };
        let is_wanted = |row: Row| {
            let category = table.category(row);
            let is_python = category == Category::PythonFunction && code.has(table.name_id(row));
            let is_op = matches!(category, Category::CpuOp | Category::UserAnnotation);
            table.is_span(row) && (is_op || is_python || category.is_launch_call())
        };
        // The rows that are open: their ends, calls and outermost operators.
        let mut open: Vec<(i64, u32, Option<Row>)> = Vec::new();
        let (rows, tracks) = sorted_by_track(table, is_wanted);
        for (at, &row) in rows.iter().enumerate() {
            if tracks.binary_search(&at).is_ok() {
                open.clear();
            }
            while open.last().is_some_and(|last| last.0 <= table.ts(row)) {
                open.pop();
            }
            let (mut call, mut operator) = open.last().map_or((0, None), |last| (last.1, last.2));
            let name = table.name_id(row);
            let (is_region, is_keyed) = (regions.has(name), keyed.has(name));
            if is_region || is_keyed || code.has(name) {
                (call, operator) = (found.begin(call, row, (is_region, is_keyed)), None);
            } else if operator.is_none() && table.category(row) == Category::CpuOp && !wrappers.has(name) {
                operator = Some(row);
                found.calls[call as usize].operators.push(row);
            }
            found.operator_of[row.index()] = operator;
            found.call_of[row.index()] = call;
            open.push((table.end(row), call, operator));
        }
        found
    }

    /// Begins a call, or adds what else shows the call that is open.
    fn begin(&mut self, around: u32, row: Row, (is_region, is_keyed): (bool, bool)) -> u32 {
        let open = &mut self.calls[around as usize];
        let region = open.region;
        let is_part = around > 0 && !is_region && open.operators.is_empty();
        let slot = match (is_region, is_keyed) {
            (true, _) => &mut open.region,
            (_, true) => &mut open.keyed,
            _ => &mut open.code,
        };
        if is_part && slot.is_none() {
            *slot = Some(row);
            return around;
        }
        let mut call = Call { region, ..Call::default() };
        match (is_region, is_keyed) {
            (true, _) => call.region = Some(row),
            (_, true) => call.keyed = Some(row),
            _ => call.code = Some(row),
        }
        self.calls.push(call);
        self.calls.len() as u32 - 1
    }
}

impl Call {
    /// The event that is the call; `None` for what is outside of calls.
    pub(crate) fn row(&self) -> Option<Row> {
        self.keyed.or(self.code).or(self.region)
    }

    /// The compile id of the region around the call.
    pub(crate) fn compile_id<'a>(&self, table: &'a Table) -> Option<&'a str> {
        table.name(self.region?).strip_prefix(REGION)
    }

    /// The key in the cache of graphs.
    pub(crate) fn key<'a>(&self, table: &'a Table) -> Option<&'a str> {
        let key = table.name(self.keyed?).strip_prefix(KEYED)?.trim_end_matches(['#', ' ']);
        (key != "None").then_some(key)
    }

    /// Whether a generated kernel is called in it.
    pub(crate) fn has_generated(&self, table: &Table) -> bool {
        self.operators.iter().any(|&row| generated(table.name(row)).is_some())
    }

    /// Finds the graph that is called; `None` if no graph fits, or several do that are not equal.
    pub(super) fn graph(
        &self,
        table: &Table,
        graphs: &[CompiledGraph],
        known: &KnownKernels,
    ) -> Option<(usize, MatchedBy)> {
        let (key, compile_id) = (self.key(table), self.compile_id(table));
        let file = self.code.and_then(|row| python_file(table.name(row)));
        let is_of = |of: &Option<String>, own: Option<&str>| own.is_some() && of.as_deref() == own;
        let by = [MatchedBy::Key, MatchedBy::File, MatchedBy::Region, MatchedBy::Names];
        let is_of_region = |graph: &CompiledGraph| {
            is_of(&graph.compile_id, compile_id) && graph.kind != Some(CompiledKind::Backward)
        };
        // A graph that has another key or compile id is another graph.
        let is_open = |own: &Option<String>, known: Option<&str>| own.is_none() || known.is_none();
        let fits = |by, graph: &CompiledGraph| match by {
            MatchedBy::Key => is_of(&graph.key, key),
            MatchedBy::File => is_of(&graph.file, file) && is_open(&graph.key, key),
            MatchedBy::Region => is_of_region(graph) && is_open(&graph.key, key),
            _ => is_open(&graph.key, key) && is_open(&graph.compile_id, compile_id),
        };
        for by in by {
            let mut candidates: Vec<usize> = (0..graphs.len()).filter(|&at| fits(by, &graphs[at])).collect();
            // Functions with the same code share its key and its file.
            if candidates.iter().any(|&at| is_of_region(&graphs[at])) {
                candidates.retain(|&at| is_of_region(&graphs[at]));
            }
            if candidates.is_empty() {
                continue;
            }
            candidates.retain(|&at| self.calls_kernels_of(table, &graphs[at], (known, at)));
            if by != MatchedBy::Key && !self.has_generated(table) {
                return None;
            }
            let (&last, others) = candidates.split_last()?;
            let is_same = |&at: &usize| graphs[at].comes_from_same(&graphs[last]);
            let by = if others.is_empty() { by } else { MatchedBy::Equal };
            return others.iter().all(is_same).then_some((last, by));
        }
        None
    }

    /// Whether the generated kernels in a call are of a graph.
    fn calls_kernels_of(
        &self,
        table: &Table,
        graph: &CompiledGraph,
        (known, at): (&KnownKernels, usize),
    ) -> bool {
        self.operators.iter().filter_map(|&row| generated(table.name(row))).all(|(number, name)| {
            (number.is_none() || graph.number.is_none() || number == graph.number)
                && known.names.find(name).is_some_and(|name| known.has(at, name))
        })
    }

    /// The operators that are calls of kernels of a graph, with the positions of these in it. Those are left out whose number differs
    /// from that in the code.
    pub(super) fn kernels(&self, table: &Table, known: &KnownKernels, graph: usize) -> Vec<(Row, usize)> {
        let named = |&row: &Row| Some((row, known.names.find(name_of_call(table.name(row)))?));
        let mut rows: Vec<(Row, NameId)> = self.operators.iter().filter_map(named).collect();
        rows.retain(|row| known.has(graph, row.1));
        let in_code = &known.in_code[graph];
        if rows.iter().zip(in_code.iter().cycle()).all(|(row, name)| row.1 == *name)
            && rows.len().is_multiple_of(in_code.len().max(1))
        {
            return rows.iter().zip((0..in_code.len()).cycle()).map(|(row, at)| (row.0, at)).collect();
        }
        // The order of both stays among those of the same name.
        sort_by_key(&mut rows, |row| (i64::from(row.1.0), 0));
        let mut found = Vec::new();
        for rows in rows.chunk_by(|a, b| a.1 == b.1) {
            let same = known.of_name(graph, rows[0].1);
            if rows.len() == same.len() {
                found.extend(rows.iter().zip(same).map(|(row, of)| (row.0, of.1)));
            } else if let [(_, only)] = same
                && generated(table.name(rows[0].0)).is_some()
            {
                found.extend(rows.iter().map(|row| (row.0, *only)));
            }
        }
        found
    }
}

/// The names by which the kernels of graphs are called.
pub(super) struct KnownKernels {
    names: Names,
    /// Those of each graph, in the order of its code.
    in_code: Vec<Vec<NameId>>,
    /// The same with the positions in the code, sorted by name.
    sorted: Vec<Vec<(NameId, usize)>>,
}

impl KnownKernels {
    pub(super) fn new(graphs: &[CompiledGraph]) -> KnownKernels {
        let mut known = KnownKernels { names: Names::default(), in_code: Vec::new(), sorted: Vec::new() };
        for graph in graphs {
            let names = graph.kernels.iter().map(|kernel| known.names.intern(name_in_code(&kernel.name)));
            let names: Vec<NameId> = names.collect();
            let mut sorted: Vec<(NameId, usize)> = names.iter().copied().zip(0..).collect();
            sort_by_key(&mut sorted, |one| (i64::from(one.0.0), 0));
            known.in_code.push(names);
            known.sorted.push(sorted);
        }
        known
    }

    /// The kernels of a graph with a name.
    fn of_name(&self, graph: usize, name: NameId) -> &[(NameId, usize)] {
        let sorted = &self.sorted[graph];
        let first = sorted.partition_point(|one| one.0 < name);
        let count = sorted[first..].iter().take_while(|one| one.0 == name).count();
        &sorted[first..first + count]
    }

    fn has(&self, graph: usize, name: NameId) -> bool {
        !self.of_name(graph, name).is_empty()
    }
}

/// The base name of the file of a Python function: `cok3.py` of `cache/ok/cok3.py(457): call`.
fn python_file(name: &str) -> Option<&str> {
    let (place, _) = cut(name, "): ")?;
    let (path, _) = cut_last(place, b'(')?;
    path.as_bytes().ends_with(b".py").then(|| base_name(path))
}
