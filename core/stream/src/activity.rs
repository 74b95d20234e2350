//! Activities of devices and of their runtimes, as records of 8-byte words.
//!
//! A record is a head, `u64` begin and `u64` end on the device's clock, `u32` [lane](Activity), `u32` stream, `u64`
//! correlation id, and the values of its [`fields`](Activity::fields) in order. Values that are missing at the end were
//! not recorded. The head has the number of the [`Activity`] in bits 0 to 7, the number of words after the head in bits
//! 8 to 23, and the id of the name in bits 32 to 63.

/// The smallest number of words in a record.
pub const WORDS: usize = 5;

/// The stream number of a record without a stream.
pub const NO_STREAM: u32 = u32::MAX;

/// The value of an integer or float that is missing before other values. A triple is missing if its first value is 0.
pub const MISSING: u64 = 1 << 63;

/// The kind of an activity. The lane is a device ordinal, or the operating system's thread id for calls of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Activity {
    /// A kernel.
    Kernel = 1,
    /// A memory copy.
    Memcpy = 2,
    /// A memory copy from one device to another.
    PeerCopy = 3,
    /// A memset.
    Memset = 4,
    /// A runtime API call of a thread.
    Runtime = 5,
    /// A driver API call of a thread.
    Driver = 6,
    /// A synchronization. The lane is not recorded; it follows from the context.
    Sync = 7,
    /// An event recorded on a stream. The lane is not recorded.
    Event = 8,
    /// The profiler's own work.
    Overhead = 9,
    /// The association of a call with a span: the lane is the [kind of the span](span_kind), the value is the span's
    /// id.
    External = 10,
    /// An allocation of device memory, or a release if the number of bytes is negative.
    Memory = 11,
    /// An NVTX range of a thread; an NVTX mark if begin and end are equal.
    Range = 12,
}

/// Kinds of spans, as CUPTI's external correlation kinds.
pub mod span_kind {
    /// An operator: `CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0`.
    pub const OP: u32 = 3;
    /// A user annotation: `CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1`.
    pub const ANNOTATION: u32 = 4;
}

/// The encoding of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The record's lane; takes no word of its own.
    Lane,
    /// The record's stream, -1 if it has none; takes no word of its own.
    Stream,
    /// The record's correlation id; takes no word of its own.
    Correlation,
    /// An integer.
    Int,
    /// The bits of an `f64`.
    Float,
    /// Three integers, as an array.
    Triple,
    /// The id of a string.
    Text,
    /// An integer that the reader uses and does not copy to the event.
    Hidden,
}

impl Form {
    /// The number of words of a value.
    pub fn words(self) -> usize {
        match self {
            Lane | Stream | Correlation => 0,
            Triple => 3,
            Int | Float | Text | Hidden => 1,
        }
    }
}

