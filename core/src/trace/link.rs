//! Causal links: launch call → device work, operator → launch call, forward operator → backward operator.
//!
//! - A launch call and its device work share `correlation`. `repeated` chooses among several calls with the same id.
//! - A launch call belongs to the operator of its `External id`, in its process if that has one, unless that is the call's own correlation id (files
//!   before 2024 wrote it into calls without an operator) and the operator does not contain the call. Without an
//!   `External id`, it belongs to the innermost operator that contains the call on its lane.
//! - Device work without a launch call belongs to the operator of its `External id`.
//! - Ascend's NPU work and the work in traces of PyTorch before Kineto have no correlation ids. Such work belongs to the innermost
//!   operator around the start of the flow (`async_npu`, `cpu_to_cuda`) that ends at the work.
//! - A backward operator belongs to the forward operator at the start of its `fwdbwd` flow. Without such flows, it
//!   belongs to the innermost forward operator with its sequence number, if one thread ran all forward operators.

mod absent;
mod flows;
mod operators;
mod processes;
mod repeated;
pub(crate) mod search;

use self::absent::{Activity, count_absent};
use self::flows::{OpIndex, link_backward, link_by_flows};
use self::operators::Operators;
use self::repeated::{Repeated, resolve};
use self::search::lower_bound;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::join::Join;
use crate::base::names::Names;
use crate::base::order::sort_by_key;
use crate::trace::pair::Pairs;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use crate::trace::tree::{Position, Tree};
use alloc::vec::Vec;
use core::ops::Range;

/// The categories of flows from operators to device work without correlation ids.
const TO_WORK: [&str; 2] = ["async_npu", "cpu_to_cuda"];

/// The categories of flows from forward to backward operators.
pub(crate) const FORWARD_BACKWARD: [&str; 3] = ["fwdbwd", "forward_backward", "fwd_bwd"];

/// All links of a trace, as pairs sorted by their first row.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Links {
    /// Device work with the call that launched it.
    pub launch_of: Vec<(Row, Row)>,
    /// Device work with the operator that it belongs to.
    pub op_of: Vec<(Row, Row)>,
    /// Backward operators with their forward operators.
    pub forward_of: Vec<(Row, Row)>,
}

/// Returns the partner of a row.
fn find(pairs: &[(Row, Row)], row: Row) -> Option<Row> {
    let at = lower_bound(pairs.len(), |at| i64::from(pairs[at].0), i64::from(row));
    pairs.get(at).filter(|pair| pair.0 == row).map(|pair| pair.1)
}

impl Links {
    /// The call that launched this device work.
    pub fn launch(&self, device: Row) -> Option<Row> {
        find(&self.launch_of, device)
    }

    /// The operator that this device work belongs to.
    pub fn op(&self, device: Row) -> Option<Row> {
        find(&self.op_of, device)
    }

    /// The forward operator of this backward operator.
    pub fn forward(&self, backward: Row) -> Option<Row> {
        find(&self.forward_of, backward)
    }

    /// Returns the work that launches of graphs started, each with its call, ordered by row.
    pub(crate) fn graph_work(&self, table: &Table) -> impl Iterator<Item = (Row, Row)> {
        let names = table.names.that(is_graph_launch);
        self.launch_of.iter().copied().filter(move |&(_, call)| names.has(table.name_id(call)))
    }
}

/// Rows by an id, sorted by id and then by row.
#[derive(Default)]
struct ById(Vec<(i64, Row)>);

impl ById {
    fn sorted(mut rows: Vec<(i64, Row)>) -> Self {
        sort_by_key(&mut rows, |&(id, row)| (id, i64::from(row)));
        ById(rows)
    }

    fn range(&self, id: i64) -> Range<usize> {
        let start = self.start(id);
        // Most ids have few rows, so that the steps begin with one.
        let (mut end, mut step) = (start, 1);
        while self.0.get(end + step - 1).is_some_and(|row| row.0 == id) {
            (end, step) = (end + step, step * 2);
        }
        let rest = &self.0[end..(end + step).min(self.0.len())];
        start..end + rest.partition_point(|row| row.0 == id)
    }

    fn start(&self, id: i64) -> usize {
        lower_bound(self.0.len(), |at| self.0[at].0, id)
    }

    fn has_repeats(&self) -> bool {
        self.0.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].0 != 0)
    }

    fn first(&self, id: i64) -> Option<Row> {
        self.0.get(self.start(id)).filter(|row| row.0 == id).map(|&(_, row)| row)
    }
}

/// Whether a runtime or driver call of this name starts device work.
pub(crate) fn is_launch_name(name: &str) -> bool {
    const PARTS: [&str; 4] = ["LaunchKernel", "LaunchCooperativeKernel", "GraphLaunch", "ModuleLaunch"];
    // Nearly all names are of something else.
    let is_launch = |call: &str| call.contains("Launch") && PARTS.iter().any(|part| call.contains(part));
    let call = name.strip_prefix("cu").or_else(|| name.strip_prefix("hip")).unwrap_or(name);
    let call = call.strip_prefix("da").unwrap_or(call);
    is_launch(call) || call.starts_with("Memcpy") || call.starts_with("Memset")
}

