//! Activities: what a device and its runtime did, in words of 8 bytes.
//!
//! A record is a head, then `u64` begin and `u64` end in the device's clock, `u32` each of [lane](Activity) and stream, `u64`
//! correlation, and the values of its [`fields`](Activity::fields) in their order; values that are missing at the end were
//! not told. The head has the number of the [`Activity`] in bits 0 to 7, the number of words behind it in bits 8 to 23, and the
//! id of its name in bits 32 to 63.

/// How many words a record has at least.
pub const WORDS: usize = 5;

/// A stream that is none.
pub const NO_STREAM: u32 = u32::MAX;

/// An integer or a number that is none, before values that are; a triple is none where its first is 0.
pub const MISSING: u64 = 1 << 63;

/// What was done. The lane is the device's ordinal, or the system's id of the thread for what a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Activity {
    /// A kernel.
    Kernel = 1,
    /// A copy.
    Memcpy = 2,
    /// A copy from one device to another.
    PeerCopy = 3,
    /// A fill.
    Memset = 4,
    /// A call of the runtime, by a thread.
    Runtime = 5,
    /// A call of the driver, by a thread.
    Driver = 6,
    /// Waiting. The lane is not told: it is that of the context.
    Sync = 7,
    /// An event that was recorded on a stream. The lane is not told.
    Event = 8,
    /// The profiler's own work.
    Overhead = 9,
    /// A call belongs to a span: the lane is the [kind of the span](span_kind), the values the span's id.
    External = 10,
    /// Memory of a device was allocated, or freed, where bytes are below zero.
    Memory = 11,
    /// A range of NVTX, by a thread; a moment where begin and end are the same.
    Range = 12,
}

/// Kinds of spans, by CUPTI's numbers of external correlation.
pub mod span_kind {
    /// An operator: `CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0`.
    pub const OP: u32 = 3;
    /// A range of the user's: `CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1`.
    pub const ANNOTATION: u32 = 4;
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The record's lane, without a word of its own.
    Lane,
    /// Its stream; -1 for none.
    Stream,
    /// Its correlation.
    Correlation,
    /// An integer.
    Int,
    /// The bits of an `f64`.
    Float,
    /// Three integers, as an array.
    Triple,
    /// The id of a text.
    Text,
    /// What the reader makes something else of.
    Hidden,
}

impl Form {
    /// How many words a value has.
    pub fn words(self) -> usize {
        match self {
            Lane | Stream | Correlation => 0,
            Triple => 3,
            Int | Float | Text | Hidden => 1,
        }
    }
}

/// A value of a record: its key and its form. The first value of what a device did, of waiting and of events is the context.
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
    pub fn of(number: u8) -> Option<Activity> {
        use Activity::{
            Driver, Event, External, Kernel, Memcpy, Memory, Memset, Overhead, PeerCopy, Range, Runtime, Sync,
        };
        [Kernel, Memcpy, PeerCopy, Memset, Runtime, Driver, Sync, Event, Overhead, External, Memory, Range]
            .into_iter()
            .find(|activity| *activity as u8 == number)
    }

    /// The category of its events.
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

    /// A thread of the host did it: a call of the runtime or the driver.
    pub fn is_call(self) -> bool {
        matches!(self, Activity::Runtime | Activity::Driver)
    }

    /// A device did it.
    pub fn is_on_device(self) -> bool {
        matches!(self, Activity::Kernel | Activity::Memcpy | Activity::PeerCopy | Activity::Memset)
    }

    /// Its values, in their order.
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

/// A record, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// What was done.
    pub activity: Activity,
    /// The id of its name.
    pub name: u32,
    /// When it began, in the device's clock.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// The device or the thread.
    pub lane: u32,
    /// The stream, or [`NO_STREAM`].
    pub stream: u32,
    /// What it has in common with the call that caused it.
    pub correlation: u64,
    /// Its values.
    pub values: &'a [u64],
}

impl<'a> Record<'a> {
    /// How many words the record has that begins with this one.
    pub fn length(head: u64) -> usize {
        1 + usize::from((head >> 8) as u16)
    }

    /// Takes the words of a record apart; nothing where they are none.
    pub fn of(words: &'a [u64]) -> Option<Record<'a>> {
        let (known, values) = words.split_at_checked(WORDS)?;
        Some(Record {
            activity: Activity::of(known[0] as u8)?,
            name: (known[0] >> 32) as u32,
            begin: known[1],
            end: known[2],
            lane: known[3] as u32,
            stream: (known[3] >> 32) as u32,
            correlation: known[4],
            values,
        })
    }

    /// The value at this place; 0 where it was not told.
    pub fn value(&self, at: usize) -> u64 {
        self.values.get(at).copied().unwrap_or(0)
    }
}
