//! The call tree of a step with the times of both sides: places with the same groups from the root on are one.

use super::align::Group;
use super::kinds::RowKind;
use super::profile::Profile;
use crate::base::index::Index;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Cell, Column, Rows, columns};
use crate::base::units::time_ns;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Times of the sides, in ns: of the host, and of devices.
type Times = [[i64; 2]; 2];

const HOST: usize = 0;
const DEVICE: usize = 1;

/// The name of the root.
const STEP: &str = "step";

#[derive(Clone, Debug)]
struct DiffNode {
    /// The parent, which comes before its children; `None` for the step itself.
    parent: Option<u32>,
    group: u32,
    /// Of the node itself, in all steps.
    self_times: Times,
}

/// Collects the places of all ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<DiffNode>,
    /// The nodes by parent and group.
    index: Index,
}

impl Tree {
    /// Adds the places of a profile with their groups and their own times.
    pub(super) fn add(
        &mut self,
        side: usize,
        profile: &Profile,
        groups: &[u32],
        self_ns: &[i64],
        is_replaced: impl Fn(u32) -> bool,
    ) {
        let mut node_of = vec![0u32; groups.len()];
        for (at, place) in profile.places.nodes.iter().enumerate() {
            let parent = (at > 0).then(|| node_of[place.parent as usize]);
            // What was replaced is one node with everything inside it.
            let is_inside = is_replaced(groups[at])
                && parent.is_some_and(|parent| self.nodes[parent as usize].group == groups[at]);
            let node = match parent {
                Some(parent) if is_inside => parent,
                _ => self.node(parent, groups[at]),
            };
            node_of[at] = node;
            let time =
                &mut self.nodes[node as usize].self_times[usize::from(place.kind.is_on_device())][side];
            *time = time.saturating_add(self_ns[at]);
        }
    }

    fn node(&mut self, parent: Option<u32>, group: u32) -> u32 {
        let next = self.nodes.len() as u32;
        let at = self.index.get_or_insert((parent.map_or(-1, i64::from), i64::from(group)), next);
        if at == next {
            self.nodes.push(DiffNode { parent, group, self_times: Times::default() });
        }
        at
    }

    /// Returns the nodes with their times per step, in depth-first order, of siblings the longest first.
    fn branches(&self, units: [i64; 2]) -> Vec<Branch> {
        let mut totals: Vec<Times> = self.nodes.iter().map(|node| node.self_times).collect();
        for at in (1..totals.len()).rev() {
            let Some(parent) = self.nodes[at].parent else { continue };
            let added = totals[at];
            for (sum, added) in
                totals[parent as usize].as_flattened_mut().iter_mut().zip(added.as_flattened())
            {
                *sum = sum.saturating_add(*added);
            }
        }
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent as usize].push(at);
            }
        }
        let units = units.map(|units| units.max(1));
        let per_step = |times: Times| times.map(|both| [both[0] / units[0], both[1] / units[1]]);
        let size = |at: usize| -> i64 {
            totals[at].as_flattened().iter().fold(0, |sum, ns| sum.saturating_add(*ns))
        };
        let mut branches = Vec::with_capacity(self.nodes.len());
        let mut open: Vec<(usize, usize)> = self.nodes.first().map(|_| (0, 0)).into_iter().collect();
        while let Some((at, depth)) = open.pop() {
            let node = &self.nodes[at];
            branches.push(Branch {
                depth,
                group: node.group as usize,
                total: per_step(totals[at]),
                self_times: per_step(node.self_times),
            });
            let list = &mut children[at];
            sort_by_key(list, |&child| (size(child), descending(child as i64)));
            open.extend(list.iter().map(|&child| (child, depth + 1)));
        }
        branches
    }
}

/// A node with its times per step.
struct Branch {
    depth: usize,
    group: usize,
    total: Times,
    self_times: Times,
}

/// What the rows of a group have in common.
#[derive(Clone, Debug)]
struct Label {
    kind: RowKind,
    name: String,
    /// Whether the change of what has this name is more than noise, everywhere together.
    is_significant: Option<bool>,
}

