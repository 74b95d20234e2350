//! The call tree: the spans of every lane merged by their path of names, with counts and times.

use super::grafts::{Counted, Grafts};
use super::lane_names::LaneNames;
use crate::analysis::query::options::{Fallback, Opt, Options, ROW_LIMIT, TypedOptions};
use crate::analysis::query::value::ValueKind;
use crate::analysis::query::{Input, Query};
use crate::base::escape::{first_frame, frame};
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, columns};
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::tree::Lane;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;

/// All spans of one lane with the same path of names from the root.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallNode {
    /// The name.
    pub name: NameId,
    /// The parent node; `None` for a root.
    pub parent: Option<usize>,
    /// The number of ancestors.
    pub depth: usize,
    /// The number of spans.
    pub count: usize,
    /// The sum of durations, in ns.
    pub total_ns: i64,
    /// The sum of self times, in ns.
    pub self_ns: i64,
    /// The sum of the device work that the spans and everything inside them launched, in ns.
    pub device_total_ns: i64,
    /// The sum of the device work that the spans themselves launched, in ns.
    pub device_self_ns: i64,
}

impl CallNode {
    fn new(name: NameId, parent: Option<usize>, depth: usize) -> CallNode {
        CallNode {
            name,
            parent,
            depth,
            count: 0,
            total_ns: 0,
            self_ns: 0,
            device_total_ns: 0,
            device_self_ns: 0,
        }
    }
}

/// Returns the duration of the device work that each row launched, in ns. Device work without a launch call is
/// attributed to its operator.
pub(super) fn launched_ns(trace: &Trace) -> Vec<i64> {
    let table = &trace.table;
    let mut launched = vec![0i64; table.len()];
    let links = &trace.links;
    let without_call = links.op_of.iter().filter(|&&(work, _)| links.launch(work).is_none());
    for &(work, cause) in links.launch_of.iter().chain(without_call) {
        launched[cause.index()] += table.dur(work).max(0);
    }
    launched
}

/// Returns the merged tree of a lane: parents before children, in order of first occurrence. Device times are 0 if
/// `launched_ns` is empty. The profiler's own span over the recording calls nothing and is left out.
pub fn merged(trace: &Trace, lane: &Lane, launched_ns: &[i64]) -> Vec<CallNode> {
    merged_with(trace, lane, launched_ns, &Grafts::none(trace))
}

/// The same; inside of a graph launch are the captured spans whose work it replays.
fn merged_with(trace: &Trace, lane: &Lane, launched_ns: &[i64], grafts: &Grafts<'_>) -> Vec<CallNode> {
    let (table, tree) = (&trace.table, &trace.tree);
    let mut nodes: Vec<CallNode> = Vec::new();
    let mut index = Index::default();
    let mut node_of: Vec<Option<usize>> = Vec::with_capacity(lane.positions().len());
    let mut counted = Counted::default();
    let self_ns = tree.self_times(table, lane);
    for at in lane.positions() {
        let row = tree.row(at);
        let above = tree.parent(at).and_then(|parent| node_of[lane.offset(parent)]);
        if table.category(row) == Category::Window {
            node_of.push(above);
            continue;
        }
        let node = child(&mut nodes, &mut index, above, table.name_id(row));
        node_of.push(Some(node));
        nodes[node].count += 1;
        nodes[node].total_ns += table.dur(row).max(0);
        nodes[node].self_ns += self_ns[lane.offset(at)];
        nodes[node].device_self_ns += launched_ns.get(row.index()).copied().unwrap_or(0);
        for (path, ns) in grafts.of(row) {
            let mut innermost = node;
            for &span in path {
                innermost = child(&mut nodes, &mut index, Some(innermost), span.name);
                nodes[innermost].count += usize::from(counted.is_new(row, span));
            }
            nodes[node].device_self_ns -= ns;
            nodes[innermost].device_self_ns += ns;
        }
    }
    for at in (0..nodes.len()).rev() {
        nodes[at].device_total_ns += nodes[at].device_self_ns;
        if let Some(parent) = nodes[at].parent {
            nodes[parent].device_total_ns += nodes[at].device_total_ns;
        }
    }
    nodes
}

