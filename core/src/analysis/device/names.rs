//! What the names of kernels, calls and ranges mean.

use alloc::string::String;

/// Returns whether a kernel's name is that of a collective library.
pub(crate) fn is_collective(name: &str) -> bool {
    let start: String = name.chars().take(64).map(|c| c.to_ascii_lowercase()).collect();
    ["nccl", "rccl", "mscclpp", "hccl", "oneccl", "c10d::"].iter().any(|part| start.contains(part))
}

/// Returns whether a runtime call waits for the device.
pub(crate) fn is_sync_name(name: &str) -> bool {
    name.contains("Synchronize")
}

/// Returns whether an annotation is that of a data loader.
pub(crate) fn is_data_loading(name: &str) -> bool {
    name.starts_with("enumerate(DataLoader)#") || name.starts_with("enumerate(DataPipe)#")
}
