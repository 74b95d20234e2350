//! The theoretical occupancy of a kernel, by the rules of NVIDIA's occupancy calculator.

use super::decoded::Kernel;
use super::properties::DeviceProperties;

/// Threads per warp, on all devices so far.
const WARP: u32 = 32;

/// The occupancy of a device by a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Occupancy {
    /// Blocks of the grid per multiprocessor.
    pub blocks_per_sm: f32,
    /// Warps of the grid per multiprocessor.
    pub warps_per_sm: f32,
    /// Threads that can run at once, in percent of the multiprocessor's maximum.
    pub percent: i64,
}

/// Computes the occupancy of a device by a kernel. Kineto assumes a limit of 48 KiB of shared memory per block; this
/// uses the device's limit, so that kernels with more shared memory do not get an occupancy of 0.
pub(super) fn occupancy(kernel: &Kernel, device: &DeviceProperties) -> Occupancy {
    let product = |[x, y, z]: [u32; 3]| u64::from(x) * u64::from(y) * u64::from(z);
    let threads = product(kernel.block);
    let blocks_per_sm = product(kernel.grid) as f32 / device.multiprocessors as f32;
    let active = active_blocks(kernel, threads, device) as f32;
    let fraction =
        active.min(blocks_per_sm) * threads as f32 / device.max_threads_per_multiprocessor.max(1) as f32;
    Occupancy {
        blocks_per_sm,
        warps_per_sm: blocks_per_sm * threads as f32 / WARP as f32,
        percent: if fraction.is_finite() { (fraction * 100.0).round() as i64 } else { 0 },
    }
}

/// Returns how many blocks can be resident on a multiprocessor: the minimum over the limits of warps, registers, shared
/// memory and block slots.
fn active_blocks(kernel: &Kernel, threads: u64, device: &DeviceProperties) -> u64 {
    let warps = threads.div_ceil(u64::from(WARP)).max(1);
    let by_warps = u64::from(device.max_threads_per_multiprocessor / WARP) / warps;
    let of_warp = (u64::from(kernel.registers) * u64::from(WARP)).next_multiple_of(256);
    let by_registers = match of_warp {
        0 => u64::MAX,
        // A multiprocessor has four sub-partitions, each with its own registers.
        registers => u64::from(device.registers_per_multiprocessor / 4) / registers * 4 / warps,
    };
    let unit = if device.capability.0 >= 8 { 128 } else { 256 };
    let shared = kernel.shared.iter().map(|bytes| u64::from(*bytes)).sum::<u64>()
        + u64::from(device.reserved_shared_memory_per_block);
    let by_shared = match shared.next_multiple_of(unit) {
        0 => u64::MAX,
        bytes => u64::from(device.shared_memory_per_multiprocessor) / bytes,
    };
    by_warps.min(by_registers).min(by_shared).min(u64::from(device.max_blocks_per_multiprocessor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v100() -> DeviceProperties {
        DeviceProperties {
            multiprocessors: 80,
            max_threads_per_multiprocessor: 2048,
            registers_per_multiprocessor: 65536,
            shared_memory_per_multiprocessor: 98304,
            max_blocks_per_multiprocessor: 32,
            capability: (7, 0),
            ..DeviceProperties::default()
        }
    }

    fn kernel(grid: u32, block: u32, registers: u16, shared: u32) -> Kernel {
        Kernel {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            registers,
            shared: [shared, 0],
            ..Kernel::default()
        }
    }

    #[test]
    fn each_limit_can_determine_the_occupancy() {
        // Limited by the number of blocks, warps, registers, shared memory, block slots.
        for (kernel, percent) in [
            (kernel(80, 512, 16, 0), 25),
            (kernel(8000, 1024, 16, 0), 100),
            (kernel(8000, 512, 128, 0), 25),
            (kernel(8000, 128, 16, 49152), 13),
            (kernel(8000, 32, 16, 0), 50),
        ] {
            assert_eq!(occupancy(&kernel, &v100()).percent, percent, "{kernel:?}");
        }
    }

    #[test]
    fn occupancy_with_shared_memory_above_48_kib_is_not_zero() {
        let a100 = DeviceProperties {
            multiprocessors: 108,
            shared_memory_per_multiprocessor: 167_936,
            reserved_shared_memory_per_block: 1024,
            capability: (8, 0),
            ..v100()
        };
        assert_eq!(occupancy(&kernel(10_000, 128, 64, 80_000), &a100).percent, 13);
    }

    #[test]
    fn unknown_device_properties_give_infinite_blocks_and_zero_percent() {
        let none = occupancy(&kernel(1, 32, 0, 0), &DeviceProperties::default());
        assert!(none.blocks_per_sm.is_infinite());
        assert_eq!(none.percent, 0);
    }
}
