//! Decodes CUPTI's activity records: a pure function from bytes to values.
//!
//! From CUPTI 12.0 to 13.5 no field moved and structs only grew. A record is read up to the size that its kind has in
//! the version of CUPTI that wrote it; fields beyond that size are absent.

use super::decoded::{Copy, Decoded, DevicePlace, Kernel, Span};

/// The kinds that are read: `CUpti_ActivityKind`. Defined here, because with the bindings of `cudarc` a program that
/// links CUDA dynamically would have to link CUPTI too.
pub mod kind {
    /// Memcpys.
    pub const MEMCPY: u32 = 1;
    /// Memsets.
    pub const MEMSET: u32 = 2;
    /// Kernels, serialized by CUPTI.
    pub const KERNEL: u32 = 3;
    /// Calls of the driver API.
    pub const DRIVER: u32 = 4;
    /// Calls of the runtime API.
    pub const RUNTIME: u32 = 5;
    /// Kernels that may run concurrently.
    pub const CONCURRENT_KERNEL: u32 = 10;
    /// NVTX markers.
    pub const MARKER: u32 = 12;
    /// Overhead of CUPTI and the driver.
    pub const OVERHEAD: u32 = 17;
    /// Memcpys between devices (peer to peer).
    pub const MEMCPY2: u32 = 22;
    /// CUDA events recorded on streams.
    pub const CUDA_EVENT: u32 = 36;
    /// Synchronization.
    pub const SYNCHRONIZATION: u32 = 38;
    /// External correlation: the span in which a call was made.
    pub const EXTERNAL_CORRELATION: u32 = 39;
    /// Memory allocations and frees.
    pub const MEMORY2: u32 = 49;
}

/// CUPTI versions by toolkit. `cuptiGetVersion` returns small numbers up to 28 for CUDA 12, and `MMmm00` from CUDA 13
/// on.
const CUDA_12_6: u32 = 24;
const CUDA_12_8: u32 = 26;
const CUDA_13_0: u32 = 130_000;
const CUDA_13_1: u32 = 130_100;
const CUDA_13_3: u32 = 130_300;
const CUDA_13_4: u32 = 130_400;
const CUDA_13_5: u32 = 130_500;

/// Returns the size of a record of this kind in this version of CUPTI, in bytes; `None` for kinds that are not read.
pub fn size_of_record(kind: u32, version: u32) -> Option<usize> {
    // The first version with a size, and the size; newest first.
    let sizes: &[(u32, usize)] = match kind {
        kind::KERNEL | kind::CONCURRENT_KERNEL => {
            &[(CUDA_13_4, 248), (CUDA_13_3, 232), (CUDA_13_1, 224), (CUDA_13_0, 216), (0, 208)]
        }
        kind::MEMCPY => &[(CUDA_13_4, 112), (CUDA_12_8, 96), (0, 88)],
        kind::MEMSET => &[(CUDA_13_4, 104), (0, 88)],
        kind::MEMCPY2 => &[(0, 96)],
        // The fields that were added to overhead records in 12.3 and 12.4 are not read.
        kind::DRIVER | kind::RUNTIME | kind::OVERHEAD => &[(0, 40)],
        kind::SYNCHRONIZATION => &[(CUDA_12_8, 56), (0, 40)],
        kind::EXTERNAL_CORRELATION => &[(0, 24)],
        kind::CUDA_EVENT => &[(CUDA_13_5, 80), (CUDA_12_8, 56), (0, 24)],
        kind::MEMORY2 => &[(CUDA_12_6, 128), (0, 120)],
        kind::MARKER => &[(0, 56)],
        _ => return None,
    };
    sizes.iter().find(|(from, _)| version >= *from).map(|(_, size)| *size)
}

/// The bytes of a record, up to its size in the version that wrote it. Fields beyond it read as 0.
#[derive(Clone, Copy)]
struct View<'a>(&'a [u8]);