/// Returns the child of a node with a name.
fn child(nodes: &mut Vec<CallNode>, index: &mut Index, above: Option<usize>, name: NameId) -> usize {
    let key = (above.map_or(-1, |above| above as i64), i64::from(name.0));
    let node = index.get_or_insert(key, nodes.len() as u32) as usize;
    if node == nodes.len() {
        let depth = above.map_or(0, |above| nodes[above].depth + 1);
        nodes.push(CallNode::new(name, above, depth));
    }
    node
}

/// The deepest level that is indented: the indentation of n nested names would take n² bytes.
const DEEPEST: usize = 256;

/// The maximum number of callers in a bottom-up tree: the paths of a tree of n nodes can have n² names.
const MOST_CALLERS: usize = 256;

/// A bottom-up tree has all paths of up to this many names. It has longer ones until it has this many nodes for each node of the
/// tree, and [`MOST_PATHS`] more.
const PATHS: usize = 16;
const MOST_PATHS: usize = 1 << 16;

/// Inverts a tree: the roots are the names with their total self time, and below each are its callers with the part of
/// that time that is due to their calls. Self times are at the nodes without further callers.
pub fn bottom_up(nodes: &[CallNode], depth: usize) -> Vec<CallNode> {
    let mut inverted: Vec<CallNode> = Vec::new();
    let mut index = Index::default();
    let most = PATHS * nodes.len() + MOST_PATHS;
    for leaf in nodes.iter().filter(|n| n.self_ns != 0 || n.device_self_ns != 0) {
        let callers = core::iter::successors(Some(leaf), |n| n.parent.map(|p| &nodes[p]));
        let mut below = None;
        for (level, caller) in callers.take(depth.min(MOST_CALLERS)).enumerate() {
            let key = (below.map_or(-1, |at: usize| at as i64), i64::from(caller.name.0));
            if level >= PATHS && inverted.len() >= most {
                break;
            }
            let at = index.get_or_insert(key, inverted.len() as u32) as usize;
            if at == inverted.len() {
                inverted.push(CallNode::new(caller.name, below, level));
            }
            inverted[at].count += leaf.count;
            inverted[at].total_ns += leaf.self_ns;
            inverted[at].device_total_ns += leaf.device_self_ns;
            below = Some(at);
        }
        if let Some(last) = below {
            inverted[last].self_ns += leaf.self_ns;
            inverted[last].device_self_ns += leaf.device_self_ns;
        }
    }
    inverted
}

/// The limits on the nodes of a tree that are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// The maximum number of levels.
    pub depth: usize,
    /// Leave out nodes with less than this share of the time of their lane, and of the device work that it launched.
    pub min_share: f64,
    /// Invert the tree: see [`bottom_up`].
    pub bottom_up: bool,
}

/// Options of `tree`.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeOptions {
    /// Invert the tree: show the callers below each name instead of the callees.
    pub bottom_up: bool,
    /// The maximum number of levels; `None` for all.
    pub depth: Option<usize>,
    /// Leave out nodes with less than this share of the time of their lane, and of the device work that it launched; 1 is all of it.
    pub min_share: f64,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

impl TreeOptions {
    const DEPTH: usize = 8;
}

impl Default for TreeOptions {
    fn default() -> Self {
        TreeOptions { bottom_up: false, depth: Some(TreeOptions::DEPTH), min_share: 0.0, row_limit: None }
    }
}

const BOTTOM_UP: Opt = Opt::flag("bottom-up", "Show the callers below each name instead of the callees");
const DEPTH: Opt =
    Opt::count("depth", "N", "Maximum number of levels, -1 for all").or(Fallback::Number(TreeOptions::DEPTH));
