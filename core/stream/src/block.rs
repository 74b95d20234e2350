//! Blocks: the checksummed units of a recording.
//!
//! A block is a head of 24 bytes and a payload. The head consists of [`MAGIC`], `u32` [`BlockKind`], `u32` thread,
//! `u32` length of the payload, and `u64` XXH64 of the payload, seeded with the three numbers before it.

use alloc::vec::Vec;
use core::hash::Hasher;
use twox_hash::XxHash64;

/// The first bytes of every block.
pub const MAGIC: [u8; 4] = *b"KTS1";

/// The length of a block's head, in bytes.
pub const HEAD_BYTES: usize = 24;

/// The maximum accepted length of a payload, in bytes.
pub const LONGEST: usize = 16 << 20;

/// The contents of a block; see the [crate documentation](super).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BlockKind {
    /// Members of the trace's top-level object.
    Meta = 1,
    /// Readings of the recorder's clock.
    Clock = 2,
    /// Interned strings.
    Names = 3,
    /// Call sites.
    Sites = 4,
    /// A thread.
    Thread = 5,
    /// The begin and end of a recording cycle.
    Window = 6,
    /// Records of a thread.
    Records = 7,
    /// Activities of devices.
    Activities = 8,
    /// Readings of the devices' clock.
    DeviceClock = 9,
}

impl BlockKind {
    fn from_number(number: u32) -> Option<BlockKind> {
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

/// Returns the head of a block with this payload, which may be in two pieces.
pub fn head(kind: BlockKind, thread: u32, payload: [&[u8]; 2]) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(&MAGIC);
    head[4..8].copy_from_slice(&(kind as u32).to_le_bytes());
    head[8..12].copy_from_slice(&thread.to_le_bytes());
    head[12..16].copy_from_slice(&((payload[0].len() + payload[1].len()) as u32).to_le_bytes());
    head[16..].copy_from_slice(&checksum(kind as u32, thread, payload).to_le_bytes());
    head
}

/// Appends a block to `out`.
pub fn write(out: &mut Vec<u8>, kind: BlockKind, thread: u32, payload: &[u8]) {
    out.extend_from_slice(&head(kind, thread, [payload, &[]]));
    out.extend_from_slice(payload);
}

/// A complete block with a valid checksum.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The kind of its contents.
    pub kind: BlockKind,
    /// The number of the thread that recorded it.
    pub thread: u32,
    /// The payload.
    pub payload: &'a [u8],
}

/// The result of [`find`].
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A complete block.
    Block(Block<'a>),
    /// The start of a block that is at least this many bytes long.
    Partial(usize),
    /// Not a block, or a block with an invalid head or checksum.
    Damage,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// The little-endian `u64` at byte `at`. Bytes past the end count as 0.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// The little-endian `u32` at byte `at`: the low half of [`u64_at`].
pub fn low_at(bytes: &[u8], at: usize) -> u32 {
    u32_at(bytes, at)
}

/// Decodes the block at the start of `bytes`.
pub fn find(bytes: &[u8]) -> Found<'_> {
    let known = bytes.len().min(MAGIC.len());
    if bytes[..known] != MAGIC[..known] {
        return Found::Damage;
    }
    if bytes.len() < HEAD_BYTES {
        return Found::Partial(HEAD_BYTES);
    }
    let (number, thread, length) = (u32_at(bytes, 4), u32_at(bytes, 8), u32_at(bytes, 12) as usize);
    let Some(kind) = BlockKind::from_number(number).filter(|_| length <= LONGEST) else {
        return Found::Damage;
    };
    let Some(payload) = bytes.get(HEAD_BYTES..HEAD_BYTES + length) else {
        return Found::Partial(HEAD_BYTES + length);
    };
    // A fuzzer cannot produce valid checksums, so fuzzing skips the check to reach the code behind it.
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
    fn every_flipped_bit_is_detected() {
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
