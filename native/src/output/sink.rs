//! The sink of a recording: memory, a file, or a ring buffer with its last seconds.

use crate::output::batch::Batch;
use crate::output::ring::Ring;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// The sink of a recording.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Memory, up to `limit` bytes. Nothing is kept after the first batch that exceeds it, so that the recording is complete
    /// until then.
    Memory { pieces: Vec<Vec<u8>>, bytes: usize, limit: usize, is_full: bool },
    /// A file. The recording begins at the offset `start`; `error` is the first error of a write.
    File { file: File, start: u64, error: Option<io::Error>, is_durable: bool },
    /// A ring buffer in memory.
    Ring(Ring),
}

impl Sink {
    /// Creates a sink in memory, up to this many bytes.
    pub(crate) fn memory(limit: usize) -> Sink {
        Sink::Memory { pieces: Vec::new(), bytes: 0, limit, is_full: false }
    }

    /// Creates a sink that appends to a file.
    pub(crate) fn file(mut file: File, is_durable: bool) -> io::Result<Sink> {
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Sink::File { file, start, error: None, is_durable })
    }

    /// Appends a batch. Returns whether its events are kept: memory may be full, or a write may have failed.
    pub(crate) fn append(&mut self, batch: &Batch) -> bool {
        match self {
            Sink::Memory { pieces, bytes, limit, is_full } => {
                *is_full |= *bytes + batch.len() > *limit;
                let events = if *is_full { Vec::new() } else { batch.events() };
                for piece in [batch.definitions.clone(), batch.notes.clone(), events] {
                    *bytes += piece.len();
                    pieces.extend(Some(piece).filter(|piece| !piece.is_empty()));
                }
                !*is_full
            }
            Sink::File { file, error, is_durable, .. } => {
                if error.is_none() {
                    *error = write(file, batch, *is_durable).err();
                }
                error.is_none()
            }
            Sink::Ring(ring) => {
                ring.append(batch);
                true
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
