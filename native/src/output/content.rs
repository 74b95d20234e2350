//! The content of a finished recording, in memory or in its file.

use crate::io_error::with_path;
use crate::replace::{self, Access, Replacement};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The content of a finished recording.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The bytes.
    Memory(Vec<u8>),
    /// A part of a file.
    File { path: PathBuf, start: u64, length: u64 },
}

impl Content {
    /// Opens the content for reading. Errors have the path.
    pub(crate) fn reader(&self) -> io::Result<Box<dyn Read + '_>> {
        match self {
            Content::Memory(bytes) => Ok(Box::new(bytes.as_slice())),
            Content::File { path, start, length } => {
                let mut file = File::open(path).map_err(with_path(path))?;
                file.seek(SeekFrom::Start(*start)).map_err(with_path(path))?;
                Ok(Box::new(file.take(*length)))
            }
        }
    }

    /// Returns the bytes.
    pub(crate) fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the content to a file. Errors have the path.
    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        match self {
            Content::Memory(bytes) => replace::write(path, bytes),
            Content::File { .. } => {
                let mut file = Replacement::create(path, Access::Owner).map_err(with_path(path))?;
                io::copy(&mut self.reader()?, &mut file).map_err(with_path(path))?;
                file.finish().map_err(with_path(path))
            }
        }
    }

    /// Appends the content of the next recording of the same profiler. Parts of a file follow each other.
    pub(crate) fn append(&mut self, next: Content) {
        match (&mut *self, next) {
            (Content::Memory(bytes), Content::Memory(mut more)) => bytes.append(&mut more),
            (Content::File { length, start, .. }, Content::File { start: next, length: more, .. }) => {
                *length = next.saturating_sub(*start) + more;
            }
            (current, next) => *current = next,
        }
    }
}