impl View<'_> {
    fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at + N)?.try_into().ok()
    }

    fn u8(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    fn u16(self, at: usize) -> u16 {
        self.bytes(at).map_or(0, u16::from_le_bytes)
    }

    fn u32(self, at: usize) -> u32 {
        self.bytes(at).map_or(0, u32::from_le_bytes)
    }

    fn u64(self, at: usize) -> u64 {
        self.bytes(at).map_or(0, u64::from_le_bytes)
    }

    fn triple(self, at: usize) -> [u32; 3] {
        [0, 4, 8].map(|offset| self.u32(at + offset))
    }

    fn span(self, at: usize) -> Span {
        Span { start: self.u64(at), end: self.u64(at + 8) }
    }

    /// Reads a [`DevicePlace`]. Device, context and stream are adjacent; the offsets of the other fields depend on the kind.
    fn place(
        self,
        device: usize,
        correlation: usize,
        node: usize,
        [graph, channel]: [usize; 2],
    ) -> DevicePlace {
        DevicePlace {
            device: self.u32(device),
            context: self.u32(device + 4),
            stream: self.u32(device + 8),
            correlation: self.u32(correlation),
            graph: self.u32(graph),
            node: self.u64(node),
            channel: (self.u32(channel), self.u32(channel + 4)),
        }
    }
}

/// Decodes one record that was written by this version of CUPTI. `bytes` may continue after it.
pub fn decode(bytes: &[u8], version: u32) -> Decoded {
    let kind = View(bytes).u32(0);
    let Some(size) = size_of_record(kind, version) else { return Decoded::Unknown(kind) };
    let Some(record) = bytes.get(..size) else { return Decoded::Short(kind) };
    let view = View(record);
    match kind {
        kind::KERNEL | kind::CONCURRENT_KERNEL => Decoded::Kernel(kernel(view)),
        kind::MEMCPY => Decoded::Copy(Copy {
            span: view.span(16),
            place: view.place(32, 44, 64, [72, 76]),
            direction: view.u8(4),
            memories: [view.u8(5), view.u8(6)],
            bytes: view.u64(8),
            peers: None,
        }),
        kind::MEMCPY2 => Decoded::Copy(Copy {
            span: view.span(16),
            place: view.place(32, 60, 72, [80, 84]),
            direction: view.u8(4),
            memories: [view.u8(5), view.u8(6)],
            bytes: view.u64(8),
            peers: Some([(view.u32(44), view.u32(48)), (view.u32(52), view.u32(56))]),
        }),
        kind::MEMSET => Decoded::Fill {
            span: view.span(16),
            place: view.place(32, 44, 64, [72, 76]),
            memory: view.u16(50),
            bytes: view.u64(8),
        },
        kind::DRIVER | kind::RUNTIME => Decoded::Call {
            is_driver: kind == kind::DRIVER,
            span: view.span(8),
            cbid: view.u32(4),
            thread: view.u32(28),
            correlation: view.u32(32),
            result: view.u32(36),
        },
        kind::SYNCHRONIZATION => Decoded::Sync {
            span: view.span(8),
            what: view.u32(4),
            context: view.u32(28),
            stream: view.u32(32),
            correlation: view.u32(24),
            event: view.u32(36),
        },
        kind::EXTERNAL_CORRELATION => {
            Decoded::External { kind: view.u32(4), id: view.u64(8), correlation: view.u32(16) }
        }
        kind::CUDA_EVENT => Decoded::Event {
            time: view.u64(40),
            context: view.u32(8),
            stream: view.u32(12),
            event: view.u32(16),
            correlation: view.u32(4),
        },
        kind::OVERHEAD => Decoded::Overhead { span: view.span(24), what: view.u32(4) },
        kind::MEMORY2 => Decoded::Memory {
            time: view.u64(32),
            is_release: view.u32(4) == 2,
            memory: view.u32(8),
            address: view.u64(16),
            bytes: view.u64(24),
            device: view.u32(52),
            correlation: view.u32(12),
        },
        kind::MARKER => Decoded::Marker {
            time: view.u64(8),
            flags: view.u32(4),
            id: view.u32(16),
            thread: view.u32(28),
            texts: [view.u64(40), view.u64(48)],
        },
        other => Decoded::Unknown(other),
    }
}

fn kernel(view: View<'_>) -> Kernel {
    Kernel {
        span: view.span(16),
        place: view.place(40, 92, 144, [156, 168]),
        name: view.u64(104),
        grid: view.triple(52),
        block: view.triple(64),
        cluster: view.triple(176),
        registers: view.u16(6),
        shared: [view.u32(76), view.u32(80)],
        queued: view.u64(120),
        priority: view.bytes(216).map(i32::from_le_bytes),
    }
}