/// The tree of a comparison, with the names of its groups.
#[derive(Clone, Debug)]
pub(super) struct CallTree {
    tree: Tree,
    labels: Vec<Label>,
    /// The number of steps of all ranks on each side.
    units: [i64; 2],
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(tree: &CallTree, branch: &Branch) {
        let Branch { depth, group, total, self_times } = branch;
        let label = &tree.labels[*group];
    } [
        Column::int("depth", "", "The number of ancestors; 0 for the step itself.") => *depth,
        Column::word("kind", "Kind", &RowKind::VOCABULARY, "What the row is about.") => label.kind.as_str(),
        Column::text("name", "Name", "The name; where something was replaced, the names of both sides.") =>
            tree.name(branch),
        Column::bool("significant", "", "Whether the change of everything with this name is more than noise; null if that cannot be decided.")
            .nullable() => label.is_significant,
        Column::ns("a_ns", "A", "The wall time per step in the first trace, with everything inside.") => total[HOST][0],
        Column::ns("b_ns", "B", "The same in the second trace.") => total[HOST][1],
        Column::ns("self_a_ns", "", "The same without what is inside, in the first trace.") => self_times[HOST][0],
        Column::ns("self_b_ns", "", "The same in the second trace.") => self_times[HOST][1],
        Column::ns("device_a_ns", "Device A", "The busy time of devices per step in the first trace that it launched, with everything inside.") =>
            total[DEVICE][0],
        Column::ns("device_b_ns", "Device B", "The same in the second trace.") => total[DEVICE][1],
    ]
}

/// The branches of which a side has at least a share of the wall time or of the busy time of the step, with all of their
/// ancestors.
fn large(branches: &[Branch], min_share: f64) -> impl Iterator<Item = &Branch> {
    let step_times = branches.first().map_or(Times::default(), |step| step.total);
    let is_large = move |total: &Times| {
        let pairs = total.as_flattened().iter().zip(step_times.as_flattened());
        pairs.into_iter().any(|(&ns, &step_ns)| ns > 0 && ns as f64 >= step_ns as f64 * min_share)
    };
    branches.iter().filter(move |branch| branch.depth == 0 || is_large(&branch.total))
}

impl CallTree {
    pub(super) fn new<'a>(
        tree: Tree,
        groups: impl Iterator<Item = (&'a Group, Option<bool>)>,
        units: [i64; 2],
    ) -> CallTree {
        let label = |(group, is_significant): (&Group, _)| Label {
            kind: group.kind,
            name: group.name(),
            is_significant,
        };
        CallTree { tree, labels: groups.map(label).collect(), units }
    }

    fn name(&self, branch: &Branch) -> &str {
        if branch.depth == 0 { STEP } else { &self.labels[branch.group].name }
    }

    /// Returns the tree as rows.
    pub(super) fn rows(&self, min_share: f64) -> Rows {
        Rows::from_cells(
            COLUMNS,
            large(&self.tree.branches(self.units), min_share).map(|branch| row(self, branch)),
        )
    }

    /// Returns the tree as a table for a person.
    pub(super) fn table(&self, min_share: f64, row_limit: Option<usize>) -> Rows {
        let branches = self.tree.branches(self.units);
        let has_device = branches.first().is_some_and(|step| step.total[DEVICE] != [0, 0]);
        let mut titles = vec!["Call", "A", "B", "Change"];
        if has_device {
            titles.extend(["Device A", "Device B", "Change"]);
        }
        let mut rows = Rows::page(&titles);
        for branch in large(&branches, min_share) {
            let mut cells: Vec<Cell> =
                vec![format!("{}{}", "  ".repeat(branch.depth.min(DEEPEST)), self.name(branch)).into()];
            for [a, b] in branch.total.into_iter().take(1 + usize::from(has_device)) {
                cells.extend([Cell::Ns(a), Cell::Ns(b), signed(b - a).into()]);
            }
            rows.push(cells);
        }
        rows.first(row_limit)
    }
}

/// The deepest level that is indented.
const DEEPEST: usize = 64;

/// A change of time with its sign.
pub(super) fn signed(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "+" };
    format!("{sign}{}", time_ns(ns.saturating_abs(), None))
}
