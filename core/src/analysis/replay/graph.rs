//! The graph of a trace: nodes with their durations, and the points in time that they depend on.

use crate::analysis::device::classes::Class;
use crate::analysis::device::idle::Cause;
use crate::analysis::intervals::Interval;
use crate::base::handle::{Run, handle, run};
use crate::trace::table::events::Row;
use crate::trace::table::tracks::TrackId;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

handle! {
    /// The index of a node.
    pub struct NodeId;
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Code of the host between calls of the runtime.
    Host,
    /// The thread does nothing, because it waits for another thread.
    Idle,
    /// A call of the runtime or the driver, with what it is for.
    Call(Cause),
    /// A wait for data that other processes prepare.
    Data,
    /// Work of a device.
    Device(Class),
}

impl Dependency {
    /// All reasons, in the order of their numbers.
    pub(super) const ALL: [Dependency; 10] = [
        Dependency::Program,
        Dependency::Launch,
        Dependency::Stream,
        Dependency::OtherStream,
        Dependency::Synchronization,
        Dependency::QueueFull,
        Dependency::Thread,
        Dependency::Backward,
        Dependency::Data,
        Dependency::Unrecorded,
    ];
}

impl NodeKind {
    /// Returns the class of the work of a device.
    pub fn class(self) -> Option<Class> {
        if let NodeKind::Device(class) = self { Some(class) } else { None }
    }
}

/// A period of a thread, or an activity of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// The call or the activity.
    pub row: Option<Row>,
    /// What it is.
    pub kind: NodeKind,
    /// The recorded start and end, in ns relative to the table's base.
    pub time: Interval,
}

/// Why a point in time depends on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// The node before it on the same thread ended.
    Program,
    /// The work was launched.
    Launch,
    /// The activity before it on the same stream ended.
    Stream,
    /// An activity of another stream ended.
    OtherStream,
    /// The host waits for an activity.
    Synchronization,
    /// The launch queue of the stream is full.
    QueueFull,
    /// Another thread reached a point.
    Thread,
    /// The same of a thread that runs backward passes: it works for the thread that started the pass.
    Backward,
    /// The data loader prepares one batch after the other.
    Data,
    /// What it waited for was not recorded: the time since the point before it stays as it was.
    Unrecorded,
}

/// A point in time: the start or the end of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point(u32);

impl Point {
    /// The start of a node.
    pub fn start(node: NodeId) -> Point {
        Point(node.index() as u32 * 2)
    }

    /// The end of a node.
    pub fn end(node: NodeId) -> Point {
        Point(node.index() as u32 * 2 + 1)
    }

    /// The node.
    pub fn node(self) -> NodeId {
        NodeId::new(self.0 as usize / 2)
    }

    /// Whether it is the end.
    pub fn is_end(self) -> bool {
        self.0 % 2 == 1
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A dependency: a point is at least `delay_ns` after another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The point that it depends on.
    pub from: Point,
    /// The time between the two, in ns.
    pub delay_ns: i64,
    /// The reason.
    pub why: Dependency,
}

/// No time.
const NONE: i64 = i64::MIN;

/// Edges, each with the point that it leads to.
pub(super) type Edges = Vec<(Point, Edge)>;

/// The nodes of a trace with what they depend on.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The nodes, thread by thread and then stream by stream, each in order of time.
    pub(super) nodes: Vec<GraphNode>,
    /// What each replay reads of every node, apart from the rest for speed.
    pub(super) kinds: Vec<NodeKind>,
    /// The duration of each node without waiting, in ns.
    pub(super) own_ns: Vec<i64>,
    /// How long after the end of the node before it on the same thread or stream each node starts at least, in ns; [`NONE`] if it
    /// does not depend on one.
    after_ns: Vec<i64>,
    /// The nodes of each thread and stream.
    pub(super) places: Vec<Range<usize>>,
    /// The threads of the first places.
    threads: Vec<TrackId>,
    /// The time between two activities of a stream, in ns.
    gap_ns: i64,
    /// The edges except those from the node before, in the order of the points that they lead to.
    edges: Vec<Edge>,
    /// The end of the edges of each point.
    ends: Vec<u32>,
    /// Every point after those that it depends on, as runs of consecutive points of one place.
    order: Vec<Range<u32>>,
}

