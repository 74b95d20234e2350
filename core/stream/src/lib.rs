//! The recording format of Kinetoscope (`.ktrace`). The recorder writes it while a program runs, and a file that ends
//! early, because the program was killed, is still readable.
//!
//! ```
//! use kinetoscope_stream::block::{self, BlockKind, Found};
//!
//! let mut file = Vec::new();
//! block::write(&mut file, BlockKind::Meta, 0, br#""pid": 7"#);
//! let Found::Block(found) = block::find(&file) else { panic!("not a block") };
//! assert_eq!((found.kind, found.payload), (BlockKind::Meta, br#""pid": 7"#.as_slice()));
//!
//! // A flipped bit is detected.
//! *file.last_mut().unwrap() ^= 1;
//! assert!(matches!(block::find(&file), Found::Damage));
//! ```
//!
//! # Format
//!
//! A recording is a sequence of [blocks](block) that are appended and never changed. Each block has a checksum, and a
//! reader that finds a damaged block continues at the next one. A block refers only to blocks before it. All numbers
//! are little-endian.
//!
//! | block | payload |
//! |---|---|
//! | `META` | JSON text of one or more members (`"key": value, …`) of the trace's top-level object |
//! | `CLOCK` | pairs of `u64` ticks and `i64` ns since 1970, read at the same instant |
//! | `NAMES` | strings: `u32` id, `u32` length, the bytes, padded to 8 |
//! | `SITES` | call sites: `u32` id, `u32` name, `u32` file, `u32` with the [`SpanKind`](record::SpanKind) in the low byte and the line above it |
//! | `THREAD` | `u64` thread id of the operating system, then the thread's name; records refer to the thread number in the block's head |
//! | `WINDOW` | `u64` ticks of the begin, `u64` of the end (0 while recording), `u64` number of the cycle, `u64` external id of the first span that has none (1 if it is missing) |
//! | `ACTIVITIES` | [activities](activity) of devices |
//! | `DEVICE_CLOCK` | pairs of `u64` time of the device's clock and `u64` ticks, read at the same instant |
//! | `RECORDS` | `u64` base ticks, which no record precedes, then [records](record) of the block's thread, in order |
//!
//! A recording in which no `WINDOW` has an end was cut off. Times are ticks of the recorder's clock. Readers
//! interpolate between the readings in `CLOCK` blocks, so the clock's frequency is not part of the format.
//!
//! # Main types
//!
//! | type | what it is |
//! |---|---|
//! | [`block::Block`], [`block::find`], [`block::write`] | a block, and how to read and append one |
//! | [`record::Tag`], [`record::Word`], [`record::Short`] | the encoding of records |
//! | [`records::Records`] | the records of a block, decoded one after the other |
//! | [`ring::Ring`] | the last seconds of a recording |
//! | [`activity::Activity`], [`activity::Record`] | kinds of device activities, and a decoded one |
//!
//! # Features
//!
//! The crate is `no_std`.
//!
//! | feature | what it adds |
//! |---|---|
//! | `block` (default) | blocks and their checksums; needs `alloc`. Without it the crate has no dependencies |
//!
//! # Limits
//!
//! - The maximum length of a payload is [`block::LONGEST`]; a longer one counts as damage.
//! - A record has at most 65,535 slots or words after its head.
//! - A span takes 16 bytes: one [`record::Short`] for its begin and one for its end. It takes slots instead if it has
//!   arguments, if its call site id needs more than 20 bits, or if it is 2^36 ticks or more after the block's base.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "block")]
extern crate alloc;

pub mod activity;
#[cfg(feature = "block")]
pub mod block;
pub mod record;
#[cfg(feature = "block")]
pub mod records;
#[cfg(feature = "block")]
pub mod ring;
