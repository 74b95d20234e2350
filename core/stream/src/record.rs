//! Records of a thread, as 8-byte words.
//!
//! The begin and the end of a span without arguments are one word each, a [`Short`]. Every other record is a head slot,
//! followed by the slots that belong to it. A slot is two words: a tagged word, then ticks or a value. The tagged word
//! has the [`Tag`] in bits 0 to 7, the number of slots that follow in bits 8 to 23, a small number (depth or device
//! type) in bits 24 to 31, and an id in bits 32 to 63. Arguments are slots of the same form, with the key's name as id.
//! A string is followed by slots that hold its bytes.

/// The size of a word, in bytes.
pub const WORD_BYTES: usize = 8;

/// The size of a slot, in bytes.
pub const SLOT_BYTES: usize = 16;

/// A slot: a tagged word, then ticks or a value.
pub type Slot = [u64; 2];

/// The kind of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// Begin of a span: id is its call site, small is its position among the open spans of the thread, counted from the
    /// outermost one, which has 0 (modulo 64).
    Begin = 1,
    /// End of the innermost span: id and small are those of its begin. Spans that it was the last one inside of, and that
    /// ended before it by [`Tag::EndOuter`], leave the list of open spans with it.
    End = 2,
    /// An instant event: id is its call site.
    Instant = 3,
    /// Values of a counter: id is its call site, the arguments are its series.
    Counter = 4,
    /// Start of a flow: id is its call site, small is its [`Flow`]; the next slot is a [`Tag::Int`] with the flow's id. A
    /// flow that is not the program's has another one: the number of the event's thread plus 1, or 0 for the thread of the
    /// record.
    FlowStart = 5,
    /// Step of a flow: as [`Tag::FlowStart`].
    FlowStep = 6,
    /// End of a flow: as [`Tag::FlowStart`].
    FlowEnd = 7,
    /// Begin of a span that may end on another thread: as [`Tag::FlowStart`].
    AsyncBegin = 8,
    /// End of such a span.
    AsyncEnd = 9,
    /// An allocation or release: small is the device type, id is the device plus 1. The next two slots are address and
    /// signed bytes, then total allocated and total reserved.
    Memory = 10,
    /// A failed allocation: as [`Tag::Memory`].
    OutOfMemory = 11,
    /// Spans and events were lost: id is their number.
    Dropped = 12,
    /// End of a span that was open when the recording started: id is its call site; the next slot is a [`Tag::Int`]
    /// with the ticks of that start.
    Open = 13,
    /// End of a time in which an activity was not recorded: id is the name of the activity; the next slot is a
    /// [`Tag::Int`] with the ticks of its begin.
    Paused = 14,
    /// End of a span that is not the innermost one: id is its call site; the next slot is a [`Tag::Int`] with its position
    /// among the open spans. The position stays in use until the spans inside end.
    EndOuter = 15,
    /// The open spans of the thread after records were lost: id is the number of positions in use; the next slots are
    /// [`Tag::Int`]s with the positions of spans that have ended.
    Depth = 16,
    /// More arguments of an open span: id is its position among the open spans of the thread.
    More = 17,
    /// End of a span of another thread: id is the number of that thread; the next slot is a [`Tag::Int`] with the position
    /// of the span among the open spans there, which stays in use until the end of the recording.
    EndElsewhere = 18,
    /// A sample of the call stack of a thread: id is the number of the thread.
    Sample = 19,
    /// A span of a track that is not a thread: id is its call site; the next slots are two [`Tag::Int`]s with its begin and
    /// its end in ns since 1970, and a [`Tag::Text`] with the name of the track.
    TrackSpan = 20,
    /// An integer argument.
    Int = 32,
    /// A float argument, as the bits of an `f64`.
    Float = 33,
    /// A boolean argument.
    Bool = 34,
    /// A string argument, given by the id of an interned string.
    Name = 35,
    /// A string argument: the value is its length in bytes; the bytes follow in slots.
    Text = 36,
    /// As [`Tag::Text`]; the string is a JSON array or object.
    Json = 37,
    /// As [`Tag::Text`]; the string is a JSON number, which is not an `i64`.
    Number = 38,
}

