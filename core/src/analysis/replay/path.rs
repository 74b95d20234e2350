//! The critical path: what the end of a trace, a step or a window depended on, back to its start.
//!
//! The walk goes backwards through the recorded times. At each point it follows what the point waited for longest: the
//! code before it, the launch, the activity before it on the stream, the activity that a call waits for. So the path is a
//! sequence of periods without gaps, and their lengths add up to the window.

use super::graph::{Dependency, Edge, Graph, NodeId, NodeKind, Point};
use super::waits::TOLERANCE_NS;
use crate::analysis::context::Analysis;
use crate::analysis::device::classes::Class;
use crate::analysis::device::idle::{Cause, Host};
use crate::analysis::device::names::is_host_collective;
use crate::analysis::intervals::Interval;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::tracks::TrackId;
use alloc::vec::Vec;

words! {
    "PathPart"
    /// What bounds a part of the critical path.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum PathPart {
        /// Kernels that compute.
        Compute = "compute",
        /// Kernels that communicate, and collectives of the host.
        Communication = "communication",
        /// Copies.
        Memcpy = "memcpy",
        /// Memsets.
        Memset = "memset",
        /// From a launch call to the start of its work on an empty stream.
        LaunchDelay = "launch_delay",
        /// Between two activities of a stream.
        KernelGap = "kernel_gap",
        /// From the end of an activity to the start of one on another stream that waits for it.
        StreamWait = "stream_wait",
        /// From the end of an activity to the end of a call that waits for it.
        SynchronizationDelay = "synchronization_delay",
        /// A call waits because the launch queue is full.
        QueueFull = "queue_full",
        /// From a point of one thread to the continuation of another.
        ThreadDelay = "thread_delay",
        /// The host waits for data.
        DataLoading = "data_loading",
        /// The host copies to a device.
        HostToDeviceCopy = "host_to_device_copy",
        /// A call that waits for devices, apart from the waiting.
        Synchronization = "synchronization",
        /// The host allocates or frees memory.
        Allocation = "allocation",
        /// The host compiles code or loads kernels.
        Compilation = "compilation",
        /// The host uses something for the first time: it creates a context, or loads the code of a kernel in a launch call.
        ColdStart = "cold_start",
        /// The host captures a CUDA graph.
        GraphCapture = "graph_capture",
        /// Python collects garbage.
        GarbageCollection = "garbage_collection",
        /// The host waits for a lock.
        Lock = "lock",
        /// The host is in a call that launches work, or in another call of the runtime or the driver.
        Launch = "launch",
        /// The host is in an operator.
        Operator = "operator",
        /// The host is in an optimizer.
        Optimizer = "optimizer",
        /// The host is in autograd, outside of operators.
        Autograd = "autograd",
        /// The host is in other code.
        UserCode = "user_code",
        /// The profiler itself works.
        ProfilerOverhead = "profiler_overhead",
        /// The host waits for work from before the recording.
        NotRecorded = "not_recorded",
        /// The trace shows nothing, or nothing that came before.
        Unknown = "unknown",
    }
}

impl PathPart {
    fn from_class(class: Class) -> PathPart {
        match class {
            Class::Compute => PathPart::Compute,
            Class::Communication => PathPart::Communication,
            Class::Memcpy => PathPart::Memcpy,
            Class::Memset => PathPart::Memset,
        }
    }

    fn from_cause(cause: Cause) -> PathPart {
        match cause {
            Cause::DataLoading => PathPart::DataLoading,
            Cause::HostToDeviceCopy => PathPart::HostToDeviceCopy,
            Cause::Synchronization => PathPart::Synchronization,
            Cause::Allocation => PathPart::Allocation,
            Cause::Compilation => PathPart::Compilation,
            Cause::ColdStart => PathPart::ColdStart,
            Cause::GraphCapture => PathPart::GraphCapture,
            Cause::GarbageCollection => PathPart::GarbageCollection,
            Cause::Lock => PathPart::Lock,
            Cause::Launch => PathPart::Launch,
            Cause::Operator => PathPart::Operator,
            Cause::Optimizer => PathPart::Optimizer,
            Cause::Autograd => PathPart::Autograd,
            Cause::UserCode => PathPart::UserCode,
            Cause::ProfilerOverhead => PathPart::ProfilerOverhead,
            Cause::NotRecorded => PathPart::NotRecorded,
            // The first two are causes of devices: their time on the path is `LaunchDelay`, `KernelGap` or `StreamWait`.
            Cause::Queued | Cause::OtherStream | Cause::Unknown => PathPart::Unknown,
        }
    }

