//! The spans of every lane, merged by name from the roots down: how often a path ran and how long.

use crate::index::Index;
use crate::names::NameId;
use crate::order::{descending, sort_by_key};
use crate::rows::{Cell, Column, Rows};
use crate::table::layout::Key;
use crate::table::tracks::{self, Track};
use crate::trace::Trace;
use crate::tree::{Lane, NO_PARENT};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;

/// All spans of one lane that have the same names from the root down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The name.
    pub name: NameId,
    /// The node above; `None` for a root.
    pub parent: Option<usize>,
    /// How many nodes are above.
    pub depth: usize,
    /// How many spans.
    pub count: usize,
    /// Sum of durations, in ns.
    pub total_ns: i64,
    /// Sum of self times, in ns.
    pub self_ns: i64,
}

/// The merged tree of a lane: parents before children, in the order of first appearance.
pub fn merged(trace: &Trace, lane: &Lane) -> Vec<Node> {
    let (table, tree) = (&trace.table, &trace.tree);
    let mut nodes: Vec<Node> = Vec::new();
    let mut index = Index::default();
    let mut node_of: Vec<usize> = Vec::with_capacity((lane.end - lane.start) as usize);
    let self_ns = tree.self_times(table, lane);
    for at in lane.start..lane.end {
        let row = tree.rows[at as usize];
        let parent = tree.parents[at as usize];
        let above = (parent != NO_PARENT).then(|| node_of[(parent - lane.start) as usize]);
        let name = table.name_id(row);
        let key = (above.map_or(-1, |above| above as i64), i64::from(name.0));
        let node = index.of(key, nodes.len() as u32) as usize;
        if node == nodes.len() {
            let depth = above.map_or(0, |above| nodes[above].depth + 1);
            nodes.push(Node { name, parent: above, depth, count: 0, total_ns: 0, self_ns: 0 });
        }
        node_of.push(node);
        nodes[node].count += 1;
        nodes[node].total_ns += table.dur(row).max(0);
        nodes[node].self_ns += self_ns[(at - lane.start) as usize];
    }
    nodes
}

/// Stands for a thread: the name of the process itself.
const PROCESS: i64 = -1;

/// Stands for a thread: the label of the process.
const LABEL: i64 = -2;

/// What lanes are called: their process and thread, by the names that the trace's metadata gives them.
pub struct LaneNames<'a> {
    trace: &'a Trace,
    texts: Vec<&'a str>,
    /// Which of the texts names a process, labels it, or names a thread of it.
    index: Index,
}

impl<'a> LaneNames<'a> {
    /// The names in a trace.
    pub fn new(trace: &'a Trace) -> Self {
        let table = &trace.table;
        let mut names = LaneNames { trace, texts: Vec::new(), index: Index::default() };
        for row in table.rows().filter(|&row| table.ph(row) == b'M') {
            let track = table.track(row);
            let text =
                |key| table.field(row, key).and_then(|v| v.as_str()).map(str::trim).filter(|t| !t.is_empty());
            match (table.name(row), text(Key::Name), text(Key::Labels)) {
                ("process_name", Some(name), _) => names.set(track.pid, PROCESS, name),
                ("process_labels", _, Some(label)) => names.set(track.pid, LABEL, label),
                ("thread_name", Some(name), _) => names.set(track.pid, i64::from(track.tid.0), name),
                _ => {}
            }
        }
        names
    }

    fn set(&mut self, process: NameId, of: i64, text: &'a str) {
        self.index.set((i64::from(process.0), of), self.texts.len() as u32);
        self.texts.push(text);
    }

    fn given(&self, process: NameId, of: i64) -> Option<&'a str> {
        self.index.get((i64::from(process.0), of)).map(|at| self.texts[at as usize])
    }

    fn plain(&self, id: NameId) -> &str {
        tracks::plain(&self.trace.table.names, id)
    }

    /// The name of a track's process or device.
    pub fn process(&self, track: Track) -> String {
        match (self.given(track.pid, LABEL), self.given(track.pid, PROCESS)) {
            (Some(label), _) if track.on_device => label.into(),
            (_, Some(name)) if !track.on_device => format!("{name} {}", self.plain(track.pid)),
            _ => bare(if track.on_device { "device" } else { "process" }, self.plain(track.pid)),
        }
    }

    /// The name of a track's thread or stream.
    pub fn thread(&self, track: Track) -> String {
        self.given(track.pid, i64::from(track.tid.0)).map_or_else(
            || bare(if track.on_device { "stream" } else { "thread" }, self.plain(track.tid)),
            Into::into,
        )
    }

    /// The name of a lane.
    pub fn get(&self, lane: &Lane) -> String {
        let track = self.trace.table.tracks.get(lane.track);
        let (process, thread) = (self.process(track), self.thread(track));
        let extra = if lane.extra > 0 { format!(" (overlap {})", lane.extra) } else { String::new() };
        format!("{process} · {thread}{extra}")
    }
}