const MIN_SHARE: Opt = Opt::new(
    "min-share",
    "PERCENT",
    ValueKind::Percent,
    "Leave out nodes with less than this percentage of the time of their lane",
)
.or(Fallback::InTable(1, "0"));

impl TypedOptions for TreeOptions {
    const DECLARED: &'static [Opt] = &[BOTTOM_UP, DEPTH, MIN_SHARE, ROW_LIMIT];

    fn from_options(options: &Options, for_reading: bool) -> Self {
        let default = TreeOptions::default();
        TreeOptions {
            bottom_up: options.flag(&BOTTOM_UP),
            depth: options.limit(&DEPTH, default.depth),
            min_share: options.share(&MIN_SHARE, for_reading),
            row_limit: options.limit(&ROW_LIMIT, default.row_limit),
        }
    }
}

/// The query `tree`.
pub const TREE: Query =
    Query::new("tree", "Call tree of every thread and stream, merged by name", COLUMNS, |trace, request| {
        Ok(tree(trace, &request.typed()).into())
    })
    .examples(&["run.json --depth 6 --min-share 1", "run.json --bottom-up --depth 3"])
    .options::<TreeOptions>()
    .inputs(&[Input::Captures]);

/// Returns the call tree of every lane, merged by name.
pub fn tree(trace: &Trace, options: &TreeOptions) -> Rows {
    let cut = Cut {
        depth: options.depth.unwrap_or(usize::MAX),
        bottom_up: options.bottom_up,
        min_share: options.min_share,
    };
    tree_rows(trace, cut).first(options.row_limit)
}

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(lane: &str, node: &CallNode, name: Option<&str>, share: Option<f64>) {
        let indent = "  ".repeat(node.depth.min(DEEPEST) + 1);
    } [
        Column::text("lane", "", "The thread or stream.") => lane,
        Column::int("depth", "", "The number of ancestors; null in the row of the lane itself.").nullable() =>
            name.map(|_| node.depth),
        Column::text("name", "", "The name of the spans; null in the row of the lane itself.").nullable() =>
            name,
        Column::text("path", "Name", "The name, indented by its depth.") =>
            name.map_or_else(|| lane.into(), |name| format!("{indent}{name}")),
        Column::int("count", "Count", "The number of merged spans.") => node.count,
        Column::ns("total_ns", "Total", "Sum of their durations.") => node.total_ns,
        Column::ns("self_ns", "Self", "Sum of their self times.").nullable() => name.map(|_| node.self_ns),
        Column::ns("device_total_ns", "Device", "Sum of the device work that the spans and everything inside them launched.") =>
            node.device_total_ns,
        Column::ns("device_self_ns", "Self device", "Sum of the device work that the spans themselves launched.") =>
            node.device_self_ns,
        Column::share("share", "Share of lane", "The share of the time of the lane's outermost spans.")
            .nullable() => share,
    ]
}

/// The sums of a lane. Its name is not used.
fn lane_total(nodes: &[CallNode]) -> CallNode {
    let mut total = CallNode::new(NameId(0), None, 0);
    total.count = nodes.iter().map(|node| node.count).sum();
    for root in nodes.iter().filter(|node| node.parent.is_none()) {
        total.total_ns += root.total_ns;
        total.device_total_ns += root.device_total_ns;
    }
    total
}