/// A value of a record: its key and its form. The first value of device work, synchronizations and events is the
/// context.
pub type Field = (&'static str, Form);

use Form::{Correlation, Float, Hidden, Int, Lane, Stream, Text, Triple};

const KERNEL: [Field; 18] = [
    ("device", Lane),
    ("context", Int),
    ("stream", Stream),
    ("correlation", Correlation),
    ("queued", Int),
    ("registers per thread", Int),
    ("shared memory", Int),
    ("blocks per SM", Float),
    ("warps per SM", Float),
    ("grid", Triple),
    ("block", Triple),
    ("est. achieved occupancy %", Int),
    ("graph id", Int),
    ("graph node id", Int),
    ("channel", Int),
    ("channel_type", Int),
    ("cluster", Triple),
    ("priority", Int),
];

const COPY: [Field; 10] = [
    ("device", Lane),
    ("context", Int),
    ("stream", Stream),
    ("correlation", Correlation),
    ("bytes", Int),
    ("memory bandwidth (GB/s)", Float),
    ("graph id", Int),
    ("graph node id", Int),
    ("channel", Int),
    ("channel_type", Int),
];

const PEER_COPY: [Field; 14] = [
    ("inDevice", Lane),
    ("inContext", Int),
    ("stream", Stream),
    ("correlation", Correlation),
    ("bytes", Int),
    ("memory bandwidth (GB/s)", Float),
    ("graph id", Int),
    ("graph node id", Int),
    ("channel", Int),
    ("channel_type", Int),
    ("fromDevice", Int),
    ("fromContext", Int),
    ("toDevice", Int),
    ("toContext", Int),
];

const CALL: [Field; 3] = [("cbid", Int), ("correlation", Correlation), ("return value", Int)];

const SYNC: [Field; 5] = [
    ("context", Int),
    ("cuda_sync_kind", Text),
    ("wait_on_cuda_event_id", Hidden),
    ("stream", Stream),
    ("correlation", Correlation),
];

const EVENT: [Field; 4] =
    [("context", Int), ("event_id", Int), ("stream", Stream), ("correlation", Correlation)];

const MEMORY: [Field; 2] = [("Addr", Hidden), ("Bytes", Hidden)];

impl Activity {
    /// The activity with this number.
    pub fn from_number(number: u8) -> Option<Activity> {
        use Activity::{
            Driver, Event, External, Kernel, Memcpy, Memory, Memset, Overhead, PeerCopy, Range, Runtime, Sync,
        };
        [Kernel, Memcpy, PeerCopy, Memset, Runtime, Driver, Sync, Event, Overhead, External, Memory, Range]
            .into_iter()
            .find(|activity| *activity as u8 == number)
    }

    /// The category of the events that the reader makes of this activity.
    pub fn category(self) -> &'static str {
        match self {
            Activity::Kernel => "kernel",
            Activity::Memcpy | Activity::PeerCopy => "gpu_memcpy",
            Activity::Memset => "gpu_memset",
            Activity::Runtime => "cuda_runtime",
            Activity::Driver => "cuda_driver",
            Activity::Sync => "cuda_sync",
            Activity::Event => "cuda_event",
            Activity::Overhead => "overhead",
            Activity::Memory | Activity::External => "cpu_instant_event",
            Activity::Range => "user_annotation",
        }
    }

    /// Whether it is a runtime or driver API call of a host thread.
    pub fn is_call(self) -> bool {
        matches!(self, Activity::Runtime | Activity::Driver)
    }

    /// Whether it is work of a device.
    pub fn is_on_device(self) -> bool {
        matches!(self, Activity::Kernel | Activity::Memcpy | Activity::PeerCopy | Activity::Memset)
    }

    /// The values of a record, in order.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Activity::Kernel => &KERNEL,
            Activity::Memcpy | Activity::Memset => &COPY,
            Activity::PeerCopy => &PEER_COPY,
            Activity::Runtime | Activity::Driver => &CALL,
            Activity::Sync => &SYNC,
            Activity::Event => &EVENT,
            Activity::Overhead => &[],
            Activity::External => &[("id", Hidden)],
            Activity::Memory => &MEMORY,
            Activity::Range => &[("domain", Text)],
        }
    }
}

/// The head of a record.
pub const fn head(activity: Activity, words: u16, name: u32) -> u64 {
    activity as u64 | (words as u64) << 8 | (name as u64) << 32
}

/// A decoded record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The kind of activity.
    pub activity: Activity,
    /// The id of the name.
    pub name: u32,
    /// The begin, on the device's clock.
    pub begin: u64,
    /// The end, on the device's clock.
    pub end: u64,
    /// The device ordinal or the thread id.
    pub lane: u32,
    /// The stream, or [`NO_STREAM`].
    pub stream: u32,
    /// The correlation id that it shares with the call that caused it.
    pub correlation: u64,
    /// The values.
    pub values: &'a [u64],
}

impl<'a> Record<'a> {
    /// The number of words of the record with this head.
    pub fn length(head: u64) -> usize {
        1 + usize::from((head >> 8) as u16)
    }

    /// Decodes the words of a record. Returns `None` if there are too few words or the activity is unknown.
    pub fn parse(words: &'a [u64]) -> Option<Record<'a>> {
        let (known, values) = words.split_at_checked(WORDS)?;
        Some(Record {
            activity: Activity::from_number(known[0] as u8)?,
            name: (known[0] >> 32) as u32,
            begin: known[1],
            end: known[2],
            lane: known[3] as u32,
            stream: (known[3] >> 32) as u32,
            correlation: known[4],
            values,
        })
    }

    /// The value at index `at`; 0 if it was not recorded.
    pub fn value(&self, at: usize) -> u64 {
        self.values.get(at).copied().unwrap_or(0)
    }
}
