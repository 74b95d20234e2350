//! What the host did in the nodes of a graph: its code by cause, and how long it worked without waiting.

use super::graph::{Graph, GraphNode, NodeId, NodeKind};
use crate::analysis::device::idle::{Cause, Host, Reason};
use crate::base::names::ByName;
use crate::trace::table::events::Table;
use alloc::vec::Vec;

/// The code of the host.
pub(super) struct Code {
    /// The time of the code by cause, by node.
    pub(super) parts: Vec<(NodeId, Cause, i64)>,
    /// How long the main thread worked, or those that run backward passes while it waited, in ns: code, launches and data loading.
    /// Calls that can wait for a device do not count, nor does time in which nothing but an annotation is open.
    /// `None` without launches.
    pub(super) worked_ns: Option<i64>,
    /// What the main thread worked on and those that run backward passes, in ns.
    pub(super) worked: Vec<(Cause, i64)>,
    /// The time of calls in which these threads can have waited for the device although the replay knows of no wait, in ns.
    pub(super) doubtful_ns: i64,
}

impl Code {
    pub(super) fn new(table: &Table, graph: &Graph, host: &Host<'_>) -> Code {
        let (mut parts, launches) = (Vec::new(), Launches::new(table, graph));
        let has_launches = !launches.0.entries().is_empty();
        // Only with launches is it stated how long the host worked.
        let waiting = has_launches.then(|| table.names.that(is_wait));
        let waits = |row| waiting.as_ref().is_some_and(|waiting| waiting.has(table.name_id(row)));
        let is_work = |reason: Reason| !reason.behind.is_some_and(waits) && works(reason);
        let (mut main, mut backward) = (Worked::default(), Worked::default());
        for (track, nodes) in graph.threads() {
            let mut other = Worked::default();
            let worked = match track {
                _ if Some(track) == host.main() => &mut main,
                _ if host.is_backward(track) => &mut backward,
                _ => &mut other,
            };
            let mut walk = host.walk_alone();
            for id in nodes {
                let node = graph.node(id);
                let ns = node.time.1 - node.time.0;
                match node.kind {
                    NodeKind::Data => worked.work(Cause::DataLoading, ns),
                    NodeKind::Call(_) => {
                        let launch_ns = launches.ns(table, node);
                        worked.work(Cause::Launch, launch_ns);
                        worked.doubt((graph.own_ns(id) - launch_ns).max(0));
                    }
                    // The time of an idle thread that waits for no other thread counts as code.
                    NodeKind::Idle if graph.own_ns(id) == 0 => worked.wait(ns),
                    _ => walk.parts(track, node.time, &mut |time, reason| {
                        let ns = time.1 - time.0;
                        if is_work(reason) {
                            worked.work(reason.cause, ns);
                        } else {
                            worked.wait(ns);
                        }
                        add(&mut parts, (id, reason.cause, ns));
                    }),
                }
            }
        }
        // Backward passes run while the main thread waits for them.
        let worked_ns = main.work_ns().saturating_add(backward.work_ns().min(main.wait_ns));
        let doubtful_ns = main.doubtful_ns.saturating_add(backward.doubtful_ns);
        let worked = main.work.into_iter().chain(backward.work).collect();
        // Without calls, an operator that waits for a device looks like one that works.
        Code { parts, worked_ns: has_launches.then_some(worked_ns), worked, doubtful_ns }
    }
}

fn add(parts: &mut Vec<(NodeId, Cause, i64)>, (id, cause, ns): (NodeId, Cause, i64)) {
    let mut of_node = parts.iter_mut().rev().take_while(|known| known.0 == id);
    match of_node.find(|known| known.1 == cause) {
        Some(known) => known.2 += ns,
        None => parts.push((id, cause, ns)),
    }
}

/// The time of a thread.
#[derive(Default)]
struct Worked {
    /// By cause.
    work: Vec<(Cause, i64)>,
    wait_ns: i64,
    /// In calls that can have waited.
    doubtful_ns: i64,
}

impl Worked {
    fn work(&mut self, cause: Cause, ns: i64) {
        match self.work.iter_mut().find(|known| known.0 == cause) {
            Some(known) => known.1 = known.1.saturating_add(ns),
            None => self.work.push((cause, ns)),
        }
    }

    fn wait(&mut self, ns: i64) {
        self.wait_ns = self.wait_ns.saturating_add(ns);
    }

    fn doubt(&mut self, ns: i64) {
        self.doubtful_ns = self.doubtful_ns.saturating_add(ns);
    }

    fn work_ns(&self) -> i64 {
        self.work.iter().fold(0, |sum, part| sum.saturating_add(part.1))
    }
}

/// Whether a name is that of an operator or a function that waits for a device, even if no call of the runtime shows it.
fn is_wait(name: &str) -> bool {
    matches!(name, "aten::item" | "aten::_local_scalar_dense" | "aten::is_nonzero")
        || ["synchronize", "query", "'item'", "method item"].iter().any(|part| name.contains(part))
}

/// Whether a thread works, and cannot be waiting for a device or another thread.
fn works(reason: Reason) -> bool {
    use Cause::{
        Allocation, HostToDeviceCopy, Lock, NotRecorded, ProfilerOverhead, Synchronization, Unknown,
    };
    !reason.can_wait
        && !matches!(
            reason.cause,
            Allocation | HostToDeviceCopy | Lock | NotRecorded | ProfilerOverhead | Synchronization | Unknown
        )
}

/// A launch that takes longer than this, in ns, can wait.
const LONGEST_LAUNCH_NS: i64 = 100_000;

/// The shortest launches by name.
struct Launches(ByName<Option<i64>>);

impl Launches {
    fn new(table: &Table, graph: &Graph) -> Launches {
        let mut shortest = ByName::<Option<i64>>::default();
        let calls = || graph.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Call(_)));
        let named = || calls().filter_map(|node| Some((node, table.name_id(node.row?))));
        let launching = table.names.among(named().map(|call| call.1), |name| name.contains("Launch"));
        for (node, name) in named().filter(|call| launching.has(call.1)) {
            let (known, ns) = (shortest.entry(name), node.time.1 - node.time.0);
            *known = Some(known.map_or(ns, |known| known.min(ns)));
        }
        Launches(shortest)
    }

    /// How long the host works in a call: in launches as long as in the shortest of the name, because the queue of the stream can be
    /// full in others; in other calls, which can wait, 0.
    fn ns(&self, table: &Table, call: &GraphNode) -> i64 {
        let shortest = call.row.and_then(|row| *self.0.get(table.name_id(row))?);
        let most = shortest.map_or(0, |ns| ns.min(LONGEST_LAUNCH_NS));
        (call.time.1 - call.time.0).min(most)
    }
}
