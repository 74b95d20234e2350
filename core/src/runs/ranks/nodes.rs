//! Machines whose ranks are late together.
//!
//! A node takes the place of a rank: its time in a phase of a step, and its lateness, are those of its median rank, the
//! lower one of two in the middle. So a node is named by the rules for ranks, and only if more than half of its ranks are
//! late. This also names one of two nodes, where half of all ranks are late and none of them is an exception.

use super::phases::Times;
use super::run::{Run, hosts};
use super::step_table::{Cell, StepTable, known};
use super::stragglers::{Straggler, stragglers};
use alloc::vec::Vec;

/// A machine that the others waited for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlowNode<'a> {
    pub(crate) host: &'a str,
    pub(crate) ranks: Vec<i64>,
    /// Its phase, steps and cost.
    pub(crate) late: Straggler,
}

/// Returns the machines that others waited for, the most expensive first. Those with a single rank are left out: that rank
/// is named itself.
pub(crate) fn slow_nodes<'a>(
    run: &'a Run,
    steps: &StepTable,
    parts: Option<&StepTable>,
) -> Vec<SlowNode<'a>> {
    let hosts = hosts(&run.members);
    if hosts.len() < 2 || hosts.len() == run.members.len() || hosts.contains(&"") {
        return Vec::new();
    }
    let of = |host: &&str| -> Vec<usize> {
        (0..run.members.len()).filter(|&at| run.members[at].host() == *host).collect()
    };
    let nodes: Vec<Vec<usize>> = hosts.iter().map(of).collect();
    let parts = parts.map(|parts| by_node(parts, &nodes));
    let named = stragglers(&by_node(steps, &nodes), parts.as_ref());
    let several = named.into_iter().filter(|late| nodes[late.member].len() > 1);
    several
        .map(|late| SlowNode {
            host: hosts[late.member],
            ranks: nodes[late.member].iter().map(|&at| run.members[at].rank).collect(),
            late,
        })
        .collect()
}

/// Returns the table with a node in place of each rank.
fn by_node(table: &StepTable, nodes: &[Vec<usize>]) -> StepTable {
    let of = |cells: &Vec<Option<Cell>>| nodes.iter().map(|node| middle(cells, node)).collect();
    table.with_cells(table.cells.iter().map(of).collect())
}

/// The median rank of a node in a step.
fn middle(cells: &[Option<Cell>], node: &[usize]) -> Option<Cell> {
    let node_cells: Vec<Cell> =
        known(cells).filter(|(at, _)| node.contains(at)).map(|(_, cell)| cell).collect();
    let lower = |of: &dyn Fn(&Cell) -> i64| {
        let mut values: Vec<i64> = node_cells.iter().map(of).collect();
        values.sort_unstable();
        values.get(values.len().saturating_sub(1) / 2).copied()
    };
    let mut phases = Times::default();
    for (phase, ns) in phases.iter_mut().enumerate() {
        *ns = lower(&|cell| cell.phases[phase])?;
    }
    Some(Cell {
        time: (0, lower(&|cell| cell.time.1 - cell.time.0)?),
        phases,
        late_ns: lower(&|cell| cell.late_ns)?,
        wait_ns: lower(&|cell| cell.wait_ns)?,
    })
}
