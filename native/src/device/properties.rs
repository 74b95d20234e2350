//! What a device is.

#[cfg(feature = "cuda")]
use serde_json::{Value, json};

/// What a device is, by CUDA's device attributes. Memory is in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceProperties {
    /// Its ordinal.
    pub ordinal: u32,
    /// Its name.
    pub name: String,
    /// Its memory.
    pub memory: u64,
    /// Its compute capability, major and minor.
    pub capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Threads of a block, at most.
    pub max_threads_per_block: u32,
    /// Threads of a multiprocessor, at most.
    pub max_threads_per_multiprocessor: u32,
    /// Blocks of a multiprocessor, at most.
    pub max_blocks_per_multiprocessor: u32,
    /// Registers of a block, at most.
    pub registers_per_block: u32,
    /// Registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Threads of a warp.
    pub warp_size: u32,
    /// Shared memory of a block, where it asks for no more.
    pub shared_memory_per_block: u32,
    /// Shared memory of a block, at most.
    pub shared_memory_per_block_optin: u32,
    /// Shared memory of a multiprocessor.
    pub shared_memory_per_multiprocessor: u32,
    /// Shared memory of a block that the driver takes for itself.
    pub reserved_shared_memory_per_block: u32,
}

impl DeviceProperties {
    /// The device as an entry of `deviceProperties`, under Kineto's keys.
    #[cfg(feature = "cuda")]
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "id": self.ordinal,
            "name": self.name,
            "totalGlobalMem": self.memory,
            "computeMajor": self.capability.0,
            "computeMinor": self.capability.1,
            "maxThreadsPerBlock": self.max_threads_per_block,
            "maxThreadsPerMultiprocessor": self.max_threads_per_multiprocessor,
            "regsPerBlock": self.registers_per_block,
            "warpSize": self.warp_size,
            "sharedMemPerBlock": self.shared_memory_per_block,
            "numSms": self.multiprocessors,
            "regsPerMultiprocessor": self.registers_per_multiprocessor,
            "sharedMemPerBlockOptin": self.shared_memory_per_block_optin,
            "sharedMemPerMultiprocessor": self.shared_memory_per_multiprocessor,
        })
    }
}