impl Graph {
    /// Creates a graph from edges in any order, and the durations of nodes that waited.
    pub(super) fn new(
        (nodes, follows): (Vec<GraphNode>, Vec<bool>),
        places: Vec<Range<usize>>,
        threads: Vec<TrackId>,
        gap_ns: i64,
        (edges, durations): (&Edges, &[(NodeId, i64)]),
    ) -> Graph {
        let mut own_ns: Vec<i64> = nodes.iter().map(|node| node.time.1 - node.time.0).collect();
        for &(node, ns) in durations {
            own_ns[node.index()] = ns;
        }
        let mut ends = vec![0; nodes.len() * 2];
        for (to, _) in edges {
            ends[to.index()] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += core::mem::replace(end, sum);
        }
        // While an edge is stored, the entry of its point moves from the start to the end of its edges.
        let mut sorted: Vec<Edge> = edges.iter().map(|edge| edge.1).collect();
        for &(to, edge) in edges {
            let at = &mut ends[to.index()];
            sorted[*at as usize] = edge;
            *at += 1;
        }
        let mut graph = Graph {
            kinds: nodes.iter().map(|node| node.kind).collect(),
            own_ns,
            after_ns: Vec::new(),
            nodes,
            places,
            threads,
            gap_ns,
            edges: sorted,
            ends,
            order: Vec::new(),
        };
        graph.after_ns =
            follows.into_iter().enumerate().map(|(node, follows)| graph.after_ns(node, follows)).collect();
        graph.sort();
        graph
    }

    /// Returns a node.
    pub fn node(&self, id: NodeId) -> &GraphNode {
        &self.nodes[id.index()]
    }

    /// Returns the duration of a node without waiting, in ns.
    pub fn own_ns(&self, id: NodeId) -> i64 {
        self.own_ns[id.index()]
    }

