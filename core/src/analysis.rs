//! Analyses of a [`Trace`](crate::trace::Trace), one file each: pure functions from a trace to rows of plain numbers.
//!
//! A wing may use those above it in this list, and the three modules that belong to none.
//!
//! | wing | what it answers |
//! |---|---|
//! | [`torch`] | what `torch.profiler` reports |
//! | [`device`] | what devices did, and what they waited for |
//! | [`timeline`] | what ran where and when |
//! | [`overview`] | what matters most, and whether the numbers agree |

pub mod children;
pub mod device;
pub(crate) mod flops;
pub(crate) mod intervals;
pub mod overview;
pub mod timeline;
pub mod torch;
