//! A batch: what the writer writes at once. It consists of blocks and of references to records in the chunks of their
//! threads.

use crate::hot::chunk::Chunk;
use kinetoscope_stream::block::{self, BlockKind, HEAD_BYTES};
use kinetoscope_stream::record::WORD_BYTES;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// The bytes before the records of a block: the block's head, and the base of the records' ticks.
const RECORDS_HEAD_BYTES: usize = HEAD_BYTES + WORD_BYTES;

/// A reference to records of a thread: published words of its chunk.
pub(crate) struct Records {
    pub(crate) thread: u32,
    pub(crate) chunk: &'static Chunk,
    pub(crate) words: Range<usize>,
}

impl Records {
    fn len(&self) -> usize {
        RECORDS_HEAD_BYTES + self.words.len() * WORD_BYTES
    }

    /// Returns the payload of the block of these records.
    pub(crate) fn payload(&self) -> Vec<u8> {
        self.with_block(|head, records| [&head[HEAD_BYTES..], records].concat())
    }

    /// Passes the block of these records to `write`: the bytes before the records, and the records.
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

/// What is written at once, in the order of the fields.
#[derive(Default)]
pub(crate) struct Batch {
    /// Blocks of names, call sites and threads, which records refer to.
    pub(crate) definitions: Vec<u8>,
    /// Blocks of clock readings, and of the number of dropped records.
    pub(crate) notes: Vec<u8>,
    /// Blocks of device activities.
    pub(crate) activities: Vec<u8>,
    /// Records, which are not copied yet.
    pub(crate) records: Vec<Records>,
    /// The time at which the batch was collected, in ticks.
    pub(crate) ticks: u64,
    /// The threads that have ended. Their records are in this batch and in earlier ones.
    pub(crate) ended: Vec<u32>,
    /// The number of records.
    pub(crate) count: u64,
    /// The number of activities.
    pub(crate) activity_count: u64,
}

impl Batch {
    /// Returns the size in bytes.
    pub(crate) fn len(&self) -> usize {
        let records = self.records.iter().map(Records::len).sum::<usize>();
        self.definitions.len() + self.notes.len() + self.activities.len() + records
    }

    /// Returns the blocks of activities and records.
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

/// Appends a block whose payload is written by `fill`. A block with an empty payload is left out.
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

/// Appends a block of members of the trace's top-level object.
pub(crate) fn meta(out: &mut Vec<u8>, members: &str) {
    block::write(out, BlockKind::Meta, 0, members.as_bytes());
}
