//! Which event caused which: launch call → device work, operator → launch call, forward operator → backward operator.
//!
//! - A launch call and its device work share `correlation`. Of several calls with one id, the first counts.
//! - An operator owns a launch call that names it by `External id`, unless that is the call's own correlation id (files
//!   before 2024 wrote it into calls without an operator) and the operator does not contain the call; without an
//!   `External id`, the innermost operator that contains the call on its lane owns it.
//! - Device work without a launch call belongs to the operator that it names by `External id`.
//! - A backward operator belongs to the forward operator that its `fwdbwd` arrow starts at.

use crate::diagnostics::{Code, Diagnostics};
use crate::pair::Pairs;
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::layout::Key;
use crate::tree::Tree;
use alloc::vec::Vec;

/// Every link of a trace, as pairs sorted by their first row.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Device work with the call that launched it.
    pub launch_of: Vec<(Row, Row)>,
    /// Device work with the operator that it was done for.
    pub op_of: Vec<(Row, Row)>,
    /// Backward operators with their forward operators.
    pub forward_of: Vec<(Row, Row)>,
    /// Launch calls that started no device work.
    pub idle_launches: Vec<Row>,
}

fn find(pairs: &[(Row, Row)], row: Row) -> Option<Row> {
    pairs.binary_search_by_key(&row, |p| p.0).ok().map(|at| pairs[at].1)
}

impl Links {
    /// The call that launched this device work.
    pub fn launch(&self, device: Row) -> Option<Row> {
        find(&self.launch_of, device)
    }

    /// The operator that this device work was done for.
    pub fn op(&self, device: Row) -> Option<Row> {
        find(&self.op_of, device)
    }

    /// The forward operator of this backward operator.
    pub fn forward(&self, backward: Row) -> Option<Row> {
        find(&self.forward_of, backward)
    }
}

/// Rows by an id that they carry, sorted by id and then by row.
struct ById(Vec<(i64, Row)>);

impl ById {
    fn sorted(mut rows: Vec<(i64, Row)>) -> Self {
        if !rows.is_sorted() {
            rows.sort_unstable();
        }
        ById(rows)
    }

    fn of(&self, id: i64) -> &[(i64, Row)] {
        let start = self.0.partition_point(|&(other, _)| other < id);
        let length = self.0[start..].iter().take_while(|&&(other, _)| other == id).count();
        &self.0[start..start + length]
    }

    fn first(&self, id: i64) -> Option<Row> {
        self.of(id).first().map(|&(_, row)| row)
    }
}

/// Names of runtime and driver calls that put work on a device.
pub fn is_launch_name(name: &str) -> bool {
    const PARTS: [&str; 4] = ["LaunchKernel", "LaunchCooperativeKernel", "GraphLaunch", "ModuleLaunch"];
    let call = name.strip_prefix("cu").or_else(|| name.strip_prefix("hip")).unwrap_or(name);
    let call = call.strip_prefix("da").unwrap_or(call);
    PARTS.iter().any(|part| call.contains(part)) || call.starts_with("Memcpy") || call.starts_with("Memset")
}

/// Finds every link of a trace.
pub fn link(table: &Table, tree: &Tree, pairs: &Pairs, diagnostics: &mut Diagnostics) -> Links {
    let mut calls = Vec::new();
    let mut work = Vec::new();
    let mut ops = Vec::new();
    for row in table.rows() {
        let category = table.category(row);
        if category.is_launch_call() {
            calls.extend(table.int(row, Key::Correlation).map(|id| (id, row)));
        } else if category.is_device_work() && table.is_span(row) {
            work.push((table.int(row, Key::Correlation), row));
        } else if category == Category::CpuOp && table.is_span(row) {
            ops.extend(table.int(row, Key::ExternalId).map(|id| (id, row)));
        }
    }
    let mut links = Links::default();
    if !work.is_empty() {
        let owner = Owners { table, tree, ops: ById::sorted(ops), positions: positions(table, tree) };
        link_device(&owner, &work, &ById::sorted(calls), &mut links, diagnostics);
    }
    link_backward(table, tree, pairs, &mut links);
    links
}

