//! Questions to a [`Trace`](crate::trace::Trace), one file each: pure functions from a trace to rows of plain numbers.

pub mod averages;
pub mod flops;
pub mod function_events;
pub mod stacks;
