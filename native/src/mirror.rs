//! Mirrors: spans are also emitted to another profiler, as NVTX ranges or ITT tasks.
//!
//! [`ProfilerBuilder::mirror`] mirrors spans in addition to recording them. [`emit_nvtx`] and [`emit_itt`] emit spans
//! without recording.
//!
//! [`ProfilerBuilder::mirror`]: crate::ProfilerBuilder::mirror

pub mod itt;
pub mod nvtx;

use crate::error::RecordError;
use crate::hot::state::{IS_TAKEN, flag, set_state};
use std::sync::atomic::{AtomicU8, Ordering};

/// A profiler to which spans are emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// NVTX: ranges for Nsight Systems and Nsight Compute.
    Nvtx,
    /// ITT: tasks for `VTune`.
    Itt,
}

/// The mirrors that are attached, one bit each.
static ATTACHED: AtomicU8 = AtomicU8::new(0);

impl Mirror {
    fn bit(self) -> u8 {
        match self {
            Mirror::Nvtx => 1,
            Mirror::Itt => 2,
        }
    }
}

fn each(emit: impl Fn(Mirror)) {
    let attached = ATTACHED.load(Ordering::Relaxed);
    [Mirror::Nvtx, Mirror::Itt].into_iter().filter(|mirror| attached & mirror.bit() != 0).for_each(emit);
}

/// Emits the begin of a span to the attached mirrors.
pub(crate) fn push(name: &str) {
    each(|mirror| match mirror {
        Mirror::Nvtx => {
            nvtx::range_push(name);
        }
        Mirror::Itt => {
            itt::range_push(name);
        }
    });
}

/// Emits the end of this thread's innermost span.
pub(crate) fn pop() {
    each(|mirror| match mirror {
        Mirror::Nvtx => {
            nvtx::range_pop();
        }
        Mirror::Itt => {
            itt::range_pop();
        }
    });
}

/// Emits an instant event.
pub(crate) fn mark(name: &str) {
    each(|mirror| match mirror {
        Mirror::Nvtx => nvtx::mark(name),
        Mirror::Itt => itt::mark(name),
    });
}

/// Attaches these mirrors in place of the present ones. Returns the flag for the state.
pub(crate) fn attach(mirrors: &[Mirror]) -> u32 {
    ATTACHED.store(mirrors.iter().fold(0, |bits, mirror| bits | mirror.bit()), Ordering::Relaxed);
    if mirrors.is_empty() { 0 } else { flag::MIRROR }
}

/// Emits every span to another profiler until this guard is dropped, and records nothing: PyTorch's `emit_nvtx` and
/// `emit_itt`. If the other profiler is not available, nothing is emitted.
#[derive(Debug)]
#[must_use = "spans are emitted until this is dropped"]
pub struct Emit(());

/// Emits every span to NVTX until the guard is dropped.
///
/// The name of a range is that of the span, followed by its sequence number if it has one, and with `record_shapes` by the
/// shapes of its inputs, as in PyTorch: `aten::mm, seq = 7, sizes = [[2, 3], [3, 4]]`. While a profiler records with a
/// mirror, names have the same form.
///
/// # Errors
/// Returns [`RecordError::AlreadyRecording`] while a profiler records; use [`ProfilerBuilder::mirror`] for that.
///
/// [`ProfilerBuilder::mirror`]: crate::ProfilerBuilder::mirror
pub fn emit_nvtx(record_shapes: bool) -> Result<Emit, RecordError> {
    Emit::to(Mirror::Nvtx, record_shapes)
}

/// Emits every span to ITT until the guard is dropped, with names as of [`emit_nvtx`].
///
/// # Errors
/// The same as of [`emit_nvtx`].
pub fn emit_itt(record_shapes: bool) -> Result<Emit, RecordError> {
    Emit::to(Mirror::Itt, record_shapes)
}

impl Emit {
    fn to(mirror: Mirror, record_shapes: bool) -> Result<Emit, RecordError> {
        if IS_TAKEN.swap(true, Ordering::AcqRel) {
            return Err(RecordError::AlreadyRecording);
        }
        let shapes = if record_shapes { flag::SHAPES } else { 0 };
        set_state(attach(&[mirror]) | shapes);
        Ok(Emit(()))
    }
}

impl Drop for Emit {
    fn drop(&mut self) {
        set_state(0);
        IS_TAKEN.store(false, Ordering::Release);
    }
}
