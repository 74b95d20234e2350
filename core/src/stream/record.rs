//! Records: slots of 16 bytes, which a thread writes with two stores each.
//!
//! A record is a head slot and the slots that belong to it. The head is `u64` ticks and a word: the [`Tag`] in bits 0 to 7, the
//! number of slots behind it in bits 8 to 23, a small number (depth, or a device type) in bits 24 to 31, and an id in bits 32
//! to 63. Arguments are slots too: a value, and a word of the same form with the key's name in its id; a text is
//! followed by slots that hold its bytes.

/// The size of a slot, in bytes.
pub const SLOT_BYTES: usize = 16;

/// A slot: ticks or a value, and the word that says what it is.
pub type Slot = [u64; 2];

/// What a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// A span begins: id is its site, small the number of spans open on the thread (modulo 256).
    Begin = 1,
    /// It ends: id and small are those of its begin.
    End = 2,
    /// A moment: id is its site.
    Instant = 3,
    /// Values of a counter: id is its site, the arguments are its series.
    Counter = 4,
    /// An arrow begins: id is its site; the next slot is its [`Tag::Int`] id.
    FlowStart = 5,
    /// An arrow passes.
    FlowStep = 6,
    /// An arrow ends.
    FlowEnd = 7,
    /// A span that may end on another thread begins: as [`Tag::FlowStart`].
    AsyncBegin = 8,
    /// It ends.
    AsyncEnd = 9,
    /// Memory was allocated or freed: small is the device type, id the device plus 1. The next two slots are address and
    /// signed bytes, then total allocated and total reserved.
    Memory = 10,
    /// An allocation failed: as [`Tag::Memory`].
    OutOfMemory = 11,
    /// Records were dropped here: id is how many.
    Dropped = 12,
    /// An argument that is an integer.
    Int = 32,
    /// One that is a number, as the bits of an `f64`.
    Float = 33,
    /// One that is true or false.
    Bool = 34,
    /// One that is a text known by its id.
    Name = 35,
    /// One that is a text: the value is its length in bytes; the bytes follow in slots.
    Text = 36,
    /// The same, and the text is JSON.
    Json = 37,
}

impl Tag {
    /// The tag with this number.
    pub fn of(number: u8) -> Option<Tag> {
        use Tag::{
            AsyncBegin, AsyncEnd, Begin, Bool, Counter, Dropped, End, Float, FlowEnd, FlowStart, FlowStep,
            Instant, Int, Json, Memory, Name, OutOfMemory, Text,
        };
        [
            Begin,
            End,
            Instant,
            Counter,
            FlowStart,
            FlowStep,
            FlowEnd,
            AsyncBegin,
            AsyncEnd,
            Memory,
            OutOfMemory,
            Dropped,
            Int,
            Float,
            Bool,
            Name,
            Text,
            Json,
        ]
        .into_iter()
        .find(|tag| *tag as u8 == number)
    }
}

/// The word of a slot, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The number of a [`Tag`].
    pub tag: u8,
    /// How many slots behind this one belong to it.
    pub slots: u16,
    /// The depth or the device type.
    pub small: u8,
    /// The site, the key or the count.
    pub id: u32,
}

impl Word {
    /// The word as a number.
    #[inline]
    pub const fn pack(tag: Tag, slots: u16, small: u8, id: u32) -> u64 {
        tag as u64 | (slots as u64) << 8 | (small as u64) << 24 | (id as u64) << 32
    }

    /// Takes a word apart.
    pub fn of(word: u64) -> Word {
        Word {
            tag: word as u8,
            slots: (word >> 8) as u16,
            small: (word >> 24) as u8,
            id: (word >> 32) as u32,
        }
    }
}

/// What a call site makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// An operator: `cpu_op`.
    Op = 0,
    /// A range of the user's, or a step: `user_annotation`.
    Annotation = 1,
    /// A call of a module: `python_function`, as torch writes those of `nn.Module`.
    Module = 2,
    /// Anything else: an instant, a counter, an arrow, an asynchronous span.
    Other = 3,
}

impl Kind {
    /// The kind with this number.
    pub fn of(number: u8) -> Kind {
        [Kind::Op, Kind::Annotation, Kind::Module]
            .into_iter()
            .find(|k| *k as u8 == number)
            .unwrap_or(Kind::Other)
    }
}

/// The names that need no `NAMES` block: their ids are their places here.
pub const KEYS: [&str; 16] = [
    "", // the name of the record itself, where the site's is not meant
    "Input Dims",
    "Input type",
    "Input Strides",
    "Concrete Inputs",
    "Sequence number",
    "Fwd thread id",
    "flops",
    "Call stack",
    "External id",
    "Module", // the frame that the module adds to `Module Hierarchy`
    "value",
    "location",
    "dtype",
    "level",
    "target",
];

/// The ids of [`KEYS`] that mean something to the reader.
pub mod key {
    /// The name of the record itself.
    pub const NAME: u32 = 0;
    /// Shapes of the inputs.
    pub const INPUT_DIMS: u32 = 1;
    /// Types of the inputs.
    pub const INPUT_TYPE: u32 = 2;
    /// Strides of the inputs.
    pub const INPUT_STRIDES: u32 = 3;
    /// Values of the inputs that are no tensors.
    pub const CONCRETE_INPUTS: u32 = 4;
    /// The number that forward and backward share.
    pub const SEQUENCE_NUMBER: u32 = 5;
    /// The thread of the forward, in its backward.
    pub const FWD_THREAD_ID: u32 = 6;
    /// Floating point operations.
    pub const FLOPS: u32 = 7;
    /// Frames, innermost first, each with a `;` behind it.
    pub const CALL_STACK: u32 = 8;
    /// The id that device work refers to.
    pub const EXTERNAL_ID: u32 = 9;
    /// The frame of a module.
    pub const MODULE: u32 = 10;
    /// The only series of a counter.
    pub const VALUE: u32 = 11;
    /// File and line.
    pub const LOCATION: u32 = 12;
    /// The type of the elements.
    pub const DTYPE: u32 = 13;
    /// The level of an event.
    pub const LEVEL: u32 = 14;
    /// The module path of an event.
    pub const TARGET: u32 = 15;
}

/// The first id that a `NAMES` block may define.
pub const FIRST_NAME: u32 = 64;
