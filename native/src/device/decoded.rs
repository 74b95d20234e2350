//! Decoded activity records of CUPTI, in a form that does not depend on the version.

/// Start and end, in ns of CUPTI's clock; both 0 if the activity was not timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The start.
    pub start: u64,
    /// The end.
    pub end: u64,
}

/// Where a device activity ran, and the call that caused it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DevicePlace {
    /// The ordinal of the device.
    pub device: u32,
    /// The number of the context.
    pub context: u32,
    /// The number of the stream.
    pub stream: u32,
    /// The correlation id, which is also that of the call.
    pub correlation: u32,
    /// The id of the CUDA graph; 0 for none.
    pub graph: u32,
    /// The id of the graph node.
    pub node: u64,
    /// The hardware channel, and its type: 1 for compute, 2 for copies (`CUpti_ChannelType`).
    pub channel: (u32, u32),
}

/// A kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Start and end.
    pub span: Span,
    /// Device, context, stream and correlation.
    pub place: DevicePlace,
    /// The address of the mangled name, a C string owned by CUPTI.
    pub name: u64,
    /// The size of the grid, in blocks.
    pub grid: [u32; 3],
    /// The size of a block, in threads.
    pub block: [u32; 3],
    /// The size of a cluster, in blocks; 0 without clusters.
    pub cluster: [u32; 3],
    /// Registers per thread.
    pub registers: u16,
    /// Static and dynamic shared memory per block, in bytes.
    pub shared: [u32; 2],
    /// The time at which it was queued, in ns; 0 unless latency timestamps are enabled.
    pub queued: u64,
    /// The priority of the stream; `None` before CUPTI 13.1.
    pub priority: Option<i32>,
}

/// A memcpy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copy {
    /// Start and end.
    pub span: Span,
    /// Device, context, stream and correlation.
    pub place: DevicePlace,
    /// CUPTI's number of the kind of copy (`CUpti_ActivityMemcpyKind`).
    pub direction: u8,
    /// CUPTI's numbers of the source's and the destination's kind of memory (`CUpti_ActivityMemoryKind`).
    pub memories: [u8; 2],
    /// The size, in bytes.
    pub bytes: u64,
    /// For a copy between devices: device and context of the source, and of the destination.
    pub peers: Option<[(u32, u32); 2]>,
}

/// A decoded record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A kernel.
    Kernel(Kernel),
    /// A memcpy.
    Copy(Copy),
    /// A memset.
    Fill {
        /// Start and end.
        span: Span,
        /// Device, context, stream and correlation.
        place: DevicePlace,
        /// CUPTI's number of the kind of memory.
        memory: u16,
        /// The size, in bytes.
        bytes: u64,
    },
    /// A call of the driver or the runtime API.
    Call {
        /// Whether it is a call of the driver.
        is_driver: bool,
        /// Start and end.
        span: Span,
        /// CUPTI's number of the function (callback id).
        cbid: u32,
        /// The calling thread.
        thread: u32,
        /// The correlation id, which is also that of the device activities it caused.
        correlation: u32,
        /// The return value; 0 for success.
        result: u32,
    },
    /// A synchronization.
    Sync {
        /// Start and end.
        span: Span,
        /// CUPTI's number of the kind of synchronization.
        what: u32,
        /// The number of the context.
        context: u32,
        /// The number of the stream; `u32::MAX` for none.
        stream: u32,
        /// The call's correlation.
        correlation: u32,
        /// The number of the event; `u32::MAX` for none.
        event: u32,
    },
    /// The external correlation of a call: the span in which it was made.
    External {
        /// CUPTI's number of the external kind.
        kind: u32,
        /// The id of the span.
        id: u64,
        /// The call's correlation.
        correlation: u32,
    },
    /// A CUDA event that was recorded on a stream.
    Event {
        /// The time, in ns; 0 if device timestamps are not available.
        time: u64,
        /// The number of the context.
        context: u32,
        /// The number of the stream.
        stream: u32,
        /// The number of the event.
        event: u32,
        /// The call's correlation.
        correlation: u32,
    },
    /// Overhead of CUPTI or the driver.
    Overhead {
        /// Start and end.
        span: Span,
        /// CUPTI's number of the kind of overhead.
        what: u32,
    },
    /// An allocation or a free.
    Memory {
        /// The time, in ns.
        time: u64,
        /// Whether it is a free.
        is_release: bool,
        /// CUPTI's number of the kind of memory.
        memory: u32,
        /// The address.
        address: u64,
        /// The size, in bytes.
        bytes: u64,
        /// The ordinal of the device.
        device: u32,
        /// The call's correlation.
        correlation: u32,
    },
    /// The start or the end of an NVTX range, or an instant event.
    Marker {
        /// The time, in ns.
        time: u64,
        /// 1 for an instant event, 2 for a start, 4 for an end, and others (`CUpti_ActivityFlag`).
        flags: u32,
        /// The id that start and end of a range share.
        id: u32,
        /// The thread.
        thread: u32,
        /// The addresses of the marker's name, 0 at an end, and of the domain's name, 0 for none.
        texts: [u64; 2],
    },
    /// A record of a kind that is not read, with the kind.
    Unknown(u32),
    /// A record with fewer bytes than its kind has, with the kind.
    Short(u32),
}
