//! The state of the recorder: one word, which every span reads first.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// 0 if spans are neither recorded nor mirrored, otherwise the number of the recording and its [flags](flag).
static STATE: AtomicU32 = AtomicU32::new(0);

/// The number of records dropped since the program started, because there was no free chunk.
pub(crate) static DROPPED: AtomicU64 = AtomicU64::new(0);

/// The number of the recording whose CPU activities are paused, in the form of [`left_out`]; 0 for none. [`STATE`] has no
/// recording meanwhile.
pub(crate) static PAUSED: AtomicU32 = AtomicU32::new(0);

/// The number of the recording whose spans are observed for an execution trace, in the form of [`left_out`]; 0 for none.
pub(crate) static OBSERVED: AtomicU32 = AtomicU32::new(0);

/// The next external id of a span. Ids are unique in the process.
pub(crate) static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The number of arguments that were cut or left out since the program started, because a record was too long.
pub(crate) static CUT: AtomicU64 = AtomicU64::new(0);

/// Whether a recording is being made, or spans are emitted to another profiler. Only one of them is possible at a time.
pub(crate) static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The flags in the low bits of [`STATE`].
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
    /// Spans are passed to mirrors.
    pub(crate) const MIRROR: u32 = 128;
    /// The ids of spans are passed to CUPTI.
    pub(crate) const DEVICES: u32 = 256;
    /// Only the thread that started the recording is recorded.
    pub(crate) const ONE_THREAD: u32 = 512;
    /// An execution trace observer is attached.
    pub(crate) const OBSERVER: u32 = 1024;
    /// The number of bits for flags. The number of the recording is above them.
    pub(crate) const BITS: u32 = 11;
    /// The highest bit, which no number of a recording has. In the state of a guard: the span is not recorded, and the
    /// other bits above the flags identify its name on its thread (see [`names`](crate::hot::names)).
    pub(crate) const NAMED: u32 = 1 << 31;
}

/// The start of the present recording, in ticks. Set before [`STATE`].
pub(crate) static START: AtomicU64 = AtomicU64::new(0);

/// The range of bytes that a thread counts for itself while allocations are not recorded.
pub(crate) const UNRECORDED_BYTES: i64 = 8192;

/// [`UNRECORDED_BYTES`], and 0 while allocations are recorded: an allocation reads this and not the state.
static UNRECORDED_RANGE: AtomicU64 = AtomicU64::new(UNRECORDED_BYTES as u64);

/// Returns the range of bytes that a thread counts for itself; 0 while allocations are recorded.
#[inline(always)]
pub(crate) fn unrecorded_range() -> u64 {
    UNRECORDED_RANGE.load(Ordering::Relaxed)
}

/// Sets the state.
pub(crate) fn set_state(state: u32) {
    if wants_memory(state) {
        UNRECORDED_RANGE.store(0, Ordering::SeqCst);
        STATE.store(state, Ordering::SeqCst);
    } else {
        STATE.store(state, Ordering::SeqCst);
        UNRECORDED_RANGE.store(UNRECORDED_BYTES as u64, Ordering::SeqCst);
    }
}

/// Returns the state; 0 if spans are neither recorded nor mirrored.
#[inline(always)]
pub(crate) fn state() -> u32 {
    STATE.load(Ordering::Relaxed)
}

/// Returns whether a recording is running in this state.
#[inline(always)]
pub(crate) fn is_on(state: u32) -> bool {
    state & flag::ON != 0
}

/// Returns the state of a guard whose span a recording left out: its number without flags, so that its end is not
/// mistaken for that of a span that was open when the recording started.
#[inline(always)]
pub(crate) fn left_out(state: u32) -> u32 {
    state >> flag::BITS << flag::BITS
}

/// Returns whether a span that began in a state was open when the recording of the present state started.
pub(crate) fn is_older(began: u32, now: u32) -> bool {
    is_on(now) && left_out(began) != left_out(now)
}

/// Returns whether a span that began in a state was recorded and its recording is paused now.
pub(crate) fn is_paused(began: u32) -> bool {
    is_on(began) && PAUSED.load(Ordering::Relaxed) == left_out(began)
}

/// Returns whether a span needs more than its two records: a call stack, a mirror, or an id for devices or observers.
#[inline(always)]
pub(crate) fn wants_more(state: u32) -> bool {
    state & (flag::STACKS | flag::MIRROR | flag::DEVICES | flag::OBSERVER) != 0
}

/// Returns whether stacks are recorded.
#[cfg(feature = "stacks")]
#[inline(always)]
pub(crate) fn wants_stack(state: u32) -> bool {
    state & flag::STACKS != 0
}

/// Returns whether spans are passed to mirrors.
#[inline(always)]
pub(crate) fn wants_mirror(state: u32) -> bool {
    state & flag::MIRROR != 0
}

/// Returns whether the spans are operators of an execution trace that is being observed.
#[inline(always)]
pub(crate) fn wants_function_id(state: u32) -> bool {
    state & flag::OBSERVER != 0 && OBSERVED.load(Ordering::Relaxed) == left_out(state)
}

/// Returns whether the ids of spans are passed to CUPTI.
#[cfg(feature = "cuda")]
#[inline(always)]
pub(crate) fn wants_devices(state: u32) -> bool {
    state & flag::DEVICES != 0
}

/// Returns whether modules are recorded.
pub(crate) fn wants_modules(state: u32) -> bool {
    state & flag::MODULES != 0
}

/// Returns whether shapes are recorded.
pub(crate) fn wants_shapes(state: u32) -> bool {
    state & flag::SHAPES != 0
}

/// Returns whether floating point operations are recorded.
pub(crate) fn wants_flops(state: u32) -> bool {
    state & flag::FLOPS != 0
}

/// Returns whether allocations are recorded.
#[inline(always)]
pub(crate) fn wants_memory(state: u32) -> bool {
    state & flag::MEMORY != 0
}