/// What graphs are called on the devices of a trace, by the names of the calls that launch and capture them.
pub(crate) fn graphs_of(names: &Names) -> &'static str {
    let is_hip = |name: &str| name.starts_with("hipGraph") || name.starts_with("hipStream");
    if names.that(is_hip).is_empty() { "CUDA graphs" } else { "HIP graphs" }
}

/// Whether a runtime or driver call of this name launches a graph.
pub(crate) fn is_graph_launch(name: &str) -> bool {
    name.contains("GraphLaunch")
}

/// The events that are linked by ids, with their ids.
#[derive(Default)]
pub(crate) struct Ids {
    /// Calls of the runtime and the driver, by their correlation ids.
    calls: ById,
    /// Device work with its correlation ids, in the order of the file.
    work: Vec<(Option<i64>, Row)>,
    /// Operators by their external ids.
    ops: ById,
}

impl Ids {
    /// Collects the ids of all events.
    pub(crate) fn new(table: &Table) -> Ids {
        let (mut calls, mut work, mut ops) = (Vec::new(), Vec::new(), Vec::new());
        let has_device = table.layouts.has_any(|of| of.is_device_work() || of.is_launch_call());
        for row in table.rows().filter(|_| has_device) {
            let category = table.category(row);
            if category.is_launch_call() {
                calls.extend(table.int(row, Key::Correlation).map(|id| (id, row)));
            } else if category.is_device_work() && table.is_span(row) {
                work.push((table.int(row, Key::Correlation), row));
            } else if category == Category::CpuOp && table.is_span(row) {
                ops.extend(table.int(row, Key::ExternalId).map(|id| (id, row)));
            }
        }
        // Operators are needed for device work only.
        let ops = if work.is_empty() { Vec::new() } else { ops };
        Ids { calls: ById::sorted(calls), work, ops: ById::sorted(ops) }
    }
}

/// Computes all links of a trace.
pub(crate) fn link(
    table: &Table,
    tree: &Tree,
    pairs: &Pairs,
    Ids { calls, work, ops }: Ids,
    diagnostics: &mut Diagnostics,
    join: Join,
) -> Links {
    let mut links = Links::default();
    let is_chrome = table.metadata.source == Source::Chrome;
    let idle = if work.is_empty() {
        launches(table, &calls).filter(|_| is_chrome).collect()
    } else {
        let owner = Owners::new(table, tree, (&calls, ops), &work);
        link_device(&owner, &work, &calls, &mut links, diagnostics, join)
    };
    count_absent(&Activity { table, links: &links, calls: &calls.0, work: &work }, idle, diagnostics);
    let has_flow = |wanted: &[&str]| {
        table.layouts.all().iter().any(|l| l.cat.is_some_and(|cat| wanted.contains(&table.names.get(cat))))
    };
    let has_backward = table.layouts.all().iter().any(|l| l.find(Key::FwdThreadId).is_some());
    if has_backward || has_flow(&TO_WORK) || has_flow(&FORWARD_BACKWARD) {
        let ops = OpIndex::new(table, tree);
        link_backward(&ops, pairs, &mut links, join);
        if has_flow(&TO_WORK) {
            link_by_flows(&ops, pairs, &mut links);
        }
    }
    links
}

/// Links device work to calls and operators. Returns the launch calls without device work.
fn link_device(
    owner: &Owners<'_>,
    work: &[(Option<i64>, Row)],
    calls: &ById,
    links: &mut Links,
    diagnostics: &mut Diagnostics,
    join: Join,
) -> Vec<Row> {
    let table = owner.table;
    let mut parts = join.parts(work.len(), |part| owner.links(&work[part], calls)).into_iter();
    let (first, mut guessed) = parts.next().unwrap_or_default();
    *links = first;
    for (mut part, mut more) in parts {
        links.launch_of.append(&mut part.launch_of);
        links.op_of.append(&mut part.op_of);
        guessed.append(&mut more);
    }
    let mut launched: Vec<Row> = links.launch_of.iter().map(|&(_, call)| call).collect();
    let orphans = work.len() - launched.len();
    diagnostics.record_many(Code::KernelWithoutLaunch, orphans as u64, None, b"");
    sort_by_key(&mut launched, |&row| (i64::from(row), 0));
    owner.record_repeated(&guessed, diagnostics);
    launches(table, calls).filter(|row| launched.binary_search(row).is_err()).collect()
}

/// The calls that start device work.
fn launches<'a>(table: &'a Table, calls: &'a ById) -> impl Iterator<Item = Row> + 'a {
    let names = table.names.that(is_launch_name);
    calls.0.iter().map(|&(_, row)| row).filter(move |&row| names.has(table.name_id(row)))
}

