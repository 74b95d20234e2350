//! Device work: busy and idle time, kernels, steps, memory, floating point operations and the roofline.

pub(crate) mod attributes;
pub(crate) mod behind;
pub(crate) mod breakdown;
pub(crate) mod collectives;
pub mod device_time;
pub mod idle;
pub mod idle_rows;
pub(crate) mod kernel_keys;
pub mod kernel_rows;
pub mod kernels;
pub(crate) mod launch_rows;
pub mod launches;
pub mod memory;
pub mod memory_rows;
pub(crate) mod models;
pub(crate) mod names;
pub(crate) mod owners;
pub(crate) mod peak;
pub(crate) mod ranges;
pub(crate) mod roofline;
pub(crate) mod segments;
pub(crate) mod sequence_rows;
pub mod sequences;
pub(crate) mod step_processes;
pub mod steps;
pub(crate) mod work;