    /// Returns every node.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + use<> {
        run(0..self.nodes.len())
    }

    /// Returns the threads with their nodes.
    pub(super) fn threads(&self) -> impl Iterator<Item = (TrackId, Run<NodeId>)> {
        self.threads.iter().zip(&self.places).map(|(&thread, nodes)| (thread, run(nodes.clone())))
    }

    /// Returns the thread of a node of the host.
    pub(super) fn thread_of(&self, id: NodeId) -> Option<TrackId> {
        let place = self.places.partition_point(|nodes| nodes.end <= id.index());
        self.threads.get(place).copied()
    }

    pub(super) fn recorded(&self, point: Point) -> i64 {
        let time = self.nodes[point.node().index()].time;
        if point.is_end() { time.1 } else { time.0 }
    }

    /// Returns what a point depends on, except that a node ends no earlier than its own duration after its start.
    pub fn edges(&self, to: Point) -> impl Iterator<Item = Edge> {
        self.before(to).into_iter().chain(self.stored(to).iter().copied())
    }

    /// How long after the end of the node before it a node starts at least.
    fn after_ns(&self, node: usize, follows: bool) -> i64 {
        match self.kinds[node] {
            _ if !follows => NONE,
            NodeKind::Device(_) => self.gap_ns.min(self.nodes[node].time.0 - self.nodes[node - 1].time.1),
            _ => 0,
        }
    }

    /// The dependency on the node before.
    fn before(&self, to: Point) -> Option<Edge> {
        let node = to.index() / 2;
        let delay_ns = self.after_ns[node];
        if to.is_end() || delay_ns == NONE {
            return None;
        }
        let is_device = matches!(self.kinds[node], NodeKind::Device(_));
        let why = if is_device { Dependency::Stream } else { Dependency::Program };
        Some(Edge { from: Point(to.0 - 1), delay_ns, why })
    }

    /// All other dependencies.
    fn stored(&self, to: Point) -> &[Edge] {
        &self.edges[self.first_edge(to.0)..self.ends[to.index()] as usize]
    }

    /// The index of the first edge of a point.
    fn first_edge(&self, point: u32) -> usize {
        point.checked_sub(1).map_or(0, |before| self.ends[before as usize] as usize)
    }

    /// Orders the points. Each place advances until it reaches a point that depends on one of a place that has not come
    /// so far. Dependencies in a circle can result from wrong times: then the earliest place advances regardless.
    fn sort(&mut self) {
        let mut next: Vec<u32> = self.places.iter().map(|place| place.start as u32 * 2).collect();
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); self.places.len()];
        let place_of = self.place_of();
        let mut ready: Vec<usize> = (0..self.places.len()).rev().collect();
        loop {
            while let Some(place) = ready.pop() {
                let (from, end) = (next[place], self.places[place].end as u32 * 2);
                while next[place] < end {
                    let others = self.stored(Point(next[place])).iter().map(|edge| edge.from);
                    let mut blocking =
                        others.filter(|from| from.0 >= next[place_of[from.index() / 2] as usize]);
                    if let Some(from) = blocking.next() {
                        waiting[place_of[from.index() / 2] as usize].push(place);
                        break;
                    }
                    next[place] += 1;
                }
                if next[place] > from {
                    self.order.push(from..next[place]);
                    ready.append(&mut waiting[place]);
                }
            }
            if !self.force(&mut next, &place_of) {
                return;
            }
            ready.extend((0..next.len()).rev());
        }
    }

    /// Advances the place whose next point is the earliest by one point. Returns `false` if all are at their end.
    fn force(&mut self, next: &mut [u32], place_of: &[u32]) -> bool {
        let behind = (0..next.len()).filter(|&place| next[place] < self.places[place].end as u32 * 2);
        let Some(place) = behind.min_by_key(|&place| self.recorded(Point(next[place]))) else {
            return false;
        };
        let at = next[place];
        let first = self.first_edge(at);
        for edge in &mut self.edges[first..self.ends[at as usize] as usize] {
            if edge.from.0 >= next[place_of[edge.from.index() / 2] as usize] {
                // A point that depends on itself depends on nothing.
                edge.from = Point(at);
            }
        }
        self.order.push(at..at + 1);
        next[place] += 1;
        true
    }

    fn place_of(&self) -> Vec<u32> {
        let mut places = vec![0; self.nodes.len()];
        for (place, nodes) in (0..).zip(&self.places) {
            places[nodes.clone()].fill(place);
        }
        places
    }

    /// Computes the time of every point. `durations` has those of the nodes without waiting, `late` how much later each point
    /// was than everything that it depended on (empty for 0), and `delay` returns the delay of a dependency, if it is there. A
    /// start that depends on nothing is where it was recorded.
    pub(super) fn times(
        &self,
        times: &mut Vec<i64>,
        durations: &[i64],
        late: &[i64],
        delay: impl Fn(Point, &Edge) -> Option<i64>,
    ) {
        times.resize(self.nodes.len() * 2, 0);
        for run in &self.order {
            let mut first = self.first_edge(run.start);
            for point in run.clone().map(Point) {
                let end = self.ends[point.index()] as usize;
                // The latest of what the point depends on.
                let mut after = NONE;
                let mut depend = |edge: &Edge, times: &[i64]| {
                    if let Some(ns) = delay(point, edge) {
                        after = after.max(times[edge.from.index()].saturating_add(ns));
                    }
                };
                for edge in self.edges[first..end].iter().filter(|edge| edge.from != point) {
                    depend(edge, times);
                }
                if let Some(edge) = self.before(point) {
                    depend(&edge, times);
                }
                first = end;
                let late = late.get(point.index()).copied().unwrap_or(0);
                times[point.index()] = if point.is_end() {
                    let ended = times[point.index() - 1].saturating_add(durations[point.index() / 2]);
                    after.max(ended).saturating_add(late)
                } else if after == NONE {
                    self.recorded(point)
                } else {
                    after.saturating_add(late)
                };
            }
        }
    }
}
