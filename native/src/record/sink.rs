//! Where a recording goes: memory, a file, or the last seconds of it in a ring.

use super::chunk::Chunk;
use super::ring::Ring;
use kinetoscope_stream::block::{self, BlockKind, HEAD_BYTES};
use kinetoscope_stream::record::WORD_BYTES;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// What comes before the records of a block: its head, and the ticks that no record is before.
const RECORDS_HEAD_BYTES: usize = HEAD_BYTES + WORD_BYTES;

/// Records of a thread, where the thread wrote them: published words of its chunk.
pub(super) struct Records {
    pub(super) thread: u32,
    pub(super) chunk: &'static Chunk,
    pub(super) words: Range<usize>,
}

impl Records {
    fn len(&self) -> usize {
        RECORDS_HEAD_BYTES + self.words.len() * WORD_BYTES
    }

    /// The block that they are: what comes before the records, and the records.
    fn with_block<T>(&self, write: impl FnOnce(&[u8], &[u8]) -> T) -> T {
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
pub(super) struct Batch {
    /// Blocks of what records refer to.
    pub(super) definitions: Vec<u8>,
    /// Blocks of readings of the clock, and of what was dropped.
    pub(super) notes: Vec<u8>,
    /// Blocks of what devices did.
    pub(super) activities: Vec<u8>,
    /// Records, not copied yet.
    pub(super) records: Vec<Records>,
    /// When they were collected, in ticks.
    pub(super) ticks: u64,
    /// How many records these are.
    pub(super) count: u64,
}

impl Batch {
    /// Its size in bytes.
    pub(super) fn len(&self) -> usize {
        let records = self.records.iter().map(Records::len).sum::<usize>();
        self.definitions.len() + self.notes.len() + self.activities.len() + records
    }

    /// The blocks of what happened: activities and records.
    pub(super) fn events(&self) -> Vec<u8> {
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

/// Where a recording goes.
#[derive(Debug)]
pub(super) enum Sink {
    /// Memory, up to so many bytes.
    Memory { pieces: Vec<Vec<u8>>, bytes: usize, limit: usize },
    /// A file, from this offset on.
    File { file: File, start: u64, error: Option<io::Error>, is_durable: bool },
    /// Memory, of which only the last is kept.
    Ring(Ring),
}

impl Sink {
    /// In memory, up to so many bytes.
    pub(super) fn memory(limit: usize) -> Sink {
        Sink::Memory { pieces: Vec::new(), bytes: 0, limit }
    }

    /// The file's present end is where the recording begins.
    pub(super) fn file(mut file: File, is_durable: bool) -> io::Result<Sink> {
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Sink::File { file, start, error: None, is_durable })
    }

    /// Appends a batch; the number of records that found no room.
    pub(super) fn append(&mut self, batch: &Batch) -> u64 {
        match self {
            Sink::Memory { pieces, bytes, limit } => {
                let is_full = *bytes + batch.len() > *limit;
                let events = if is_full { Vec::new() } else { batch.events() };
                for piece in [batch.definitions.clone(), batch.notes.clone(), events] {
                    *bytes += piece.len();
                    pieces.extend(Some(piece).filter(|piece| !piece.is_empty()));
                }
                if is_full { batch.count } else { 0 }
            }
            Sink::File { file, error, is_durable, .. } => {
                if error.is_none() {
                    *error = write(file, batch, *is_durable).err();
                }
                if error.is_some() { batch.count } else { 0 }
            }
            Sink::Ring(ring) => {
                ring.append(batch);
                0
            }
        }
    }

    /// The bytes of the recording.
    pub(super) fn into_bytes(self) -> io::Result<Vec<u8>> {
        match self {
            Sink::Memory { pieces, .. } => Ok(pieces.concat()),
            Sink::Ring(ring) => Ok(ring.bytes()),
            Sink::File { error: Some(error), .. } => Err(error),
            Sink::File { mut file, start, .. } => {
                let mut bytes = Vec::new();
                file.seek(SeekFrom::Start(start))?;
                file.read_to_end(&mut bytes)?;
                Ok(bytes)
            }
        }
    }
}

/// What records refer to comes first, so that a file is readable wherever it is cut.
fn write(file: &mut File, batch: &Batch, is_durable: bool) -> io::Result<()> {
    file.write_all(&batch.definitions)?;
    file.write_all(&batch.notes)?;
    file.write_all(&batch.activities)?;
    for records in &batch.records {
        records.with_block(|head, records| file.write_all(head).and_then(|()| file.write_all(records)))?;
    }
    if is_durable && batch.len() > 0 { file.sync_data() } else { Ok(()) }
}

/// Appends a block whose payload is written by `fill`.
pub(super) fn block(out: &mut Vec<u8>, kind: BlockKind, thread: u32, fill: impl FnOnce(&mut Vec<u8>)) {
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
pub(super) fn meta(out: &mut Vec<u8>, members: &str) {
    block::write(out, BlockKind::Meta, 0, members.as_bytes());
}
