//! Time by module: the calls of `nn.Module`s merged by their path, with the device work launched by them and by the
//! backward functions of their operators. Without calls of `nn.Module`s, the modules are those of `Module Hierarchy`, which
//! operators of TorchScript have.

use super::call_tree::launched_ns;
use super::grafts::{Counted, Grafts};
use crate::analysis::children::Children;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::{Answer, Input, Query};
use crate::analysis::torch::frames::MODULE_PREFIX;
use crate::analysis::torch::hierarchy;
use crate::analysis::torch::stacks::without_stacks;
use crate::base::handle::handle;
use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use crate::base::rows::{Column, Rows, columns};
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The maximum number of modules in a path: the paths of n nested modules would take n² bytes.
const DEEPEST: usize = 64;

/// The query `modules`.
pub const MODULES: Query = Query::new(
    "modules",
    "CPU and device time by nn.Module, forward and backward",
    COLUMNS,
    |trace, request| Ok(Answer { hint: without_stacks(trace), ..request.limited(module_rows(trace)) }),
)
.examples(&["run.json", "run.json --row-limit 20 --format md"])
.options::<ListOptions>()
.inputs(&[Input::Captures])
.hint("this trace has no modules; record with with_stack=True");

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(module: &Module, name: &str, depth: usize, path: &str) [
        Column::int("depth", "", "The number of enclosing modules.") => depth,
        Column::text("name", "", "The module: its class, and a number for each instance of the class.") =>
            name,
        Column::text("path", "", "The modules from the outermost to this one, separated by /.") => path,
        Column::text("tree", "Module", "The name, indented by its depth.") =>
            format!("{}{name}", "  ".repeat(depth.min(DEEPEST))),
        Column::int("count", "Calls", "The number of calls; of modules of TorchScript, that of their outermost operators.") =>
            module.count,
        Column::ns("cpu_time_total_ns", "CPU total", "CPU time, including the modules inside.") =>
            module.total_ns,
        Column::ns("self_cpu_time_total_ns", "Self CPU", "CPU time, excluding the modules inside.") =>
            module.total_ns - module.inside_ns,
        Column::ns("device_time_total_ns", "Device total", "Sum of the device work launched in the module, including the modules inside.") =>
            module.device_ns,
        Column::ns("self_device_time_total_ns", "Self device", "Sum of the device work launched in the module, excluding the modules inside.") =>
            module.own_device_ns,
        Column::ns("backward_device_time_total_ns", "Backward device", "Sum of the device work launched by the backward functions of its operators, if the trace links the two.") =>
            module.backward_ns,
    ]
}

handle! {
    /// The index of a module in [`Modules`].
    struct ModuleId;
}

struct Module {
    name: NameId,
    parent: Option<ModuleId>,
    count: i64,
    total_ns: i64,
    inside_ns: i64,
    device_ns: i64,
    own_device_ns: i64,
    backward_ns: i64,
}

struct Modules<'a> {
    trace: &'a Trace,
    names: Names,
    modules: Vec<Module>,
    index: Index,
    /// The innermost module around each position of the tree.
    innermost: Vec<Option<ModuleId>>,
}

fn is_module(table: &Table, row: Row) -> bool {
    table.category(row) == Category::PythonFunction && table.name(row).starts_with(MODULE_PREFIX)
}

impl<'a> Modules<'a> {
    fn new(trace: &'a Trace) -> Self {
        let innermost = vec![None; trace.tree.len()];
        let (names, modules, index) = (Names::default(), Vec::new(), Index::default());
        let mut found = Modules { trace, names, modules, index, innermost };
        let (table, tree) = (&trace.table, &trace.tree);
        let is_scripted = !tree.rows().iter().any(|&row| is_module(table, row));
        for at in tree.positions() {
            let above = tree.parent(at).and_then(|parent| found.innermost[parent.index()]);
            let row = tree.row(at);
            found.innermost[at.index()] = if is_module(table, row) {
                let name = table.name(row).strip_prefix(MODULE_PREFIX).unwrap_or_default();
                Some(found.call(name, table.dur(row).max(0), above))
            } else if is_scripted {
                found.scripted(row, above)
            } else {
                above
            };
        }
        found
    }

    /// Adds an operator of TorchScript to the modules of its hierarchy, except for those that its parent is in. Returns
    /// the innermost one.
    fn scripted(&mut self, row: Row, above: Option<ModuleId>) -> Option<ModuleId> {
        let table = &self.trace.table;
        let text = table.field(row, Key::ModuleHierarchy).and_then(|value| value.as_str());
        let Some(text) = text else { return above };
        let mut enclosing = None;
        for name in hierarchy::modules(text).into_iter().take(DEEPEST) {
            let known = self.module(name, enclosing);
            enclosing = Some(if self.contains(known, above) {
                known
            } else {
                self.call(name, table.dur(row).max(0), enclosing)
            });
        }
        enclosing.or(above)
    }

