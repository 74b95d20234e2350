//! What several rules look at, computed once.

use crate::analysis::context::Analysis;
use crate::analysis::device::idle::Host;
use crate::analysis::device::models::Device;
use crate::analysis::device::names::is_free_name;
use crate::analysis::formulas::Inputs;
use crate::analysis::overview::bound::{Bound, BoundBy};
use crate::base::names::NameSet;
use crate::trace::kernel_rules::KernelCategory;
use crate::trace::link::is_graph_launch;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::vec::Vec;

/// What several rules look at.
pub(super) struct Facts<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) host: &'a Host<'a>,
    pub(super) wall_ns: i64,
    /// Whether the trace shows why devices are idle.
    pub(super) can_tell: bool,
    /// Whether operators, annotations or Python functions of the host were recorded.
    pub(super) has_operators: bool,
    /// Whether causes of idle time can be found at all.
    pub(super) shows_idle: bool,
    pub(super) bound: Option<&'a Bound>,
    pub(super) devices: Vec<Device>,
    pub(super) uses: Uses,
    /// Calls that create contexts or load code.
    pub(super) first_uses: &'a [Row],
    /// The kernels of all devices, device by device in order of time.
    pub(super) kernels: Vec<Kernel>,
}

/// A kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    pub(super) row: Row,
    pub(super) category: KernelCategory,
    pub(super) tensor_cores: Option<bool>,
    /// The operator that it belongs to.
    pub(super) operator: Option<Row>,
}

/// What a program uses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uses {
    /// CUDA graphs.
    pub(super) graphs: bool,
    /// `torch.compile`.
    pub(super) compiled: bool,
    pub(super) allocations: Allocations,
}

/// The numbers of calls that allocate and free memory of a device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allocations {
    pub(super) made: usize,
    pub(super) freed: usize,
    /// Of those that free, in the second half of the time of all calls.
    pub(super) freed_late: usize,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        (analysis, host): (&'a Analysis<'a>, &'a Host<'a>),
        wall_ns: i64,
        (shows_idle, bound): (bool, Option<&'a Bound>),
    ) -> Facts<'a> {
        let table = &analysis.trace.table;
        let devices = Device::all(&table.metadata);
        let is_known = |bound: &Bound| !matches!(bound.by, BoundBy::CannotTell | BoundBy::GraphCapture);
        let can_tell = shows_idle && bound.is_none_or(is_known);
        Facts {
            analysis,
            host,
            wall_ns,
            can_tell,
            has_operators: host.main().is_some()
                || table.rows().any(|row| table.category(row) == Category::PythonFunction),
            shows_idle,
            bound,
            devices,
            uses: uses(table),
            first_uses: host.first_uses(),
            kernels: kernels(analysis),
        }
    }

    /// The names of kernels that fit.
    pub(super) fn kernel_names(&self, fits: impl Fn(&str) -> bool) -> NameSet {
        let names = &self.table().names;
        names.among(self.kernels.iter().map(|kernel| self.table().name_id(kernel.row)), fits)
    }

    pub(super) fn table(&self) -> &'a Table {
        &self.analysis.trace.table
    }

    /// The sum of the durations of kernels, in ns.
    pub(super) fn sum_ns<'k>(&self, kernels: impl Iterator<Item = &'k Kernel>) -> i64 {
        kernels.map(|kernel| self.table().dur(kernel.row).max(0)).fold(0, i64::saturating_add)
    }

    /// The time in which the busiest device computed, in ns.
    pub(super) fn compute_ns(&self) -> i64 {
        self.analysis.devices().iter().map(|device| device.parts_ns[0]).max().unwrap_or(0)
    }

    /// The share of the start of the run.
    pub(super) fn cold_share(&self) -> f64 {
        self.bound.map_or(0.0, |bound| bound.ns(BoundBy::ColdStart) as f64 / bound.time_ns.max(1) as f64)
    }

    /// The name of the operator of a kernel.
    pub(super) fn operator(&self, kernel: &Kernel) -> &'a str {
        kernel.operator.map_or("", |row| self.table().name(row))
    }

    /// Whether a softmax and the product after it are those of an attention: the product multiplies matrices with as many
    /// elements, in rows as long, as the softmax has. `false` without shapes.
    pub(super) fn is_attention(&self, softmax: &Kernel, product: &Kernel) -> bool {
        let dims = |kernel: &Kernel| -> Option<Vec<i64>> {
            let text = kernel.operator.and_then(|row| self.table().field(row, Key::InputDims)?.as_json())?;
            Inputs::parse(Some(text), None, None).dims.into_iter().find(|dims| dims.len() >= 3)
        };
        let (Some(scores), Some(weights)) = (dims(softmax), dims(product)) else { return false };
        let count = |dims: &[i64]| dims.iter().fold(1i64, |n, &dim| n.saturating_mul(dim));
        count(&scores) == count(&weights) && scores.last() == weights.last()
    }

    /// The data types of the inputs of the operator of a kernel, as far as they were recorded.
    pub(super) fn types(&self, kernel: &Kernel) -> impl Iterator<Item = &'a str> {
        let text = kernel.operator.and_then(|row| self.table().field(row, Key::InputType)?.as_json());
        let texts = text.unwrap_or("").split('"').skip(1).step_by(2);
        texts.filter(|kind| !matches!(*kind, "" | "Scalar" | "ScalarList"))
    }
}

