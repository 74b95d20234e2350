//! What is recorded, and where to.

use crate::hot::state::flag;
use crate::mirror::Mirror;
use std::path::PathBuf;
use std::time::Duration;

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// Spans of this program.
    Cpu,
    /// Work on CUDA devices.
    Cuda,
}

/// Where a recording goes.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    /// Memory, up to so many bytes.
    Memory { bytes: usize },
    /// The end of a file, where each write may wait for the disk.
    File { path: PathBuf, is_durable: bool },
    /// Memory, of which only the last is kept.
    Ring { keep: Duration, bytes: usize },
}

/// What is recorded, and where to; see the methods of [`ProfilerBuilder`](crate::ProfilerBuilder).
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) record_shapes: bool,
    pub(crate) profile_memory: bool,
    pub(crate) with_stack: bool,
    pub(crate) with_flops: bool,
    pub(crate) with_modules: bool,
    pub(crate) destination: Destination,
    pub(crate) flush_interval: Duration,
    pub(crate) buffer_bytes: usize,
    pub(crate) mirrors: Vec<Mirror>,
    pub(crate) devices: Devices,
    /// Ranges that the program tells NVTX of.
    pub(crate) nvtx_ranges: bool,
    /// How many bytes CUPTI may fill before they are read.
    pub(crate) device_buffer_bytes: usize,
    /// How often devices are asked what they are at.
    pub(crate) device_metrics: Option<Duration>,
    pub(crate) warnings: Vec<String>,
}

/// Whether devices are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    /// They are not.
    No,
    /// They are, if they can be.
    IfThere,
    /// They were asked for: a warning says when they cannot be.
    Asked,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            record_shapes: false,
            profile_memory: false,
            with_stack: false,
            with_flops: false,
            with_modules: false,
            destination: Destination::Memory { bytes: 1 << 30 },
            flush_interval: Duration::from_millis(20),
            buffer_bytes: 64 << 20,
            mirrors: Vec::new(),
            devices: Devices::IfThere,
            nvtx_ranges: false,
            device_buffer_bytes: 128 << 20,
            device_metrics: None,
            warnings: Vec::new(),
        }
    }
}

impl Options {
    pub(crate) fn shapes(&self) -> bool {
        self.record_shapes || self.with_flops
    }

    pub(crate) fn flags(&self) -> u32 {
        [
            (self.shapes(), flag::SHAPES),
            (self.profile_memory, flag::MEMORY),
            (self.with_stack, flag::STACKS),
            (self.with_modules, flag::MODULES),
            (self.with_flops, flag::FLOPS),
        ]
        .into_iter()
        .filter(|(is_on, _)| *is_on)
        .fold(0, |flags, (_, flag)| flags | flag)
    }

    /// The options that a trace tells, under torch's names.
    pub(crate) fn told(&self) -> [(&'static str, bool); 5] {
        [
            ("record_shapes", self.shapes()),
            ("profile_memory", self.profile_memory),
            ("with_stack", self.with_stack),
            ("with_flops", self.with_flops),
            ("with_modules", self.with_modules),
        ]
    }
}
