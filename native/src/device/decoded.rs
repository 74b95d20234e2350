//! What activity records of CUPTI say, whatever version wrote them.

/// When something began and ended, in ns of CUPTI's clock; 0 and 0 where it was not timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

/// Where and on whose behalf a device did something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The ordinal of the device.
    pub device: u32,
    /// The number of the context.
    pub context: u32,
    /// The number of the stream.
    pub stream: u32,
    /// What it has in common with the call that caused it.
    pub correlation: u32,
    /// The graph it is of; 0 for none.
    pub graph: u32,
    /// The node of the graph.
    pub node: u64,
    /// The hardware channel, and its type: 1 for compute, 2 for copies.
    pub channel: (u32, u32),
}

/// A kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// When.
    pub span: Span,
    /// Where.
    pub place: Place,
    /// The address of its mangled name, a C string of CUPTI's.
    pub name: u64,
    /// Blocks in each direction.
    pub grid: [u32; 3],
    /// Threads of a block in each direction.
    pub block: [u32; 3],
    /// Blocks of a cluster in each direction; 0 for none.
    pub cluster: [u32; 3],
    /// Registers of a thread.
    pub registers: u16,
    /// Bytes of shared memory of a block, static and dynamic.
    pub shared: [u32; 2],
    /// When it was queued; 0 unless latency timestamps are on.
    pub queued: u64,
    /// The priority of the stream; from CUPTI 13.1 on.
    pub priority: Option<i32>,
}

/// A copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copy {
    /// When.
    pub span: Span,
    /// Where.
    pub place: Place,
    /// CUPTI's number of the direction.
    pub direction: u8,
    /// CUPTI's numbers of the memories that it is from and to.
    pub memories: [u8; 2],
    /// How much, in bytes.
    pub bytes: u64,
    /// Device and context that it is from, and those that it is to, for a copy between devices.
    pub peers: Option<[(u32, u32); 2]>,
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A kernel.
    Kernel(Kernel),
    /// A copy.
    Copy(Copy),
    /// A fill of so many bytes of a kind of memory.
    Fill {
        /// When.
        span: Span,
        /// Where.
        place: Place,
        /// CUPTI's number of the memory.
        memory: u16,
        /// How much.
        bytes: u64,
    },
    /// A call.
    Call {
        /// Of the driver, not of the runtime.
        is_driver: bool,
        /// When.
        span: Span,
        /// CUPTI's number of the function.
        cbid: u32,
        /// The calling thread.
        thread: u32,
        /// What it has in common with what it caused.
        correlation: u32,
        /// What it returned; 0 for success.
        result: u32,
    },
    /// Waiting.
    Sync {
        /// When.
        span: Span,
        /// CUPTI's number of what was waited for.
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
    /// A call belongs to a span.
    External {
        /// CUPTI's number of the kind.
        kind: u32,
        /// The id of the span.
        id: u64,
        /// The call's correlation.
        correlation: u32,
    },
    /// An event was recorded on a stream.
    Event {
        /// When; 0 where the device did not tell.
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
    /// CUPTI's own work.
    Overhead {
        /// When.
        span: Span,
        /// CUPTI's number of what it was.
        what: u32,
    },
    /// Memory of a device.
    Memory {
        /// When.
        time: u64,
        /// It was freed, not allocated.
        is_release: bool,
        /// CUPTI's number of the memory.
        memory: u32,
        /// Where it is.
        address: u64,
        /// How much.
        bytes: u64,
        /// The ordinal of the device.
        device: u32,
        /// The call's correlation.
        correlation: u32,
    },
    /// One end of a range of NVTX, or a moment.
    Marker {
        /// When.
        time: u64,
        /// 1 for a moment, 2 for a begin, 4 for an end, and others.
        flags: u32,
        /// What both ends have in common.
        id: u32,
        /// The thread.
        thread: u32,
        /// The addresses of its name, 0 at an end, and of its domain's, 0 for none.
        texts: [u64; 2],
    },
    /// A kind that is not read.
    Unknown(u32),
    /// Fewer bytes than the kind has.
    Short(u32),
}