/// Launch calls with the innermost operators around them, by call.
fn enclosing(table: &Table, tree: &Tree) -> Vec<(Row, Row)> {
    let mut enclosing = Vec::new();
    let mut op_above: Vec<Option<Row>> = Vec::with_capacity(tree.len());
    for at in tree.positions() {
        let above = |parent: Position| {
            let is_op = table.category(tree.row(parent)) == Category::CpuOp;
            if is_op { Some(tree.row(parent)) } else { op_above[parent.index()] }
        };
        let op = tree.parent(at).and_then(above);
        op_above.push(op);
        let call = tree.row(at);
        enclosing.extend(op.filter(|_| table.category(call).is_launch_call()).map(|op| (call, op)));
    }
    sort_by_key(&mut enclosing, |&(call, _)| (i64::from(call), 0));
    enclosing
}

struct Owners<'a> {
    table: &'a Table,
    ops: Operators,
    /// Launch calls with the innermost operators around them.
    enclosing: Vec<(Row, Row)>,
    /// Work whose correlation id several calls have.
    of_calls: Repeated,
    /// Work without a call whose external id several operators have.
    of_ops: Repeated,
}

impl<'a> Owners<'a> {
    fn new(
        table: &'a Table,
        tree: &'a Tree,
        (calls, ops): (&ById, ById),
        work: &[(Option<i64>, Row)],
    ) -> Self {
        let identified = |&(id, row): &(Option<i64>, Row)| Some((id.filter(|&id| id != 0)?, row));
        let of_calls = resolve(table, calls, work.iter().filter_map(identified).collect());
        let without =
            work.iter().filter(|work| identified(work).is_none_or(|(id, _)| calls.first(id).is_none()));
        let external = without.filter_map(|&(_, row)| Some((external_of_work(table, row)?, row)));
        let of_ops = resolve(table, &ops, external.collect());
        Owners { table, ops: Operators::new(table, ops), enclosing: enclosing(table, tree), of_calls, of_ops }
    }

    /// Counts the work that was linked by more than its id, and the work whose operator was `guessed`.
    fn record_repeated(&self, guessed: &[Row], diagnostics: &mut Diagnostics) {
        let mut record = |code, rows: &mut dyn ExactSizeIterator<Item = Row>| {
            let count = rows.len() as u64;
            let example = rows.next().map_or("", |row| self.table.name(row));
            diagnostics.record_many(code, count, None, example.as_bytes());
        };
        for Repeated { chosen, undecided } in [&self.of_calls, &self.of_ops] {
            record(Code::RepeatedId, &mut chosen.iter().map(|pair| pair.0));
            record(Code::AmbiguousLink, &mut undecided.iter().copied());
        }
        record(Code::AmbiguousLink, &mut guessed.iter().copied());
    }

    /// Links device work to launch calls and operators. Also returns the work whose operator was guessed.
    fn links(&self, work: &[(Option<i64>, Row)], calls: &ById) -> (Links, Vec<Row>) {
        let (mut links, mut guessed) = (Links::default(), Vec::new());
        for &(correlation, row) in work {
            let first = || correlation.filter(|&id| id != 0).and_then(|id| calls.first(id));
            let launch = find(&self.of_calls.chosen, row).or_else(first);
            links.launch_of.extend(launch.map(|call| (row, call)));
            let of_call = launch.and_then(|call| self.call_owner(call));
            guessed.extend(of_call.filter(|op| op.1).map(|_| row));
            let op = of_call.map(|op| op.0).or_else(|| self.work_owner(row));
            links.op_of.extend(op.map(|op| (row, op)));
        }
        (links, guessed)
    }

    /// The operator of a call, and whether it is one of several that are as likely.
    fn call_owner(&self, call: Row) -> Option<(Row, bool)> {
        let external = self.table.int(call, Key::ExternalId).filter(|&id| id > 0);
        let is_own = external.is_some() && external == self.table.int(call, Key::Correlation);
        let containing = external.and_then(|id| self.ops.containing(self.table, id, call));
        let nearest = || external.filter(|_| !is_own).and_then(|id| self.ops.nearest(self.table, id, call));
        let certain = |op: Row| (op, false);
        containing.map(certain).or_else(nearest).or_else(|| find(&self.enclosing, call).map(certain))
    }

    fn work_owner(&self, row: Row) -> Option<Row> {
        let external = external_of_work(self.table, row)?;
        find(&self.of_ops.chosen, row).or_else(|| self.ops.by_id().first(external))
    }
}

/// The external id of device work, if it is not the correlation id of its call.
fn external_of_work(table: &Table, row: Row) -> Option<i64> {
    let external = table.int(row, Key::ExternalId).filter(|&id| id > 0)?;
    (table.int(row, Key::Correlation) != Some(external)).then_some(external)
}