impl Tag {
    /// The tag with this number.
    pub fn from_number(number: u8) -> Option<Tag> {
        use Tag::{
            AsyncBegin, AsyncEnd, Begin, Bool, Counter, Depth, Dropped, End, EndElsewhere, EndOuter, Float,
            FlowEnd, FlowStart, FlowStep, Instant, Int, Json, Memory, More, Name, Number, Open, OutOfMemory,
            Paused, Sample, Text, TrackSpan,
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
            Open,
            Paused,
            EndOuter,
            Depth,
            More,
            EndElsewhere,
            Sample,
            TrackSpan,
            Int,
            Float,
            Bool,
            Name,
            Text,
            Json,
            Number,
        ]
        .into_iter()
        .find(|tag| *tag as u8 == number)
    }
}

/// The decoded tagged word of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The number of a [`Tag`].
    pub tag: u8,
    /// The number of following slots that belong to this one.
    pub slots: u16,
    /// The depth or the device type.
    pub small: u8,
    /// The call site, the key or the count.
    pub id: u32,
}

impl Word {
    /// Encodes a tagged word.
    #[inline]
    pub const fn pack(tag: Tag, slots: u16, small: u8, id: u32) -> u64 {
        tag as u64 | (slots as u64) << 8 | (small as u64) << 24 | (id as u64) << 32
    }

    /// Decodes a tagged word.
    pub fn decode(word: u64) -> Word {
        Word {
            tag: word as u8,
            slots: (word >> 8) as u16,
            small: (word >> 24) as u8,
            id: (word >> 32) as u32,
        }
    }
}

/// The begin or end of a span, encoded as one word: bit 7 is set (no [`Tag`] has it), bit 6 is set for an end, bits 0
/// to 5 hold the depth modulo 64, bits 8 to 27 the call site, and bits 28 to 63 the low 36 bits of the ticks. The
/// decoded ticks are the first value with these bits that is not before the base ticks of the `RECORDS` block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// Whether it is an end.
    pub is_end: bool,
    /// The position of the span among the open spans, modulo 64.
    pub depth: u8,
    /// The call site.
    pub site: u32,
    /// The time, in ticks.
    pub ticks: u64,
}

impl Short {
    const TICKS_BITS: u32 = 36;
    const SITE_BITS: u32 = 20;

    /// Whether a call site and a time fit into one word, relative to the base ticks.
    #[inline(always)]
    pub const fn fits(site: u32, ticks: u64, base: u64) -> bool {
        (site >> Short::SITE_BITS) as u64 | ticks.wrapping_sub(base) >> Short::TICKS_BITS == 0
    }

    /// Encodes the word. The call site and the ticks must [fit](Short::fits).
    #[inline(always)]
    pub const fn pack(is_end: bool, depth: u8, site: u32, ticks: u64) -> u64 {
        0x80 | (is_end as u64) << 6
            | (depth & 63) as u64
            | (site as u64) << 8
            | ticks << (u64::BITS - Short::TICKS_BITS)
    }

    /// Decodes a word. Returns `None` if it is a tagged word of a slot.
    pub const fn decode(word: u64, base: u64) -> Option<Short> {
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

/// The kind of event that a call site records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SpanKind {
    /// An operator: `cpu_op`.
    Op = 0,
    /// A user annotation or a step: `user_annotation`.
    Annotation = 1,
    /// A module call: `python_function`, as torch records calls of `nn.Module`.
    Module = 2,
    /// Anything else: an instant event, a counter, a flow, an asynchronous span.
    Other = 3,
}

impl SpanKind {
    /// The kind with this number; [`SpanKind::Other`] for unknown numbers.
    pub fn from_number(number: u8) -> SpanKind {
        [SpanKind::Op, SpanKind::Annotation, SpanKind::Module]
            .into_iter()
            .find(|k| *k as u8 == number)
            .unwrap_or(SpanKind::Other)
    }
}

/// What a flow connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Flow {
    /// What the program says.
    Program = 0,
    /// The spans in which the asynchronous span with the id of the flow ran.
    Polls = 1,
    /// A span, and one that follows from it.
    Follows = 2,
}

