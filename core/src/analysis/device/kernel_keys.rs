//! What device work is grouped by: its name, category, operator, module or shape.

use super::attributes::{annotation, copy_name};
use super::classes::Classes;
use super::names::short_name;
use crate::analysis::torch::frames::MODULE_PREFIX;
use crate::analysis::torch::hierarchy;
use crate::analysis::torch::source::Sources;
use crate::base::demangle::demangled;
use crate::base::names::{NameId, Names};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

words! {
    "KernelsBy"
    /// What the rows of `kernels` are.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum KernelsBy {
        /// Kernels, copies and memsets of the same name.
        #[default]
        Name = "name",
        /// The categories that the rules give to names.
        Category = "category",
        /// The operators that launched them.
        Operator = "operator",
        /// The innermost modules around their operators.
        Module = "module",
        /// The lines of the program, or the generated files, that they come from.
        Source = "source",
        /// The annotations of the nodes of CUDA graphs.
        Annotation = "annotation",
        /// Kernels of the same name and with the same inputs of their operators, else with the same grid and block.
        Shape = "shape",
    }
}

/// Marks keys of names that are not in the table.
const COMPOSED: u32 = 1 << 31;

/// Returns the name of an activity, demangled; of a copy or memset, with its kind.
pub(crate) fn activity_name(trace: &Trace, row: Row) -> String {
    copy_name(&trace.table, row).unwrap_or_else(|| demangled(trace.table.name(row)))
}

/// The keys of one grouping.
pub(crate) struct Keys<'a> {
    trace: &'a Trace,
    by: KernelsBy,
    /// Names that are not in the table.
    composed: Names,
    /// The innermost modules of the trace, and those of the captures that are joined to it.
    modules: Vec<(&'a Trace, Modules)>,
    sources: Option<Sources<'a>>,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(trace: &'a Trace, by: KernelsBy) -> Self {
        let (mut composed, mut modules) = (Names::default(), Vec::new());
        if by == KernelsBy::Module {
            let traces = core::iter::once(trace).chain(trace.captures());
            modules.extend(traces.map(|trace| (trace, Modules::new(trace, &mut composed))));
        }
        let sources = (by == KernelsBy::Source).then(|| Sources::new(trace));
        Keys { trace, by, composed, modules, sources }
    }

    /// Returns the key of an activity.
    pub(super) fn key(&mut self, classes: &Classes<'_>, row: Row) -> (i64, i64) {
        match self.by {
            KernelsBy::Name => (i64::from(self.name_key(row)), classes.class(row) as i64),
            KernelsBy::Category => (classes.category(row) as i64, 0),
            KernelsBy::Operator => self.operator_key(row),
            KernelsBy::Module => (i64::from(self.module(row).0), 0),
            KernelsBy::Source | KernelsBy::Annotation => {
                let text = self.place(row).unwrap_or_default();
                (i64::from(self.composed.intern(&text).0), 0)
            }
            KernelsBy::Shape => {
                let shape = self.composed.intern(&shape(self.trace, row)).0;
                (i64::from(self.name_key(row)), i64::from(shape) << 3 | classes.class(row) as i64)
            }
        }
    }

    fn operator_key(&mut self, row: Row) -> (i64, i64) {
        let trace = self.trace;
        let Some(name) = trace.operator_name(row) else { return (-1, 0) };
        let own = trace.links.op(row).map(|op| trace.table.name_id(op));
        let own =
            own.filter(|&id| trace.table.names.get(id) == name).or_else(|| trace.table.names.find(name));
        own.map_or_else(|| (i64::from(self.composed.intern(name).0), 1), |id| (i64::from(id.0), 0))
    }

    /// The source or the annotation of an activity, if they are the keys.
    fn place(&self, row: Row) -> Option<String> {
        match &self.sources {
            Some(sources) => sources.of(row).map(|source| source.text),
            None => annotation(self.trace, row),
        }
    }

    /// Returns the module around the operator of an activity, if modules are the keys.
    pub(crate) fn module_name(&self, row: Row) -> Option<&str> {
        Some(self.module(row))
            .filter(|&module| module != NameId::EMPTY)
            .map(|module| self.composed.get(module))
    }

    fn module(&self, row: Row) -> NameId {
        let Some(owner) = self.trace.owner(row) else { return NameId::EMPTY };
        let modules = self.modules.iter().find(|(trace, _)| core::ptr::eq(*trace, owner.trace));
        let around = owner.op.or(owner.call);
        modules.zip(around).map_or(NameId::EMPTY, |((_, modules), row)| modules.around(row))
    }

    /// Returns the same number for activities of the same name.
    pub(crate) fn name_key(&mut self, row: Row) -> u32 {
        let kind = copy_name(&self.trace.table, row);
        kind.map_or(self.trace.table.name_id(row).0, |name| self.composed.intern(&name).0 | COMPOSED)
    }

    /// Returns the text of an activity's key, and its short form.
    pub(super) fn text(&self, classes: &Classes<'_>, row: Row) -> (String, String) {
        let trace = self.trace;
        let same = |text: &str| (text.into(), text.into());
        match self.by {
            KernelsBy::Name => {
                let name = activity_name(trace, row);
                let short = short_name(&name);
                (name, short)
            }
            KernelsBy::Category => same(classes.category(row).as_str()),
            KernelsBy::Operator => same(trace.operator_name(row).unwrap_or("(no operator)")),
            KernelsBy::Module => match self.module(row) {
                NameId::EMPTY => same("(no module)"),
                module => same(self.composed.get(module)),
            },
            KernelsBy::Source => same(&self.place(row).unwrap_or_else(|| "(no source)".into())),
            KernelsBy::Annotation => same(&self.place(row).unwrap_or_else(|| "(no annotation)".into())),
            KernelsBy::Shape => {
                let (name, shape) = (activity_name(trace, row), shape(trace, row));
                let short = short_name(&name);
                (format!("{name}{shape}"), format!("{short}{shape}"))
            }
        }
    }
}

