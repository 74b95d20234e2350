//! What is written at once: blocks, and records where their threads wrote them.

use crate::hot::chunk::Chunk;
use kinetoscope_stream::block::{self, BlockKind, HEAD_BYTES};
use kinetoscope_stream::record::WORD_BYTES;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// What comes before the records of a block: its head, and the ticks that no record is before.
const RECORDS_HEAD_BYTES: usize = HEAD_BYTES + WORD_BYTES;

/// Records of a thread, where the thread wrote them: published words of its chunk.
pub(crate) struct Records {
    pub(crate) thread: u32,
    pub(crate) chunk: &'static Chunk,
    pub(crate) words: Range<usize>,
}

impl Records {
    fn len(&self) -> usize {
        RECORDS_HEAD_BYTES + self.words.len() * WORD_BYTES
    }

    /// The block that they are: what comes before the records, and the records.
    pub(crate) fn with_block<T>(&self, write: impl FnOnce(&[u8], &[u8]) -> T) -> T {
        let base = self.chunk.base.load(Ordering::Relaxed).to_le_bytes();
        self.chunk.read(self.words.clone(), |records| {
            let mut head = [0; RECORDS_HEAD_BYTES];
            head[..HEAD_BYTES].copy_from_slice(&block::head(
                BlockKind::Records,
                self.thread,
                [&base, records],
            ));
            head[HEAD_BYTES..].copy_from_slice(&base);
            write(&head, records)
        })
    }
}

/// What is written at once, in the order of its fields.
#[derive(Default)]
pub(crate) struct Batch {
    /// Blocks of what records refer to.
    pub(crate) definitions: Vec<u8>,
    /// Blocks of readings of the clock, and of what was dropped.
    pub(crate) notes: Vec<u8>,
    /// Blocks of what devices did.
    pub(crate) activities: Vec<u8>,
    /// Records, not copied yet.
    pub(crate) records: Vec<Records>,
    /// When they were collected, in ticks.
    pub(crate) ticks: u64,
    /// How many records these are.
    pub(crate) count: u64,
}

impl Batch {
    /// Its size in bytes.
    pub(crate) fn len(&self) -> usize {
        let records = self.records.iter().map(Records::len).sum::<usize>();
        self.definitions.len() + self.notes.len() + self.activities.len() + records
    }

    /// The blocks of what happened: activities and records.
    pub(crate) fn events(&self) -> Vec<u8> {
        let records = self.records.iter().map(Records::len).sum::<usize>();
        let mut out = Vec::with_capacity(self.activities.len() + records);
        out.extend_from_slice(&self.activities);
        for records in &self.records {
            records.with_block(|head, records| {
                out.extend_from_slice(head);
                out.extend_from_slice(records);
            });
        }
        out
    }
}

/// Appends a block whose payload is written by `fill`.
pub(crate) fn block(out: &mut Vec<u8>, kind: BlockKind, thread: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.resize(start + HEAD_BYTES, 0);
    fill(out);
    let head = block::head(kind, thread, [&out[start + HEAD_BYTES..], &[]]);
    if out.len() == start + HEAD_BYTES {
        out.truncate(start);
    } else {
        out[start..start + HEAD_BYTES].copy_from_slice(&head);
    }
}

/// A block of members of the trace's top-level object.
pub(crate) fn meta(out: &mut Vec<u8>, members: &str) {
    block::write(out, BlockKind::Meta, 0, members.as_bytes());
}
