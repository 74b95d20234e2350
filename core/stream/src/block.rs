//! Blocks: how a recording is cut into pieces that can be told from damage.
//!
//! A block is a head of 24 bytes and its payload: [`MAGIC`], `u32` [`BlockKind`], `u32` thread, `u32` length of the payload,
//! `u64` XXH64 of the payload, seeded with the three numbers before it.

use alloc::vec::Vec;
use core::hash::Hasher;
use twox_hash::XxHash64;

/// What every block begins with.
pub const MAGIC: [u8; 4] = *b"KTS1";

/// How long a block's head is, in bytes.
pub const HEAD_BYTES: usize = 24;

/// The longest payload that is believed, in bytes.
pub const LONGEST: usize = 16 << 20;

/// What a block holds; see [`stream`](super).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BlockKind {
    /// Members of the trace's top-level object.
    Meta = 1,
    /// Readings of the clock.
    Clock = 2,
    /// Texts.
    Names = 3,
    /// Call sites.
    Sites = 4,
    /// A thread.
    Thread = 5,
    /// When recording began and ended.
    Window = 6,
    /// What a thread recorded.
    Records = 7,
    /// What devices did.
    Activities = 8,
    /// Readings of the devices' clock.
    DeviceClock = 9,
}

impl BlockKind {
    fn of(number: u32) -> Option<BlockKind> {
        use BlockKind::{Activities, Clock, DeviceClock, Meta, Names, Records, Sites, Thread, Window};
        [Meta, Clock, Names, Sites, Thread, Window, Records, Activities, DeviceClock]
            .into_iter()
            .find(|kind| *kind as u32 == number)
    }
}

fn checksum(kind: u32, thread: u32, payload: [&[u8]; 2]) -> u64 {
    let length = payload[0].len() + payload[1].len();
    let seed = u64::from(kind) << 56 ^ u64::from(thread) << 24 ^ length as u64;
    let mut hasher = XxHash64::with_seed(seed);
    hasher.write(payload[0]);
    hasher.write(payload[1]);
    hasher.finish()
}

/// The head of a block with this payload, which may be in two pieces.
pub fn head(kind: BlockKind, thread: u32, payload: [&[u8]; 2]) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(&MAGIC);
    head[4..8].copy_from_slice(&(kind as u32).to_le_bytes());
    head[8..12].copy_from_slice(&thread.to_le_bytes());
    head[12..16].copy_from_slice(&((payload[0].len() + payload[1].len()) as u32).to_le_bytes());
    head[16..].copy_from_slice(&checksum(kind as u32, thread, payload).to_le_bytes());
    head
}

/// Appends a block.
pub fn write(out: &mut Vec<u8>, kind: BlockKind, thread: u32, payload: &[u8]) {
    out.extend_from_slice(&head(kind, thread, [payload, &[]]));
    out.extend_from_slice(payload);
}

/// A block that is whole.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// What it holds.
    pub kind: BlockKind,
    /// The number of the thread it is of.
    pub thread: u32,
    /// What it holds.
    pub payload: &'a [u8],
}

/// What stands at the start of some bytes.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A block.
    Block(Block<'a>),
    /// The start of a block that needs so many bytes in all.
    Partial(usize),
    /// No block.
    Damage,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// The little-endian number at this place; 0 behind the end.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// The first of the two halves of [`u64_at`].
pub fn low_at(bytes: &[u8], at: usize) -> u32 {
    u32_at(bytes, at)
}

/// Looks at the start of `bytes`.
pub fn find(bytes: &[u8]) -> Found<'_> {
    let known = bytes.len().min(MAGIC.len());
    if bytes[..known] != MAGIC[..known] {
        return Found::Damage;
    }
    if bytes.len() < HEAD_BYTES {
        return Found::Partial(HEAD_BYTES);
    }
    let (number, thread, length) = (u32_at(bytes, 4), u32_at(bytes, 8), u32_at(bytes, 12) as usize);
    let Some(kind) = BlockKind::of(number).filter(|_| length <= LONGEST) else { return Found::Damage };
    let Some(payload) = bytes.get(HEAD_BYTES..HEAD_BYTES + length) else {
        return Found::Partial(HEAD_BYTES + length);
    };
    // A fuzzer finds no checksums; what is behind them has to hold too.
    if cfg!(fuzzing) || checksum(number, thread, [payload, &[]]) == u64_at(bytes, 16) {
        Found::Block(Block { kind, thread, payload })
    } else {
        Found::Damage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut bytes = Vec::new();
        write(&mut bytes, BlockKind::Records, 7, b"sixteen bytes ok");
        assert!(
            matches!(find(&bytes), Found::Block(block) if block.thread == 7 && block.payload.len() == 16)
        );
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(find(&bytes), Found::Block(_)), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..bytes.len() {
            assert!(matches!(find(&bytes[..length]), Found::Partial(n) if n > length), "{length} bytes");
        }
    }
}
