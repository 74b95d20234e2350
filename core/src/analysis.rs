//! Questions to a [`Trace`](crate::trace::Trace), one file each: pure functions from a trace to rows of plain numbers.

pub mod average_rows;
pub mod averages;
pub mod call_tree;
pub mod children;
pub mod coverage;
pub mod device_time;
pub mod early;
pub mod evaluation;
pub mod event_rows;
pub mod event_tree;
pub mod findings;
pub mod flops;
pub mod function_events;
pub mod info;
pub mod intervals;
pub mod kernels;
pub mod ledger;
pub mod memory;
pub mod patterns;
pub mod roofline;
pub mod stacks;
pub mod steps;
pub mod summary;
pub mod tiles;
pub mod tracks;
pub mod work;
