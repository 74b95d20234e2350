//! The input and output of the evaluation.

use crate::analysis::intervals::Interval;
use crate::analysis::torch::event_tree::EventNode;
use alloc::vec::Vec;

/// A launch call or a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Start and end, in ns.
    pub time: Interval,
    /// The id that a launch and its kernel share.
    pub id: i64,
}

/// A call: a node of the event tree, or of any tree with the same numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Start and end, in ns.
    pub time: Interval,
    /// The caller.
    pub parent: Option<EventNode>,
}

/// The metrics of a call. Times are in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// The duration.
    pub duration_ns: i64,
    /// The duration minus that of the callees; negative if these extend beyond it.
    pub self_ns: i64,
    /// The idle time of the device during the call.
    pub idle_ns: i64,
    /// The number of launched kernels that had not started when the call began.
    pub queue_depth: usize,
}

impl Metrics {
    /// Returns the fraction of the duration during which the device was idle.
    pub fn fraction_idle(&self) -> f64 {
        if self.duration_ns == 0 { 0.0 } else { self.idle_ns as f64 / self.duration_ns as f64 }
    }
}

/// The result of an evaluation.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Evaluation {
    /// The metrics of each call, in the given order.
    pub metrics: Vec<Metrics>,
    /// The queue depth at each launch and kernel, ordered by start.
    pub queue: Vec<(Interval, usize)>,
    /// The calls to optimize, the most promising first.
    pub ranked: Vec<EventNode>,
}