fn link_device(
    owner: &Owners<'_>,
    work: &[(Option<i64>, Row)],
    calls: &ById,
    links: &mut Links,
    diagnostics: &mut Diagnostics,
) {
    let table = owner.table;
    let mut launched: Vec<Row> = Vec::new();
    let mut orphans = 0;
    for &(correlation, row) in work {
        let launch = correlation.filter(|&id| id != 0).and_then(|id| calls.first(id));
        match launch {
            Some(call) => {
                links.launch_of.push((row, call));
                launched.push(call);
            }
            None => orphans += 1,
        }
        let op = launch.and_then(|call| owner.of_call(call)).or_else(|| owner.of_work(row));
        links.op_of.extend(op.map(|op| (row, op)));
    }
    let example = |row: Option<Row>| row.map_or("", |row| table.name(row));
    diagnostics.record_many(Code::KernelWithoutLaunch, orphans, None, b"");
    launched.sort_unstable();
    let idle = |row: Row| is_launch_name(table.name(row)) && launched.binary_search(&row).is_err();
    links.idle_launches = calls.0.iter().map(|&(_, row)| row).filter(|&row| idle(row)).collect();
    let first = example(links.idle_launches.first().copied());
    diagnostics.record_many(
        Code::LaunchWithoutKernel,
        links.idle_launches.len() as u64,
        None,
        first.as_bytes(),
    );
    let twice = calls.0.windows(2).filter(|w| w[0].0 == w[1].0 && w[0].0 != 0);
    let twice = twice.filter(|w| launched.binary_search(&w[0].1).is_ok()).count();
    diagnostics.record_many(Code::AmbiguousCorrelation, twice as u64, None, b"");
}

/// The tree position of every launch call, by row.
fn positions(table: &Table, tree: &Tree) -> Vec<(Row, u32)> {
    let calls = (0..tree.len() as u32).filter(|&at| table.category(tree.rows[at as usize]).is_launch_call());
    let mut positions: Vec<(Row, u32)> = calls.map(|at| (tree.rows[at as usize], at)).collect();
    positions.sort_unstable();
    positions
}

struct Owners<'a> {
    table: &'a Table,
    tree: &'a Tree,
    ops: ById,
    positions: Vec<(Row, u32)>,
}

impl Owners<'_> {
    fn of_call(&self, call: Row) -> Option<Row> {
        let external = self.table.int(call, Key::ExternalId).filter(|&id| id > 0);
        let named = external.map(|id| self.ops.of(id)).unwrap_or_default();
        let contains = |op: Row| {
            self.table.track_id(op) == self.table.track_id(call)
                && self.table.ts(op) <= self.table.ts(call)
                && self.table.end(call) <= self.table.end(op)
        };
        let own = external.is_some() && external == self.table.int(call, Key::Correlation);
        let inside = named.iter().map(|&(_, op)| op).find(|&op| contains(op));
        inside.or_else(|| named.first().filter(|_| !own).map(|&(_, op)| op)).or_else(|| self.enclosing(call))
    }

    fn enclosing(&self, call: Row) -> Option<Row> {
        let at = self.positions.binary_search_by_key(&call, |p| p.0).ok()?;
        let mut ancestors = self.tree.ancestors(self.positions[at].1).map(|at| self.tree.rows[at as usize]);
        ancestors.find(|&row| self.table.category(row) == Category::CpuOp)
    }

    fn of_work(&self, row: Row) -> Option<Row> {
        let external = self.table.int(row, Key::ExternalId).filter(|&id| id > 0)?;
        let own = self.table.int(row, Key::Correlation) == Some(external);
        if own { None } else { self.ops.first(external) }
    }
}

/// Follows the `fwdbwd` arrows from the innermost operator at one end to that at the other.
fn link_backward(table: &Table, tree: &Tree, pairs: &Pairs, links: &mut Links) {
    let is_arrow = |row: Row| matches!(table.cat(row), "fwdbwd" | "forward_backward" | "fwd_bwd");
    let arrows: Vec<(Row, Row)> = pairs.flows.iter().copied().filter(|&(start, _)| is_arrow(start)).collect();
    if arrows.is_empty() {
        return;
    }
    // The innermost operator that starts at an instant is the last one in the tree.
    let mut starts: Vec<(u32, i64, Row)> = Vec::new();
    for lane in &tree.lanes {
        let rows = &tree.rows[lane.start as usize..lane.end as usize];
        let ops = rows.iter().filter(|&&row| table.category(row) == Category::CpuOp);
        starts.extend(ops.map(|&row| (lane.track.0, table.ts(row), row)));
    }
    starts.sort_by_key(|&(track, ts, _)| (track, ts));
    let op_at = |arrow: Row| {
        let key = (table.track_id(arrow).0, table.ts(arrow));
        let end = starts.partition_point(|&(track, ts, _)| (track, ts) <= key);
        starts[..end].last().filter(|&&(track, ts, _)| (track, ts) == key).map(|&(.., row)| row)
    };
    links.forward_of = arrows.iter().filter_map(|&(s, f)| Some((op_at(f)?, op_at(s)?))).collect();
    links.forward_of.sort_unstable();
    links.forward_of.dedup_by_key(|pair| pair.0);
}
