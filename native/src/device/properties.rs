//! Properties of a device.

#[cfg(feature = "cuda")]
use crate::json::Members;

/// Properties of a CUDA device, from its attributes. Memory sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceProperties {
    /// The ordinal.
    pub ordinal: u32,
    /// The name.
    pub name: String,
    /// The total memory.
    pub memory: u64,
    /// The compute capability, major and minor.
    pub capability: (u32, u32),
    /// The number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// Maximum number of threads per block.
    pub max_threads_per_block: u32,
    /// Maximum number of threads per multiprocessor.
    pub max_threads_per_multiprocessor: u32,
    /// Maximum number of blocks per multiprocessor.
    pub max_blocks_per_multiprocessor: u32,
    /// Maximum number of registers per block.
    pub registers_per_block: u32,
    /// Number of registers per multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Number of threads per warp.
    pub warp_size: u32,
    /// Maximum shared memory per block without opt-in.
    pub shared_memory_per_block: u32,
    /// Maximum shared memory per block with opt-in.
    pub shared_memory_per_block_optin: u32,
    /// Shared memory per multiprocessor.
    pub shared_memory_per_multiprocessor: u32,
    /// Shared memory per block that the driver reserves.
    pub reserved_shared_memory_per_block: u32,
}

impl DeviceProperties {
    /// Returns the device as an entry of `deviceProperties`, with Kineto's keys.
    #[cfg(feature = "cuda")]
    pub(crate) fn members(&self) -> Members {
        let mut members = Members::default();
        members.number("id", self.ordinal);
        members.text("name", &self.name);
        members.number("totalGlobalMem", self.memory);
        for (key, value) in [
            ("computeMajor", self.capability.0),
            ("computeMinor", self.capability.1),
            ("maxThreadsPerBlock", self.max_threads_per_block),
            ("maxThreadsPerMultiprocessor", self.max_threads_per_multiprocessor),
            ("regsPerBlock", self.registers_per_block),
            ("warpSize", self.warp_size),
            ("sharedMemPerBlock", self.shared_memory_per_block),
            ("numSms", self.multiprocessors),
            ("regsPerMultiprocessor", self.registers_per_multiprocessor),
            ("sharedMemPerBlockOptin", self.shared_memory_per_block_optin),
            ("sharedMemPerMultiprocessor", self.shared_memory_per_multiprocessor),
        ] {
            members.number(key, value);
        }
        members
    }
}
