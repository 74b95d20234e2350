//! Spans by track and time: tracks, tiles, call tree, counters, modules and names.

pub mod call_tree;
pub mod counters;
pub(crate) mod flow_slices;
mod grafts;
pub(crate) mod lane_names;
pub mod modules;
pub mod names;
pub mod samples;
pub mod spans;
pub mod tiles;
pub mod tracks;
