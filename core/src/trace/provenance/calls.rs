//! The calls of compiled graphs in a trace, and the operators in them that are calls of kernels.

use super::graphs::CompiledGraph;
use super::kind::CompiledKind;
use super::traceback::base_name;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

words! {
    "MatchedBy"
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
    pub(crate) fn new(trace: &Trace, graphs: &[CompiledGraph]) -> Calls {
        let (table, tree) = (&trace.table, &trace.tree);
        let regions = table.names.that(|name| name.starts_with(REGION));
        let keyed = table.names.that(|name| name.starts_with(KEYED));
        let files: Vec<&str> = graphs.iter().filter_map(|graph| graph.file.as_deref()).collect();
        let is_code = |name: &str| python_file(name).is_some_and(|file| files.contains(&&*file));
        let code = table.names.that(|name| !files.is_empty() && is_code(name));
        let mut found = Calls {
            calls: vec![Call::default()],
            call_of: vec![0; table.len()],
            operator_of: vec![None; table.len()],
        };
        for at in tree.positions() {
            let row = tree.row(at);
            let above = tree.parent(at).map(|above| tree.row(above).index());
            let around = above.map_or(0, |above| found.call_of[above]);
            let operator = above.and_then(|above| found.operator_of[above]);
            let name = table.name_id(row);
            let is_host = !table.category(row).is_on_device();
            let mut of = around;
            if is_host && (regions.has(name) || keyed.has(name) || code.has(name)) {
                of = found.begin(around, row, (regions.has(name), keyed.has(name)));
            } else if operator.is_some() {
                found.operator_of[row.index()] = operator;
            } else if table.category(row) == Category::CpuOp {
                found.operator_of[row.index()] = Some(row);
                found.calls[around as usize].operators.push(row);
            }
            found.call_of[row.index()] = of;
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
    pub(super) fn graph(&self, table: &Table, graphs: &[CompiledGraph]) -> Option<(usize, MatchedBy)> {
        let those = |fits: &dyn Fn(&CompiledGraph) -> bool| -> Vec<usize> {
            (0..graphs.len()).filter(|&at| fits(&graphs[at])).collect()
        };
        let key = self.key(table);
        let file = self.code.and_then(|row| python_file(table.name(row)));
        let compile_id = self.compile_id(table);
        let is_of = |of: &Option<String>, own: &str| of.as_deref() == Some(own);
        let by_key = key.map(|key| those(&|graph| is_of(&graph.key, key)));
        let by_file = || file.as_deref().map(|file| those(&|graph| is_of(&graph.file, file)));
        let by_region = || {
            let is_forward = |graph: &CompiledGraph| graph.kind != Some(CompiledKind::Backward);
            compile_id.map(|id| those(&|graph| is_of(&graph.compile_id, id) && is_forward(graph)))
        };
        let some = |found: Option<Vec<usize>>| found.filter(|found| !found.is_empty());
        let (candidates, by) = if let Some(found) = some(by_key) {
            (found, MatchedBy::Key)
        } else if let Some(found) = some(by_file()) {
            (found, MatchedBy::File)
        } else if let Some(found) = some(by_region()) {
            (found, MatchedBy::Region)
        } else {
            // A graph that has another key or compile id is another graph.
            let is_open = |graph: &CompiledGraph| {
                (graph.key.is_none() || key.is_none()) && (graph.compile_id.is_none() || compile_id.is_none())
            };
            (those(&is_open), MatchedBy::Names)
        };
        let fitting: Vec<usize> =
            candidates.into_iter().filter(|&at| self.fits(table, &graphs[at])).collect();
        let (&last, others) = fitting.split_last()?;
        let is_same = |&at: &usize| graphs[at].kernels == graphs[last].kernels;
        let by = if others.is_empty() { by } else { MatchedBy::Equal };
        others.iter().all(is_same).then_some((last, by))
    }

    /// Whether the generated kernels in a call are of a graph.
    fn fits(&self, table: &Table, graph: &CompiledGraph) -> bool {
        self.has_generated(table)
            && self.operators.iter().filter_map(|&row| generated(table.name(row))).all(|(number, name)| {
                (number.is_none() || graph.number.is_none() || number == graph.number)
                    && graph.kernels.iter().any(|kernel| kernel.name == name)
            })
    }

    /// The operators that are calls of kernels, with the positions of these in the graph. Those are left out whose number differs
    /// from that in the code.
    pub(super) fn kernels(&self, table: &Table, graph: &CompiledGraph) -> Vec<(Row, usize)> {
        let kernels = &graph.kernels;
        let is_of = |row: Row, at: usize| is_call_of(table.name(row), &kernels[at].name);
        let is_any = |row: &Row| (0..kernels.len()).any(|at| is_of(*row, at));
        let rows: Vec<Row> = self.operators.iter().copied().filter(is_any).collect();
        let in_order: Vec<(Row, usize)> = rows.iter().copied().zip((0..kernels.len()).cycle()).collect();
        if rows.len().is_multiple_of(kernels.len().max(1)) && in_order.iter().all(|&(row, at)| is_of(row, at))
        {
            return in_order;
        }
        let mut found = Vec::new();
        for at in 0..kernels.len() {
            let same: Vec<usize> =
                (0..kernels.len()).filter(|&other| kernels[other].name == kernels[at].name).collect();
            let calls = || rows.iter().copied().filter(|&row| is_of(row, at));
            let before = same.iter().filter(|&&other| other < at).count();
            if calls().count() == same.len() {
                found.extend(calls().nth(before).map(|row| (row, at)));
            } else if same.len() == 1 && calls().all(|row| generated(table.name(row)).is_some()) {
                found.extend(calls().map(|row| (row, at)));
            }
        }
        found
    }
}

/// The name of a generated kernel, and the number of its graph: `graph_0_cpp_fused_add_0`.
pub(crate) fn generated(name: &str) -> Option<(Option<u32>, &str)> {
    let numbered = name.strip_prefix("graph_").and_then(|rest| rest.split_once('_'));
    let numbered = numbered.and_then(|(number, name)| Some((Some(number.parse().ok()?), name)));
    let (number, name) = numbered.unwrap_or((None, name));
    let is_generated = name.starts_with("triton_") || name.starts_with("cpp_") || name.contains("_fused_");
    (is_generated && !name.contains("::")).then_some((number, name))
}

/// Whether an operator of a trace is a call of a kernel or an external function: `aten::addmm` of `extern_kernels.addmm`.
fn is_call_of(operator: &str, kernel: &str) -> bool {
    if let Some((_, name)) = generated(operator) {
        return name == kernel;
    }
    let base = operator.strip_prefix("aten::").unwrap_or(operator);
    let external = kernel.strip_prefix("extern_kernels.").or_else(|| {
        let rest = kernel.strip_prefix("torch.ops.").unwrap_or(kernel);
        rest.strip_prefix("aten.").map(|rest| rest.split('.').next().unwrap_or(rest))
    });
    external.unwrap_or(kernel) == base
}

/// The base name of the file of a Python function: `cok3.py` of `cache/ok/cok3.py(457): call`.
fn python_file(name: &str) -> Option<String> {
    let (path, _) = name.split_once("): ")?.0.rsplit_once('(')?;
    path.rsplit_once('.').filter(|(_, extension)| *extension == "py").map(|_| base_name(path))
}
