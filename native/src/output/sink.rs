//! The sink of a recording: memory, a file, or a ring buffer with its last seconds.

use crate::io_error::with_path;
use crate::output::batch::Batch;
use crate::output::content::Content;
use kinetoscope_stream::ring::{Piece, Ring};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The sink of a recording.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Memory, up to `limit` bytes. Nothing is kept after the first batch that exceeds it, so that the recording is complete
    /// until then.
    Memory { pieces: Vec<Vec<u8>>, bytes: usize, limit: usize, is_full: bool },
    /// A file. The recording begins at the offset `start`; `error` is the first error of a write.
    File { file: File, path: PathBuf, start: u64, error: Option<io::Error>, is_durable: bool },
    /// A ring buffer in memory, and the time of its start.
    Ring(Ring, Instant),
}

impl Sink {
    /// Creates a sink in memory, up to this many bytes.
    pub(crate) fn memory(limit: usize) -> Sink {
        Sink::Memory { pieces: Vec::new(), bytes: 0, limit, is_full: false }
    }

    /// Creates a sink that appends to a file.
    pub(crate) fn file(mut file: File, path: &Path, is_durable: bool) -> io::Result<Sink> {
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Sink::File { file, path: path.to_owned(), start, error: None, is_durable })
    }

    /// Creates a ring buffer that keeps what is younger than `keep`, and at most `limit` bytes of it.
    pub(crate) fn ring(keep: Duration, limit: usize) -> Sink {
        Sink::Ring(Ring::new(keep, limit), Instant::now())
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
            Sink::Ring(ring, start) => {
                ring.append(piece(batch, start.elapsed()));
                true
            }
        }
    }

    /// Returns the content of the recording.
    ///
    /// # Errors
    /// Returns the first error of a write, and an error if the file was removed, with its path.
    pub(crate) fn into_content(self) -> io::Result<Content> {
        match self {
            Sink::Memory { pieces, .. } => Ok(Content::Memory(pieces.concat())),
            // What a flight recorder keeps is written on its conditions only.
            Sink::Ring(..) => Ok(Content::Memory(Vec::new())),
            Sink::File { error: Some(error), path, .. } => Err(with_path(&path)(error)),
            Sink::File { mut file, path, start, .. } => {
                let end = file.stream_position().map_err(with_path(&path))?;
                fs::metadata(&path).map_err(with_path(&path))?;
                // A forked child has the file open as well, and would keep the lock.
                let _ = file.unlock();
                Ok(Content::File { path, start, length: end.saturating_sub(start) })
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

fn piece(batch: &Batch, at: Duration) -> Piece {
    Piece {
        at,
        ticks: batch.ticks,
        definitions: batch.definitions.clone(),
        notes: batch.notes.clone(),
        events: batch.events(),
        ended: batch.ended.clone(),
    }
}
