//! What is recorded, and where to.

use super::local::flag;
use super::mirror::Mirror;
use std::path::PathBuf;
use std::time::Duration;

/// Where a recording goes.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    /// Memory, up to so many bytes.
    Memory { bytes: usize },
    /// The end of a file, where each write may wait for the disk.
    File { path: PathBuf, is_durable: bool },
    /// Memory, of which only the last is kept.
    Ring { keep: Duration, bytes: usize },
}

/// What is recorded, and where to; see the methods of [`Builder`](super::builder::Builder).
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) record_shapes: bool,
    pub(super) profile_memory: bool,
    pub(super) with_stack: bool,
    pub(super) with_flops: bool,
    pub(super) with_modules: bool,
    pub(super) destination: Destination,
    pub(super) flush_interval: Duration,
    pub(super) buffer_bytes: usize,
    pub(super) mirrors: Vec<Mirror>,
    pub(super) devices: Devices,
    /// Ranges that the program tells NVTX of.
    pub(super) nvtx_ranges: bool,
    /// How many bytes CUPTI may fill before they are read.
    pub(super) device_buffer_bytes: usize,
    /// How often devices are asked what they are at.
    pub(super) device_metrics: Option<Duration>,
    pub(super) warnings: Vec<String>,
}

/// Whether devices are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Devices {
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
    pub(super) fn shapes(&self) -> bool {
        self.record_shapes || self.with_flops
    }

    pub(super) fn flags(&self) -> u32 {
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
    pub(super) fn told(&self) -> [(&'static str, bool); 5] {
        [
            ("record_shapes", self.shapes()),
            ("profile_memory", self.profile_memory),
            ("with_stack", self.with_stack),
            ("with_flops", self.with_flops),
            ("with_modules", self.with_modules),
        ]
    }
}