    /// Whether a module is another one or contains it.
    fn contains(&self, module: ModuleId, inner: Option<ModuleId>) -> bool {
        let parent = |&at: &ModuleId| self.modules[at.index()].parent;
        core::iter::successors(inner, parent).any(|at| at == module)
    }

    /// Counts one call of a module and returns its index.
    fn call(&mut self, name: &str, duration: i64, parent: Option<ModuleId>) -> ModuleId {
        let at = self.module(name, parent);
        self.modules[at.index()].count += 1;
        self.modules[at.index()].total_ns += duration;
        if let Some(parent) = parent {
            self.modules[parent.index()].inside_ns += duration;
        }
        at
    }

    /// Returns the index of a module.
    fn module(&mut self, name: &str, parent: Option<ModuleId>) -> ModuleId {
        let name = self.names.intern(name);
        let next = self.modules.len() as u32;
        let at = self.index.get_or_insert((parent.map_or(-1, i64::from), i64::from(name.0)), next);
        if at == next {
            let (count, total_ns, inside_ns) = (0, 0, 0);
            let (device_ns, own_device_ns, backward_ns) = (0, 0, 0);
            self.modules.push(Module {
                name,
                parent,
                count,
                total_ns,
                inside_ns,
                device_ns,
                own_device_ns,
                backward_ns,
            });
        }
        ModuleId::new(at as usize)
    }

    /// Adds the captured modules whose work a launch inside of a module replays. Returns the time of that work, in ns.
    fn graft(&mut self, grafts: &Grafts<'_>, launch: Row, above: Option<ModuleId>) -> i64 {
        let (mut counted, mut moved_ns) = (Counted::default(), 0);
        for (path, ns) in grafts.of(launch) {
            let mut innermost = above;
            for &span in path.iter().take(DEEPEST) {
                let name = grafts.name(span.name);
                let module = self.module(name.strip_prefix(MODULE_PREFIX).unwrap_or_default(), innermost);
                self.modules[module.index()].count += i64::from(counted.is_new(launch, span));
                innermost = Some(module);
            }
            if innermost != above
                && let Some(innermost) = innermost
            {
                self.modules[innermost.index()].own_device_ns += ns;
                moved_ns += ns;
            }
        }
        moved_ns
    }

    /// Adds the device work. Work launched inside a module counts for that module; work of a backward operator and its
    /// callees counts for the module around the forward operator.
    fn add_device_work(&mut self) {
        let (tree, links) = (&self.trace.tree, &self.trace.links);
        let launched = launched_ns(self.trace);
        let grafts = Grafts::new(self.trace, |trace, row| is_module(&trace.table, row));
        let mut module_of_row = vec![None; launched.len()];
        for (row, &module) in tree.rows().iter().zip(&self.innermost) {
            module_of_row[row.index()] = module;
        }
        let mut backward: Vec<Option<ModuleId>> = Vec::with_capacity(tree.len());
        for at in tree.positions() {
            let row = tree.row(at);
            let forward = links.forward(row).and_then(|row| module_of_row[row.index()]);
            let of_forward = forward.or_else(|| backward[tree.parent(at)?.index()]);
            backward.push(of_forward);
            let device_ns = launched[row.index()] - self.graft(&grafts, row, self.innermost[at.index()]);
            if let Some(module) = self.innermost[at.index()] {
                self.modules[module.index()].own_device_ns += device_ns;
            } else if let Some(module) = of_forward {
                self.modules[module.index()].backward_ns += device_ns;
            }
        }
        for at in (0..self.modules.len()).rev() {
            self.modules[at].device_ns += self.modules[at].own_device_ns;
            let Module { parent, device_ns, backward_ns, .. } = self.modules[at];
            if let Some(above) = parent.map(|parent| &mut self.modules[parent.index()]) {
                above.device_ns += device_ns;
                above.backward_ns += backward_ns;
            }
        }
    }
}

/// Returns every module, parents before children.
pub fn module_rows(trace: &Trace) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let mut found = Modules::new(trace);
    found.add_device_work();
    if found.modules.is_empty() {
        return rows;
    }
    let modules = &found.modules;
    let parents: Vec<Option<ModuleId>> = modules.iter().map(|m| m.parent).collect();
    let mut places: Vec<(usize, String)> = Vec::with_capacity(modules.len());
    for module in modules {
        let name = found.names.get(module.name);
        let place = match module.parent.map(|parent| &places[parent.index()]) {
            None => (0, name.into()),
            Some((depth, path)) if *depth < DEEPEST => (depth + 1, format!("{path}/{name}")),
            Some((depth, _)) => (depth + 1, format!("…/{name}")),
        };
        places.push(place);
    }
    for at in Children::new(&parents).depth_first() {
        let (module, (depth, path)) = (&modules[at.index()], &places[at.index()]);
        rows.push(row(module, found.names.get(module.name), *depth, path));
    }
    rows
}
