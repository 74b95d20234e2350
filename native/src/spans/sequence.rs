//! Sequence numbers, which connect forward and backward operators, as autograd's do.

#[cfg(feature = "record")]
use crate::hot::local;
use std::sync::atomic::{AtomicI64, Ordering};

/// The sequence number of a forward operator, which links its backward operator to it:
/// `scope!("mul", sequence: number)` and, on any thread, `scope!("MulBackward0", backward: number)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// PyTorch's `Sequence number`.
    pub number: i64,
    /// The forward operator's thread in the recording, counted from 1; 0 if nothing is recorded.
    pub thread: i64,
}

impl Sequence {
    /// Returns the next number, for an operator on the calling thread.
    pub fn next() -> Sequence {
        static NEXT: AtomicI64 = AtomicI64::new(0);
        Sequence { number: NEXT.fetch_add(1, Ordering::Relaxed), thread: thread() }
    }
}

#[cfg(feature = "record")]
fn thread() -> i64 {
    match crate::hot::state::state() {
        0 => 0,
        state => local::thread_number(state).map_or(0, |number| i64::from(number) + 1),
    }
}

#[cfg(not(feature = "record"))]
fn thread() -> i64 {
    0
}