/// A bare number with what it numbers.
fn bare(what: &str, text: &str) -> String {
    if text.parse::<i64>().is_ok() { format!("{what} {text}") } else { text.into() }
}

/// How a tree is cut for showing.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// How many levels.
    pub depth: usize,
    /// Leave out nodes with less than this share of their lane.
    pub min_share: f64,
}

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::text("lane", "", "The thread or stream."),
    Column::int("depth", "", "How many ancestors there are; none in the row of the lane itself.").or_null(),
    Column::text("name", "", "The spans' name; none in the row of the lane itself.").or_null(),
    Column::text("path", "Name", "The name, indented by its depth."),
    Column::int("count", "Count", "How many spans were merged."),
    Column::ns("total_ns", "Total", "Sum of their durations."),
    Column::ns("self_ns", "Self", "The same without the spans inside.").or_null(),
    Column::share("share", "Share of lane", "The part of the time of the lane's outermost spans.").or_null(),
];

/// The merged trees of all lanes as rows, the longest nodes first below each parent.
pub fn tree_rows(trace: &Trace, cut: Cut) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let names = LaneNames::new(trace);
    for lane in &trace.tree.lanes {
        let nodes = merged(trace, lane);
        let whole: i64 = nodes.iter().filter(|n| n.parent.is_none()).map(|n| n.total_ns).sum();
        let title = names.get(lane);
        rows.push(vec![
            title.as_str().into(),
            Cell::Null,
            Cell::Null,
            title.as_str().into(),
            Cell::Int(i64::from(lane.end - lane.start)),
            Cell::Ns(whole),
            Cell::Null,
            Cell::Null,
        ]);
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len() + 1];
        for (at, node) in nodes.iter().enumerate() {
            children[node.parent.map_or(nodes.len(), |p| p)].push(at);
        }
        let mut open: Vec<usize> = Vec::new();
        let push = |open: &mut Vec<usize>, list: &mut Vec<usize>| {
            sort_by_key(list, |&at| (nodes[at].total_ns, descending(at as i64)));
            open.append(list);
        };
        push(&mut open, &mut core::mem::take(&mut children[nodes.len()]));
        while let Some(at) = open.pop() {
            let node = &nodes[at];
            let share = if whole == 0 { 0.0 } else { node.total_ns as f64 / whole as f64 };
            if node.depth >= cut.depth || share < cut.min_share {
                continue;
            }
            let name = trace.table.names.get(node.name);
            rows.push(vec![
                title.as_str().into(),
                node.depth.into(),
                name.into(),
                format!("{}{name}", "  ".repeat(node.depth + 1)).into(),
                node.count.into(),
                Cell::Ns(node.total_ns),
                Cell::Ns(node.self_ns),
                Cell::Share(share),
            ]);
            push(&mut open, &mut core::mem::take(&mut children[at]));
        }
    }
    rows
}

/// Every lane as folded stacks: `lane;root;…;leaf` and its self time in whole microseconds.
pub fn folded(trace: &Trace) -> String {
    let clean = |text: &str| -> String {
        text.chars().map(|c| if matches!(c, ' ' | ';' | '\t' | '\n') { '_' } else { c }).collect()
    };
    let mut out = String::new();
    let names = LaneNames::new(trace);
    for lane in &trace.tree.lanes {
        let nodes = merged(trace, lane);
        let mut paths: Vec<String> = Vec::with_capacity(nodes.len());
        for node in &nodes {
            let above = node.parent.map_or_else(|| clean(&names.get(lane)), |p| paths[p].clone());
            paths.push(format!("{above};{}", clean(trace.table.names.get(node.name))));
        }
        for (node, path) in nodes.iter().zip(&paths) {
            if node.self_ns >= 1000 {
                let _ = writeln!(out, "{path} {}", node.self_ns / 1000);
            }
        }
    }
    out
}
