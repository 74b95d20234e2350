//! What is recorded now: one word, which every span reads first.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// 0 for nothing, else the number of the recording and its [flags](flag).
pub(crate) static STATE: AtomicU32 = AtomicU32::new(0);

/// Records that found no room since the program began.
pub(crate) static DROPPED: AtomicU64 = AtomicU64::new(0);

/// A recording is being made, or spans are emitted to another profiler: there is one at a time.
pub(crate) static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// What is in the low bits of [`STATE`].
pub(crate) mod flag {
    /// A recording is running.
    pub(crate) const ON: u32 = 1;
    /// The clock is the processor's counter.
    pub(crate) const COUNTER: u32 = 2;
    /// Shapes are recorded.
    pub(crate) const SHAPES: u32 = 4;
    /// Allocations are recorded.
    pub(crate) const MEMORY: u32 = 8;
    /// Stacks are recorded.
    pub(crate) const STACKS: u32 = 16;
    /// Modules are recorded.
    pub(crate) const MODULES: u32 = 32;
    /// Floating point operations are recorded.
    pub(crate) const FLOPS: u32 = 64;
    /// Spans are passed to other profilers.
    pub(crate) const MIRROR: u32 = 128;
    /// The ids of spans are passed to CUPTI.
    pub(crate) const DEVICES: u32 = 256;
    /// Above these bits: the number of the recording.
    pub(crate) const BITS: u32 = 9;
}

/// The state; 0 where spans are neither recorded nor passed on.
#[inline(always)]
pub(crate) fn state() -> u32 {
    STATE.load(Ordering::Relaxed)
}

/// Whether this state is that of a recording.
#[inline(always)]
pub(crate) fn is_on(state: u32) -> bool {
    state & flag::ON != 0
}

/// Whether a span needs more than its begin and its end.
#[inline(always)]
pub(crate) fn wants_more(state: u32) -> bool {
    state & (flag::STACKS | flag::MIRROR | flag::DEVICES) != 0
}

/// Whether stacks are recorded.
#[inline(always)]
pub(crate) fn wants_stack(state: u32) -> bool {
    state & flag::STACKS != 0
}

/// Whether spans are passed to other profilers.
#[inline(always)]
pub(crate) fn wants_mirror(state: u32) -> bool {
    state & flag::MIRROR != 0
}

/// Whether the ids of spans are passed to CUPTI.
#[cfg(feature = "cuda")]
#[inline(always)]
pub(crate) fn wants_devices(state: u32) -> bool {
    state & flag::DEVICES != 0
}

/// Whether modules are recorded.
pub(crate) fn wants_modules(state: u32) -> bool {
    state & flag::MODULES != 0
}

/// Whether shapes are recorded.
pub(crate) fn wants_shapes(state: u32) -> bool {
    state & flag::SHAPES != 0
}

/// Whether floating point operations are recorded.
pub(crate) fn wants_flops(state: u32) -> bool {
    state & flag::FLOPS != 0
}

/// Whether allocations are recorded.
#[inline(always)]
pub(crate) fn wants_memory(state: u32) -> bool {
    state & flag::MEMORY != 0
}
