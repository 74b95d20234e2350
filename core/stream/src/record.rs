//! Records: words of 8 bytes.
//!
//! The begin and the end of a span without arguments are one word each, a [`Short`]. Every other record is a head slot and the
//! slots that belong to it. A slot is two words: one that says what it is, and ticks or a value. The first has the [`Tag`]
//! in bits 0 to 7, the number of slots behind it in bits 8 to 23, a small number (depth, or a device type) in bits 24 to 31,
//! and an id in bits 32 to 63. Arguments are slots of the same form, with the key's name as id; a text is followed by slots
//! that hold its bytes.

/// The size of a word, in bytes.
pub const WORD_BYTES: usize = 8;

/// The size of a slot, in bytes.
pub const SLOT_BYTES: usize = 16;

/// A slot: the word that says what it is, and ticks or a value.
pub type Slot = [u64; 2];

/// What a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// A span begins: id is its site, small the number of spans open on the thread (modulo 64).
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

/// The begin or the end of a span as one word: bit 7 set, which no [`Tag`] has, bit 6 for an end, the depth modulo 64 in bits 0
/// to 5, the site in bits 8 to 27, and the low 36 bits of the ticks in bits 28 to 63. The ticks are the first with these
/// bits that are not before those which the block of records begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// It is an end.
    pub is_end: bool,
    /// How many spans were open, modulo 64.
    pub depth: u8,
    /// The site.
    pub site: u32,
    /// When.
    pub ticks: u64,
}

impl Short {
    const TICKS_BITS: u32 = 36;
    const SITE_BITS: u32 = 20;

    /// Whether one word is enough for a site and a time after the base.
    #[inline(always)]
    pub const fn fits(site: u32, ticks: u64, base: u64) -> bool {
        (site >> Short::SITE_BITS) as u64 | ticks.wrapping_sub(base) >> Short::TICKS_BITS == 0
    }

    /// The word, where it [fits](Short::fits).
    #[inline(always)]
    pub const fn pack(is_end: bool, depth: u8, site: u32, ticks: u64) -> u64 {
        0x80 | (is_end as u64) << 6
            | (depth & 63) as u64
            | (site as u64) << 8
            | ticks << (u64::BITS - Short::TICKS_BITS)
    }

    /// Takes a word apart, if it is one of these.
    pub const fn of(word: u64, base: u64) -> Option<Short> {
        if word & 0x80 == 0 {
            return None;
        }
        let after =
            (word >> (u64::BITS - Short::TICKS_BITS)).wrapping_sub(base) & ((1 << Short::TICKS_BITS) - 1);
        Some(Short {
            is_end: word & 0x40 != 0,
            depth: word as u8 & 63,
            site: (word >> 8) as u32 & ((1 << Short::SITE_BITS) - 1),
            ticks: base.saturating_add(after),
        })
    }
}

impl From<Short> for Word {
    fn from(short: Short) -> Word {
        let tag = if short.is_end { Tag::End } else { Tag::Begin };
        Word { tag: tag as u8, slots: 0, small: short.depth, id: short.site }
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
    /// The level of an event.
    pub const LEVEL: u32 = 14;
    /// The module path of an event.
    pub const TARGET: u32 = 15;
}

/// The first id that a `NAMES` block may define.
pub const FIRST_NAME: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_word_holds_what_fits_and_no_tag_looks_like_one() {
        let base = u64::MAX / 3;
        for (after, site) in [(0, 1), (1, 77), ((1 << 36) - 1, (1 << 20) - 1)] {
            assert!(Short::fits(site, base + after, base));
            let expected = Short { is_end: site == 77, depth: 63, site, ticks: base + after };
            let word = Short::pack(expected.is_end, 63, site, base + after);
            assert_eq!(Short::of(word, base), Some(expected));
        }
        assert!(!Short::fits(1, base + (1 << 36), base));
        assert!(!Short::fits(1, base - 1, base));
        assert!(!Short::fits(1 << 20, base, base));
        for tag in (0..=u8::MAX).filter_map(Tag::of) {
            assert_eq!(Short::of(Word::pack(tag, u16::MAX, u8::MAX, u32::MAX), 0), None);
        }
    }
}
