//! Spans for other profilers: ranges of NVTX and tasks of ITT, beside recording or instead of it.

pub mod itt;
pub mod nvtx;

use crate::error::RecordError;
use crate::hot::state::{IS_TAKEN, STATE, flag};
use std::sync::atomic::{AtomicU8, Ordering};

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// NVTX: Nsight Systems, Nsight Compute.
    Nvtx,
    /// ITT: `VTune`.
    Itt,
}

/// Who is told now: a bit each.
static TOLD: AtomicU8 = AtomicU8::new(0);

impl Mirror {
    fn bit(self) -> u8 {
        match self {
            Mirror::Nvtx => 1,
            Mirror::Itt => 2,
        }
    }
}

fn each(tell: impl Fn(Mirror)) {
    let told = TOLD.load(Ordering::Relaxed);
    [Mirror::Nvtx, Mirror::Itt].into_iter().filter(|mirror| told & mirror.bit() != 0).for_each(tell);
}

/// A span begins.
pub(crate) fn push(name: &str) {
    each(|mirror| match mirror {
        Mirror::Nvtx => nvtx::range_push(name),
        Mirror::Itt => itt::range_push(name),
    });
}

/// The innermost span of this thread ends.
pub(crate) fn pop() {
    each(|mirror| match mirror {
        Mirror::Nvtx => nvtx::range_pop(),
        Mirror::Itt => itt::range_pop(),
    });
}

/// A moment.
pub(crate) fn mark(name: &str) {
    each(|mirror| match mirror {
        Mirror::Nvtx => nvtx::mark(name),
        Mirror::Itt => itt::mark(name),
    });
}

/// Tells these of every span from now on; the flag for the state.
pub(crate) fn tell(mirrors: &[Mirror]) -> u32 {
    TOLD.store(mirrors.iter().fold(0, |bits, mirror| bits | mirror.bit()), Ordering::Relaxed);
    if mirrors.is_empty() { 0 } else { flag::MIRROR }
}

/// Tells another profiler of every span until it is dropped, and records nothing: torch's `emit_nvtx` and `emit_itt`.
/// Where the other profiler is not there, nothing is told.
#[derive(Debug)]
#[must_use = "spans are told of until this is dropped"]
pub struct Emit(());

/// Tells NVTX of every span until the guard is dropped.
///
/// # Errors
/// [`RecordError::AlreadyRecording`] while something is recorded: there, [`ProfilerBuilder::mirror`] tells.
///
/// [`ProfilerBuilder::mirror`]: crate::ProfilerBuilder::mirror
pub fn emit_nvtx() -> Result<Emit, RecordError> {
    Emit::to(Mirror::Nvtx)
}

/// Tells ITT of every span until the guard is dropped.
///
/// # Errors
/// As [`emit_nvtx`].
pub fn emit_itt() -> Result<Emit, RecordError> {
    Emit::to(Mirror::Itt)
}

impl Emit {
    fn to(mirror: Mirror) -> Result<Emit, RecordError> {
        if IS_TAKEN.swap(true, Ordering::AcqRel) {
            return Err(RecordError::AlreadyRecording);
        }
        STATE.store(tell(&[mirror]), Ordering::SeqCst);
        Ok(Emit(()))
    }
}

impl Drop for Emit {
    fn drop(&mut self) {
        STATE.store(0, Ordering::SeqCst);
        IS_TAKEN.store(false, Ordering::Release);
    }
}
