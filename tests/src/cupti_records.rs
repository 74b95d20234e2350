//! Writes records as CUPTI does, for tests. The offsets of fields are from the structs of CUDA 13.0 in cudarc, the
//! lengths of records from the headers of each toolkit.

#![allow(missing_docs)] // The fields are CUPTI's.

use cudarc::cupti::sys::{
    CUpti_ActivityAPI, CUpti_ActivityCudaEvent2, CUpti_ActivityExternalCorrelation, CUpti_ActivityKernel10,
    CUpti_ActivityKind as Kind, CUpti_ActivityMarker2, CUpti_ActivityMemcpy6, CUpti_ActivityMemcpyPtoP4,
    CUpti_ActivityMemory4, CUpti_ActivityMemset4, CUpti_ActivityOverhead3, CUpti_ActivitySynchronization2,
};
use std::ffi::CStr;
use std::mem::offset_of;

/// The lengths of records in a toolkit, in bytes. Records of other kinds always have the same length.
#[derive(Clone, Copy, Debug)]
pub struct Toolkit {
    /// The version from `cuptiGetVersion`.
    pub version: u32,
    pub kernel: usize,
    pub memcpy: usize,
    pub memset: usize,
    pub synchronization: usize,
    pub cuda_event: usize,
    pub overhead: usize,
    pub memory: usize,
}

/// The versions between CUDA 12.0 and 13.5 in which a length changed.
pub const TOOLKITS: [Toolkit; 13] = [
    sizes(18, [208, 88, 88, 40, 24, 40, 120]),
    sizes(20, [208, 88, 88, 40, 24, 40, 120]),
    sizes(21, [208, 88, 88, 40, 24, 48, 120]),
    sizes(22, [208, 88, 88, 40, 24, 56, 120]),
    sizes(23, [208, 88, 88, 40, 24, 56, 120]),
    sizes(24, [208, 88, 88, 40, 24, 56, 128]),
    sizes(26, [208, 96, 88, 56, 56, 56, 128]),
    sizes(28, [208, 96, 88, 56, 56, 56, 128]),
    sizes(130_000, [216, 96, 88, 56, 56, 56, 128]),
    sizes(130_100, [224, 96, 88, 56, 56, 56, 128]),
    sizes(130_300, [232, 96, 88, 56, 56, 56, 128]),
    sizes(130_400, [248, 112, 104, 56, 56, 56, 128]),
    sizes(130_500, [248, 112, 104, 56, 80, 56, 128]),
];

const fn sizes(version: u32, sizes: [usize; 7]) -> Toolkit {
    let [kernel, memcpy, memset, synchronization, cuda_event, overhead, memory] = sizes;
    Toolkit { version, kernel, memcpy, memset, synchronization, cuda_event, overhead, memory }
}

/// Writes the records of one version.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    version: u32,
}

/// A record's bytes.
#[derive(Clone, Debug)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    fn new(kind: Kind, size: usize) -> Bytes {
        // Unset bytes are not 0, so that a read at a wrong offset is detected.
        let mut bytes = Bytes(vec![0xEE; size]);
        bytes.set(0, (kind as u32).to_le_bytes());
        bytes
    }

    /// Sets bytes, if the record is long enough.
    pub fn set<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        if let Some(place) = self.0.get_mut(at..at + N) {
            place.copy_from_slice(&value);
        }
    }
}

/// Sets fields of a struct by name.
macro_rules! fields {
    ($bytes:ident: $record:ty { $($field:ident: $value:expr),* $(,)? }) => {
        $($bytes.set(offset_of!($record, $field), ($value).to_le_bytes());)*
    };
}

/// Start and end, in ns of CUPTI's clock.
pub type Span = (u64, u64);

/// Device, context, stream.
pub type Stream = (u32, u32, u32);

impl Writer {
    pub fn new(version: u32) -> Writer {
        Writer { version }
    }

    fn toolkit(self) -> Toolkit {
        *TOOLKITS.iter().rev().find(|toolkit| self.version >= toolkit.version).expect("a version from 18 on")
    }