impl Flow {
    /// The kind of flow with this number; [`Flow::Program`] for unknown numbers.
    pub fn from_number(number: u8) -> Flow {
        [Flow::Polls, Flow::Follows].into_iter().find(|k| *k as u8 == number).unwrap_or(Flow::Program)
    }
}

/// The predefined names, which need no `NAMES` block. The id of a name is its index.
pub const KEYS: [&str; 22] = [
    "", // the name of the record itself, if it differs from the call site's
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
    "cut arguments",
    "Record function id",
    "Tensor ids",
    "Output Dims",
    "Output type",
    "Output Strides",
];

/// The ids of [`KEYS`] that the reader interprets.
pub mod key {
    /// The name of the record itself.
    pub const NAME: u32 = 0;
    /// Shapes of the inputs.
    pub const INPUT_DIMS: u32 = 1;
    /// Types of the inputs.
    pub const INPUT_TYPE: u32 = 2;
    /// Strides of the inputs.
    pub const INPUT_STRIDES: u32 = 3;
    /// Values of the non-tensor inputs.
    pub const CONCRETE_INPUTS: u32 = 4;
    /// The sequence number that a forward operator shares with its backward operator.
    pub const SEQUENCE_NUMBER: u32 = 5;
    /// In a backward operator, the thread of its forward operator.
    pub const FWD_THREAD_ID: u32 = 6;
    /// Floating point operations.
    pub const FLOPS: u32 = 7;
    /// Stack frames, innermost first, each followed by `;`.
    pub const CALL_STACK: u32 = 8;
    /// The id that device work refers to.
    pub const EXTERNAL_ID: u32 = 9;
    /// The frame of a module.
    pub const MODULE: u32 = 10;
    /// The only series of a counter.
    pub const VALUE: u32 = 11;
    /// The level of a log event.
    pub const LEVEL: u32 = 14;
    /// The target (module path) of a log event.
    pub const TARGET: u32 = 15;
    /// The number of arguments that were cut or left out because the record was too long.
    pub const CUT: u32 = 16;
    /// The id of an operator in execution traces. It is the first argument, or follows the external id.
    pub const RECORD_FUNCTION_ID: u32 = 17;
    /// The tensor, storage, offset and device of each input or output.
    pub const TENSOR_IDS: u32 = 18;
    /// Shapes of the outputs.
    pub const OUTPUT_DIMS: u32 = 19;
    /// Types of the outputs.
    pub const OUTPUT_TYPE: u32 = 20;
    /// Strides of the outputs.
    pub const OUTPUT_STRIDES: u32 = 21;
}

/// The first id that a `NAMES` block may define.
pub const FIRST_NAME: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_words_round_trip_and_differ_from_tagged_words() {
        let base = u64::MAX / 3;
        for (after, site) in [(0, 1), (1, 77), ((1 << 36) - 1, (1 << 20) - 1)] {
            assert!(Short::fits(site, base + after, base));
            let expected = Short { is_end: site == 77, depth: 63, site, ticks: base + after };
            let word = Short::pack(expected.is_end, 63, site, base + after);
            assert_eq!(Short::decode(word, base), Some(expected));
        }
        assert!(!Short::fits(1, base + (1 << 36), base));
        assert!(!Short::fits(1, base - 1, base));
        assert!(!Short::fits(1 << 20, base, base));
        for tag in (0..=u8::MAX).filter_map(Tag::from_number) {
            assert_eq!(Short::decode(Word::pack(tag, u16::MAX, u8::MAX, u32::MAX), 0), None);
        }
    }
}
