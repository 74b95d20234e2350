//! The recorder's own byte format: what it writes while a program runs, and what is left when the program is killed.
//!
//! A recording is a sequence of [blocks](block), appended and never changed. Each block stands for itself: a checksum tells
//! whether it is whole, and a reader that finds damage goes on at the next block. What a block refers to was written
//! before it. All numbers are little-endian.
//!
//! | block | payload |
//! |---|---|
//! | `META` | JSON text of one or more members (`"key": value, …`) of the trace's top-level object |
//! | `CLOCK` | pairs of `u64` ticks and `i64` ns since 1970: the clock's readings at one moment |
//! | `NAMES` | texts: `u32` id, `u32` length, the bytes, padded to 8 |
//! | `SITES` | call sites: `u32` id, `u32` name, `u32` file, `u32` with the line above and the [`Kind`](record::Kind) in the low byte |
//! | `THREAD` | `u64` the system's thread id, then the thread's name; the block's thread number is what records refer to |
//! | `WINDOW` | `u64` ticks of the start, `u64` of the end (0 while recording), `u64` number of the cycle |
//! | `ACTIVITIES` | [activities](activity) of devices |
//! | `DEVICE_CLOCK` | pairs of `u64` time of the device's clock and `u64` ticks at one moment |
//! | `RECORDS` | `u64` ticks that no record is before, then [records](record) of the block's thread, in order |
//!
//! A recording without a `WINDOW` that has an end was cut. Times are ticks of whatever clock the recorder had; between two
//! readings of `CLOCK` they are interpolated, so a reader knows no clock's frequency.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "block")]
extern crate alloc;

pub mod activity;
#[cfg(feature = "block")]
pub mod block;
pub mod record;
