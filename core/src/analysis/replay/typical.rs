//! What delays usually take in a trace: the medians of those that nothing else explains.

use super::builder::Builder;
use crate::analysis::device::classes::Class;
use crate::analysis::device::idle::WAIT_NS;
use alloc::vec::Vec;

/// Work was launched early if the stream stayed busy for this time, in ns.
const EARLY_NS: i64 = 20_000;

/// The delays of one kind, in ns.
#[derive(Clone, Debug, Default)]
pub(super) struct Delays(Vec<i64>);

impl Delays {
    pub(super) fn push(&mut self, ns: i64) {
        self.0.push(ns);
    }

    /// Returns the median, or a default without any delay.
    pub(super) fn median(mut self, default: i64) -> i64 {
        let middle = self.0.len() / 2;
        if self.0.is_empty() { default } else { *self.0.select_nth_unstable(middle).1 }
    }
}

/// What usually passes on the streams, in ns.
pub(super) struct Typical {
    /// From the start of a launch call to the start of its work on an empty stream, by class of work.
    pub(super) launch: [i64; Class::ALL.len()],
    /// Between activities of a stream, if the second one was launched early.
    pub(super) gap: i64,
}

impl Typical {
    pub(super) fn new(builder: &Builder<'_>) -> Typical {
        let mut launch: [Delays; Class::ALL.len()] = Default::default();
        let mut gaps = Delays::default();
        for stream in &builder.streams.all {
            for work in stream.nodes.clone() {
                let Some(call) = builder.launch(work) else { continue };
                let (call, start) = (builder.node(call).time.0, builder.nodes[work].time.0);
                let before = builder.before(stream, work).map(|before| builder.nodes[before].time.1);
                // The stream can still do work from before the recording when the first launch is recorded.
                let is_early = before.is_none() && start >= call.saturating_add(WAIT_NS);
                let follows = builder.streams.follows[work - builder.first];
                if before.is_none_or(|before| before <= call) && start >= call && !is_early {
                    launch[builder.class(work)].push(start - call);
                } else if let Some(before) = before.filter(|before| follows && call + EARLY_NS < *before) {
                    gaps.push(start - before);
                }
            }
        }
        let [compute, communication, memcpy, memset] = launch;
        let compute = compute.median(5_000);
        let others = [communication, memcpy, memset].map(|delays| delays.median(compute));
        Typical { launch: [compute, others[0], others[1], others[2]], gap: gaps.median(1_000) }
    }
}