    /// Returns a kernel of `grid` blocks of `block` threads, with 32 registers and 1 KiB of shared memory.
    pub fn kernel(
        self,
        name: &'static CStr,
        span: Span,
        stream: Stream,
        correlation: u32,
        [grid, block]: [i32; 2],
    ) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, self.toolkit().kernel);
        fields!(bytes: CUpti_ActivityKernel10 {
            registersPerThread: 32u16, start: span.0, end: span.1,
            deviceId: stream.0, contextId: stream.1, streamId: stream.2,
            gridX: grid, gridY: 1i32, gridZ: 1i32, blockX: block, blockY: 1i32, blockZ: 1i32,
            staticSharedMemory: 1024i32, dynamicSharedMemory: 0i32, correlationId: correlation,
            name: name.as_ptr() as u64, queued: 0u64, graphNodeId: 0u64, graphId: 0u32,
            channelID: 3u32, channelType: 1u32, clusterX: 0u32, clusterY: 0u32, clusterZ: 0u32,
        });
        // `priority`, which the structs of CUDA 13.0 do not have.
        bytes.set(216, (-2i32).to_le_bytes());
        bytes
    }

    /// Makes a kernel belong to a node of a graph.
    pub fn in_graph(mut kernel: Bytes, graph: u32, node: u64) -> Bytes {
        fields!(kernel: CUpti_ActivityKernel10 { graphId: graph, graphNodeId: node });
        kernel
    }

    /// Returns a copy from pageable memory to a device.
    pub fn copy(self, bytes_copied: u64, span: Span, stream: Stream, correlation: u32) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_MEMCPY, self.toolkit().memcpy);
        fields!(bytes: CUpti_ActivityMemcpy6 {
            copyKind: 1u8, srcKind: 1u8, dstKind: 3u8, flags: 1u8, bytes: bytes_copied, start: span.0, end: span.1,
            deviceId: stream.0, contextId: stream.1, streamId: stream.2, correlationId: correlation,
            graphNodeId: 0u64, graphId: 0u32, channelID: 4u32, channelType: 2u32,
        });
        bytes
    }

    /// Returns a copy from one device to another.
    pub fn peer_copy(
        self,
        bytes_copied: u64,
        span: Span,
        stream: Stream,
        [from, to]: [(u32, u32); 2],
        correlation: u32,
    ) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_MEMCPY2, 96);
        fields!(bytes: CUpti_ActivityMemcpyPtoP4 {
            copyKind: 10u8, srcKind: 3u8, dstKind: 3u8, bytes: bytes_copied, start: span.0, end: span.1,
            deviceId: stream.0, contextId: stream.1, streamId: stream.2, srcDeviceId: from.0, srcContextId: from.1,
            dstDeviceId: to.0, dstContextId: to.1, correlationId: correlation,
            graphNodeId: 0u64, graphId: 0u32, channelID: 4u32, channelType: 2u32,
        });
        bytes
    }

    /// Returns a memset of device memory.
    pub fn memset(self, bytes_set: u64, span: Span, stream: Stream, correlation: u32) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_MEMSET, self.toolkit().memset);
        fields!(bytes: CUpti_ActivityMemset4 {
            value: 0u32, bytes: bytes_set, start: span.0, end: span.1,
            deviceId: stream.0, contextId: stream.1, streamId: stream.2, correlationId: correlation, memoryKind: 3u16,
            graphNodeId: 0u64, graphId: 0u32, channelID: 4u32, channelType: 2u32,
        });
        bytes
    }

    /// Returns a call of the driver or the runtime.
    pub fn call(
        self,
        is_driver: bool,
        cbid: u32,
        span: Span,
        thread: u32,
        correlation: u32,
        result: u32,
    ) -> Bytes {
        let kind =
            if is_driver { Kind::CUPTI_ACTIVITY_KIND_DRIVER } else { Kind::CUPTI_ACTIVITY_KIND_RUNTIME };
        let mut bytes = Bytes::new(kind, 40);
        fields!(bytes: CUpti_ActivityAPI {
            cbid: cbid, start: span.0, end: span.1, processId: 1u32, threadId: thread,
            correlationId: correlation, returnValue: result,
        });
        bytes
    }

    /// Returns a synchronization: 1 for an event, 2 for a stream that waits for an event, 3 for a stream, 4 for a
    /// context.
    pub fn sync(
        self,
        what: u32,
        span: Span,
        (context, stream): (u32, u32),
        event: u32,
        correlation: u32,
    ) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, self.toolkit().synchronization);
        fields!(bytes: CUpti_ActivitySynchronization2 {
            type_: what, start: span.0, end: span.1, correlationId: correlation,
            contextId: context, streamId: stream, cudaEventId: event,
        });
        bytes
    }

    /// Returns the record that assigns a call to a span.
    pub fn external(self, kind: u32, id: u64, correlation: u32) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 24);
        fields!(bytes: CUpti_ActivityExternalCorrelation {
            externalKind: kind, externalId: id, correlationId: correlation,
        });
        bytes
    }

    /// Returns the recording of an event on a stream.
    pub fn event(self, event: u32, time: u64, (context, stream): (u32, u32), correlation: u32) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_CUDA_EVENT, self.toolkit().cuda_event);
        fields!(bytes: CUpti_ActivityCudaEvent2 {
            correlationId: correlation, contextId: context, streamId: stream, eventId: event,
            deviceId: 0u32, deviceTimestamp: time,
        });
        bytes
    }

    /// Returns overhead of CUPTI itself.
    pub fn overhead(self, what: u32, span: Span) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_OVERHEAD, self.toolkit().overhead);
        fields!(bytes: CUpti_ActivityOverhead3 { overheadKind: what, start: span.0, end: span.1 });
        bytes
    }

    /// Returns an allocation or a release of device memory.
    pub fn memory(
        self,
        is_release: bool,
        address: u64,
        size: u64,
        time: u64,
        device: u32,
        correlation: u32,
    ) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_MEMORY2, self.toolkit().memory);
        fields!(bytes: CUpti_ActivityMemory4 {
            memoryOperationType: if is_release { 2u32 } else { 1u32 }, memoryKind: 3u32, correlationId: correlation,
            address: address, bytes: size, timestamp: time, deviceId: device, contextId: 1u32, streamId: 7u32,
        });
        bytes
    }

    /// Returns one end of an NVTX range, or an instant event.
    pub fn marker(self, flags: u32, id: u32, time: u64, thread: u32, name: Option<&'static CStr>) -> Bytes {
        let mut bytes = Bytes::new(Kind::CUPTI_ACTIVITY_KIND_MARKER, 56);
        fields!(bytes: CUpti_ActivityMarker2 {
            flags: flags, timestamp: time, id: id, objectKind: 2u32,
            name: name.map_or(0, |name| name.as_ptr() as u64), domain: 0u64,
        });
        // The object is a thread: process id, then thread id.
        let object = offset_of!(CUpti_ActivityMarker2, objectId);
        bytes.set(object, 1u32.to_le_bytes());
        bytes.set(object + 4, thread.to_le_bytes());
        bytes
    }

    /// Returns a record of a kind that is not read.
    pub fn unknown(self) -> Bytes {
        Bytes::new(Kind::CUPTI_ACTIVITY_KIND_PCIE, 64)
    }
}