/// Returns the merged trees of all lanes as rows; siblings are ordered by time, the longest first.
pub(crate) fn tree_rows(trace: &Trace, cut: Cut) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let names = LaneNames::new(trace);
    let (launched, grafts) = (launched_ns(trace), Grafts::new(trace, |_, _| true));
    for lane in trace.tree.lanes() {
        let mut nodes = merged_with(trace, lane, &launched, &grafts);
        if nodes.is_empty() {
            continue;
        }
        let total = lane_total(&nodes);
        if cut.bottom_up {
            nodes = bottom_up(&nodes, cut.depth);
        }
        let title = names.get(lane);
        rows.push(row(&title, &total, None, None));
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len() + 1];
        for (at, node) in nodes.iter().enumerate() {
            children[node.parent.map_or(nodes.len(), |p| p)].push(at);
        }
        let mut open: Vec<usize> = Vec::new();
        let push = |open: &mut Vec<usize>, list: &mut Vec<usize>| {
            let key = |at: usize| (nodes[at].total_ns, nodes[at].device_total_ns);
            sort_by_key(list, |&at| (descending(at as i64), 0));
            sort_by_key(list, |&at| key(at));
            open.append(list);
        };
        push(&mut open, &mut core::mem::take(&mut children[nodes.len()]));
        while let Some(at) = open.pop() {
            let node = &nodes[at];
            let part = |ns: i64, of: i64| if of == 0 { 0.0 } else { ns as f64 / of as f64 };
            let share = part(node.total_ns, total.total_ns);
            let device_share = part(node.device_total_ns, total.device_total_ns);
            let is_shown = share >= cut.min_share || device_share >= cut.min_share;
            if node.depth >= cut.depth || !is_shown {
                continue;
            }
            rows.push(row(&title, node, Some(grafts.name(node.name)), Some(share)));
            push(&mut open, &mut core::mem::take(&mut children[at]));
        }
    }
    rows
}

/// The most names of a line of [`Folded`]: the paths of n nested spans can have n² names.
pub(super) const MOST_NAMES: usize = 1024;

/// Appends a folded stack without its value: `outermost;…;innermost`, which can be the first of its line. Of a deeper stack than [`MOST_NAMES`], `[cut]` replaces the
/// outermost names.
pub(super) fn push_stack<'n>(
    out: &mut String,
    is_first: bool,
    innermost_first: impl Iterator<Item = &'n str>,
) {
    let mut names: Vec<&str> = innermost_first.take(MOST_NAMES + 1).collect();
    if names.len() > MOST_NAMES {
        names[MOST_NAMES] = "[cut]";
    }
    for (at, name) in names.iter().rev().enumerate() {
        out.extend((at > 0).then_some(';'));
        out.push_str(&if at == 0 && is_first { first_frame(name) } else { frame(name) });
    }
}

/// Writes every lane as folded stacks, piece by piece: `lane;root;…;leaf` and its self time in whole microseconds.
#[derive(Debug)]
pub(crate) struct Folded {
    /// The names of all lanes.
    heads: Vec<String>,
    /// The number of the lanes before this one.
    lane: usize,
    nodes: Vec<CallNode>,
    /// The number of the nodes of the lane that were written.
    written: usize,
}

impl Folded {
    pub(crate) fn new(trace: &Trace) -> Folded {
        let names = LaneNames::new(trace);
        let heads = trace.tree.lanes().iter().map(|lane| first_frame(&names.get(lane))).collect();
        Folded { heads, lane: 0, nodes: Vec::new(), written: 0 }
    }

    /// Appends lines until the text has `most` bytes. Returns whether there are more.
    pub(crate) fn next(&mut self, trace: &Trace, out: &mut String, most: usize) -> bool {
        let lanes = trace.tree.lanes();
        while out.len() < most {
            let Some(lane) = lanes.get(self.lane) else { return false };
            if self.written == 0 {
                self.nodes = merged(trace, lane, &[]);
            }
            let Some(node) = self.nodes.get(self.written) else {
                (self.lane, self.written) = (self.lane + 1, 0);
                continue;
            };
            self.written += 1;
            if node.self_ns >= 1000 {
                out.push_str(&self.heads[self.lane]);
                out.push(';');
                let callers =
                    core::iter::successors(Some(node), |node| node.parent.map(|at| &self.nodes[at]));
                push_stack(out, false, callers.map(|node| trace.table.names.get(node.name)));
                let _ = writeln!(out, " {}", node.self_ns / 1000);
            }
        }
        true
    }
}
