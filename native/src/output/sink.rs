//! The sink of a recording: memory, a file, or a ring buffer with its last seconds.

use crate::output::batch::Batch;
use crate::output::ring::Ring;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// The sink of a recording.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Memory, up to `limit` bytes.
    Memory { pieces: Vec<Vec<u8>>, bytes: usize, limit: usize },
    /// A file. The recording begins at the offset `start`; `error` is the first error of a write.
    File { file: File, start: u64, error: Option<io::Error>, is_durable: bool },
    /// A ring buffer in memory.
    Ring(Ring),
}

impl Sink {
    /// Creates a sink in memory, up to this many bytes.
    pub(crate) fn memory(limit: usize) -> Sink {
        Sink::Memory { pieces: Vec::new(), bytes: 0, limit }
    }

    /// Creates a sink that appends to a file.
    pub(crate) fn file(mut file: File, is_durable: bool) -> io::Result<Sink> {
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Sink::File { file, start, error: None, is_durable })
    }

    /// Appends a batch. Returns the number of records that were dropped, because memory is full or a write failed.
    pub(crate) fn append(&mut self, batch: &Batch) -> u64 {
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

    /// Returns the bytes of the recording.
    pub(crate) fn into_bytes(self) -> io::Result<Vec<u8>> {
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

/// Writes a batch to a file. Definitions come before the records that refer to them, so that a file can be read
/// wherever it is cut.
fn write(file: &mut File, batch: &Batch, is_durable: bool) -> io::Result<()> {
    file.write_all(&batch.definitions)?;
    file.write_all(&batch.notes)?;
    file.write_all(&batch.activities)?;
    for records in &batch.records {
        records.with_block(|head, records| file.write_all(head).and_then(|()| file.write_all(records)))?;
    }
    if is_durable && batch.len() > 0 { file.sync_data() } else { Ok(()) }
}