    pub(super) fn from_delay(why: Dependency) -> PathPart {
        match why {
            Dependency::Program => PathPart::Unknown,
            Dependency::Launch => PathPart::LaunchDelay,
            Dependency::Stream => PathPart::KernelGap,
            Dependency::OtherStream => PathPart::StreamWait,
            Dependency::Synchronization => PathPart::SynchronizationDelay,
            Dependency::QueueFull => PathPart::QueueFull,
            Dependency::Thread | Dependency::Backward => PathPart::ThreadDelay,
            Dependency::Data => PathPart::DataLoading,
            Dependency::Unrecorded => PathPart::NotRecorded,
        }
    }
}

/// A period of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Start and end, in ns relative to the table's base.
    pub time: Interval,
    /// What bounds it.
    pub part: PathPart,
    /// The span or activity.
    pub row: Option<Row>,
    /// The thread or stream; `None` between two of them.
    pub track: Option<TrackId>,
}

/// Returns the critical path of a window, in ns relative to the table's base, or of the complete trace, in order of time. It ends
/// with the last point in the window: of the complete trace, or else of the main thread.
pub fn critical_path(trace: &Trace, window: Option<Interval>) -> Vec<Segment> {
    let analysis = &Analysis::new(trace);
    let host = Host::new(analysis);
    let graph = &Graph::from_trace(analysis, &host);
    let all = graph.ids().flat_map(|id| [graph.node(id).time.0, graph.node(id).time.1]);
    let window = window.or_else(|| all.clone().min().zip(all.max()));
    let Some(window) = window.filter(|window| window.0 < window.1) else { return Vec::new() };
    let mut walk = Walk { trace, graph, window, main: host.main(), reached: window.1, pieces: Vec::new() };
    walk.run();
    segments(trace, &host, walk.pieces.into_iter().rev())
}

/// A piece of the path before the code in it is divided.
enum Piece {
    Segment(Segment),
    /// A period of the code of a thread.
    Code(TrackId, Interval),
}

/// Returns the segments of pieces in order of time. The code of threads is divided by what they did.
fn segments(trace: &Trace, host: &Host<'_>, pieces: impl Iterator<Item = Piece>) -> Vec<Segment> {
    let mut all: Vec<Segment> = Vec::new();
    let mut add = |segment: Segment| match all.last_mut() {
        Some(last) if (last.part, last.row, last.track) == (segment.part, segment.row, segment.track) => {
            last.time.1 = segment.time.1;
        }
        _ => all.push(segment),
    };
    let is_collective = |row: Row| is_host_collective(trace.table.name(row));
    let mut doing = host.walk_alone();
    for piece in pieces {
        match piece {
            Piece::Segment(segment) => add(segment),
            Piece::Code(track, period) => doing.parts(track, period, &mut |time, reason| {
                let part = match reason.behind {
                    Some(row) if is_collective(row) => PathPart::Communication,
                    _ => PathPart::from_cause(reason.cause),
                };
                add(Segment { time, part, row: reason.behind, track: Some(track) });
            }),
        }
    }
    all
}

struct Walk<'a> {
    trace: &'a Trace,
    graph: &'a Graph,
    window: Interval,
    /// The main thread.
    main: Option<TrackId>,
    /// The path is known from here to the end of the window.
    reached: i64,
    /// The last piece first.
    pieces: Vec<Piece>,
}

