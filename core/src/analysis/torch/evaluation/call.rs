//! What is evaluated, and what comes out.

use crate::analysis::intervals::Interval;
use crate::analysis::torch::event_tree::Node;
use alloc::vec::Vec;

/// An event of the device's queue: a launch call or a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Start and end, in ns.
    pub time: Interval,
    /// What a launch and its kernel have in common.
    pub id: i64,
}

/// A call of the event tree, or of any tree that is numbered in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Start and end, in ns.
    pub time: Interval,
    /// Its caller.
    pub parent: Option<Node>,
}

/// What is known of a call. Times in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// Its duration.
    pub duration_ns: i64,
    /// Its duration less that of the calls inside; below 0 where these stick out of it.
    pub self_ns: i64,
    /// How long the device was idle meanwhile.
    pub idle_ns: i64,
    /// How many launched kernels had not begun when it began.
    pub queue_depth: usize,
}

impl Metrics {
    /// The share of its duration during which the device was idle.
    pub fn fraction_idle(&self) -> f64 {
        if self.duration_ns == 0 { 0.0 } else { self.idle_ns as f64 / self.duration_ns as f64 }
    }
}

/// What came out.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Evaluation {
    /// Of each call, in the order given.
    pub metrics: Vec<Metrics>,
    /// The queue's depth at each launch and kernel, by start.
    pub queue: Vec<(Interval, usize)>,
    /// The calls worth a look, the most promising first.
    pub ranked: Vec<Node>,
}
