//! Analyses as PyTorch defines them: function events, key averages, event tree, anti-patterns.

pub(crate) mod average_rows;
pub mod averages;
pub mod clock;
pub mod coverage;
pub mod device_type;
pub mod dynamo;
pub mod evaluation;
mod event_details;
pub mod event_ids;
pub mod event_rows;
pub mod event_tree;
pub mod event_tree_rows;
pub(crate) mod forward;
pub mod frames;
pub mod function_events;
pub(crate) mod hierarchy;
pub(crate) mod main_thread;
pub(crate) mod node_rows;
mod open_ranges;
pub mod overloads;
pub mod patterns;
pub mod profile_metrics;
pub mod stacks;