/// The innermost module around each row of a trace; of a backward operator, that around its forward operator.
struct Modules(Vec<NameId>);

impl Modules {
    fn new(trace: &Trace, names: &mut Names) -> Modules {
        let tree = &trace.tree;
        let mut modules = vec![NameId::EMPTY; trace.table.len()];
        for at in tree.positions() {
            let row = tree.row(at);
            let enclosing = tree.parent(at).map_or(NameId::EMPTY, |at| modules[tree.row(at).index()]);
            let module = own_module(&trace.table, row).map(|name| names.intern(&name));
            modules[row.index()] = module.unwrap_or(enclosing);
        }
        for at in tree.positions() {
            let row = tree.row(at);
            if modules[row.index()] == NameId::EMPTY {
                let forward = trace.links.forward(row).or_else(|| Some(tree.row(tree.parent(at)?)));
                modules[row.index()] = forward.map_or(NameId::EMPTY, |row| modules[row.index()]);
            }
        }
        Modules(modules)
    }

    fn around(&self, row: Row) -> NameId {
        self.0[row.index()]
    }
}

/// Returns the module that a row is a call of, or that an operator of TorchScript states.
fn own_module(table: &Table, row: Row) -> Option<Cow<'_, str>> {
    if table.category(row) == Category::PythonFunction {
        return table.name(row).strip_prefix(MODULE_PREFIX).map(Cow::Borrowed);
    }
    hierarchy::innermost(table.field(row, Key::ModuleHierarchy)?.as_str()?).map(Cow::Owned)
}

/// Returns what distinguishes activities of one name: the inputs of the operator, else the grid and the block. It is
/// empty if the trace has neither.
fn shape(trace: &Trace, row: Row) -> String {
    let text = |row, key| trace.table.field(row, key).and_then(|value| value.as_json());
    let inputs = || {
        let owner = trace.owner(row)?;
        owner.trace.table.field(owner.op?, Key::InputDims)?.as_json()
    };
    let mut shape = String::new();
    let mut add = |before: &str, json: &str| {
        shape.push_str(before);
        shape.extend(json.chars().filter(|c| !c.is_whitespace()));
    };
    if let Some(dims) = inputs() {
        add(" ", dims);
    } else if let (Some(grid), Some(block)) = (text(row, Key::Grid), text(row, Key::Block)) {
        add(" grid ", grid);
        add(" block ", block);
    }
    shape
}
