//! Device work: busy and idle time, kernels, steps, memory, floating point operations and the roofline.

pub(crate) mod attributes;
pub(crate) mod behind;
pub mod breakdown;
pub(crate) mod collectives;
pub mod device_time;
pub mod idle;
pub mod idle_rows;
pub mod kernel_keys;
pub mod kernel_rows;
pub mod kernels;
pub mod launch_rows;
pub mod launches;
pub mod memory;
pub mod memory_rows;
pub(crate) mod names;
pub(crate) mod owners;
pub(crate) mod ranges;
pub(crate) mod roofline;
pub mod segments;
pub mod sequence_rows;
pub mod sequences;
pub(crate) mod step_processes;
pub mod steps;
pub mod work;