fn uses(table: &Table) -> Uses {
    let has = |fits: fn(&str) -> bool| !table.names.that(fits).is_empty();
    let has_calls = table.layouts.has_any(Category::is_launch_call);
    let is_compiled = |name: &str| {
        name.starts_with("Torch-Compiled Region")
            || name.starts_with("CompiledFunction")
            || name.starts_with("triton_poi_fused")
    };
    Uses {
        graphs: has_calls && has(|name| is_graph_launch(name) || name.contains("BeginCapture")),
        compiled: has(is_compiled),
        allocations: if has_calls { allocations(table) } else { Allocations::default() },
    }
}

/// The calls that allocate memory of a device, and those that free it.
fn allocations(table: &Table) -> Allocations {
    let [allocate, free] = [
        table.names.that(|name| name.contains("Malloc") && !name.contains("Host")),
        table.names.that(is_free_name),
    ];
    let mut found = Allocations::default();
    if allocate.is_empty() && free.is_empty() {
        return found;
    }
    let calls = || table.rows().filter(|&row| table.category(row) == Category::Runtime);
    let times = || calls().map(|row| table.ts(row));
    let middle = times().min().zip(times().max()).map_or(0, |(first, last)| first + (last - first) / 2);
    for row in calls() {
        found.made += usize::from(allocate.has(table.name_id(row)));
        let is_free = free.has(table.name_id(row));
        found.freed += usize::from(is_free);
        found.freed_late += usize::from(is_free && table.ts(row) >= middle);
    }
    found
}

fn kernels(analysis: &Analysis<'_>) -> Vec<Kernel> {
    let (trace, activities) = (analysis.trace, analysis.activities());
    let table = &trace.table;
    let classes = analysis.classes();
    let mut operators: Vec<Option<Row>> = Vec::new();
    if !trace.links.op_of.is_empty() {
        operators.resize(table.len(), None);
        for &(work, operator) in &trace.links.op_of {
            operators[work.index()] = Some(operator);
        }
    }
    let rows = activities.iter().flat_map(|device| device.1.iter().copied());
    let kernels = rows.filter(|&row| table.category(row) == Category::Kernel);
    let kernel = |row: Row| Kernel {
        row,
        category: classes.category(row),
        tensor_cores: classes.tensor_cores(row),
        operator: operators.get(row.index()).copied().flatten(),
    };
    kernels.map(kernel).collect()
}