impl Walk<'_> {
    fn run(&mut self) {
        let mut next = self.last();
        while let Some(point) = next.filter(|_| self.reached > self.window.0) {
            next = if point.is_end() { Some(self.end(point.node())) } else { self.start(point) };
        }
        self.until(self.window.0, PathPart::Unknown, None, None);
    }

    /// The point from which the walk goes back: the last one before the end of the window, or the end of the node of the
    /// host that is open there.
    fn last(&self) -> Option<Point> {
        let is_open = |id: &NodeId| {
            let time = self.graph.node(*id).time;
            time.0 < self.window.1 && self.window.1 < time.1
        };
        let threads = self.graph.threads().filter(|thread| Some(thread.0) == self.main);
        let open = threads.flat_map(|(_, nodes)| nodes).find(is_open);
        let ended = self.graph.ids().filter(|&id| self.graph.node(id).time.1 <= self.window.1);
        open.or_else(|| ended.max_by_key(|&id| self.graph.node(id).time.1)).map(Point::end)
    }

    /// Goes from the end of a node to what it waited for, or to its start.
    fn end(&mut self, id: NodeId) -> Point {
        let node = self.graph.node(id);
        let start = Point::start(id);
        let awaited = self.latest(Point::end(id));
        let awaited = awaited.filter(|edge| self.graph.recorded(edge.from) > node.time.0);
        if let Some(edge) = awaited {
            self.delay(id, &edge);
            return edge.from;
        }
        match node.kind {
            NodeKind::Device(class) => {
                let track = node.row.map(|row| self.trace.table.track_id(row));
                self.until(node.time.0, PathPart::from_class(class), node.row, track);
            }
            NodeKind::Data => self.until(node.time.0, PathPart::DataLoading, node.row, self.track(id)),
            NodeKind::Call(cause) => {
                self.until(node.time.0, PathPart::from_cause(cause), node.row, self.track(id));
            }
            NodeKind::Host | NodeKind::Idle => self.code(id),
        }
        start
    }

    /// Goes from the start of a node to what it depended on.
    fn start(&mut self, point: Point) -> Option<Point> {
        let edge = self.latest(point)?;
        let id = point.node();
        if edge.why == Dependency::Launch {
            // The call is on the path until the work begins, and then the code before the call.
            let (call, from) = (self.graph.node(edge.from.node()), edge.from.node());
            self.until(call.time.1, PathPart::LaunchDelay, self.graph.node(id).row, None);
            let part = if let NodeKind::Call(cause) = call.kind {
                PathPart::from_cause(cause)
            } else {
                PathPart::Launch
            };
            self.until(call.time.0, part, call.row, self.track(from));
        } else {
            self.delay(id, &edge);
        }
        Some(edge.from)
    }

    /// The dependency that explains a point: of those that are recorded before it, the one that allows it last.
    fn latest(&self, to: Point) -> Option<Edge> {
        let recorded = |edge: &Edge| self.graph.recorded(edge.from);
        // Work can begin before its launch, if the clocks differ.
        let reached = self.reached.max(self.graph.recorded(to));
        let is_before = |edge: &Edge| {
            let tolerance = if edge.why == Dependency::Synchronization { TOLERANCE_NS } else { 0 };
            // The call of a copy from pageable memory ends before the copy.
            edge.from != to && recorded(edge).saturating_add(edge.delay_ns.min(0)) <= reached + tolerance
        };
        let before = self.graph.edges(to).filter(is_before);
        before.max_by_key(|edge| recorded(edge).saturating_add(edge.delay_ns))
    }

    /// Adds the time between a point and what it depended on.
    fn delay(&mut self, id: NodeId, edge: &Edge) {
        let row = self.graph.node(id).row.or(self.graph.node(edge.from.node()).row);
        self.until(self.graph.recorded(edge.from), PathPart::from_delay(edge.why), row, None);
    }

    /// Adds the code of a thread, by what it did.
    fn code(&mut self, id: NodeId) {
        let Some(track) = self.track(id) else { return };
        let period = (self.graph.node(id).time.0.max(self.window.0), self.reached);
        if period.0 < period.1 {
            self.pieces.push(Piece::Code(track, period));
            self.reached = period.0;
        }
    }

    /// The thread of a node of the host.
    fn track(&self, id: NodeId) -> Option<TrackId> {
        self.graph.thread_of(id)
    }

    /// Extends the path back to an instant.
    fn until(&mut self, instant: i64, part: PathPart, row: Option<Row>, track: Option<TrackId>) {
        let start = instant.max(self.window.0);
        if start >= self.reached {
            return;
        }
        self.pieces.push(Piece::Segment(Segment { time: (start, self.reached), part, row, track }));
        self.reached = start;
    }
}
