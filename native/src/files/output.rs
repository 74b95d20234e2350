//! Writes to files and standard output, with gzip if the file name ends in `.gz`.

use crate::io_error::with_path;
use crate::replace::{Access, Replacement};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

enum Sink {
    Standard(BufWriter<io::Stdout>),
    Plain(BufWriter<Replacement>),
    Gzip(Box<GzEncoder<BufWriter<Replacement>>>),
}

/// A [`fmt::Write`] for a file or standard output. The first error is kept and returned by [`Output::finish`]. A file has
/// another name until it is complete: a failed write leaves no incomplete file.
pub struct Output {
    sink: Sink,
    path: Option<PathBuf>,
    error: Option<io::Error>,
}

impl Output {
    /// Creates the file, or writes to standard output without a path or with `-`. If the name ends in `.gz`, the output is
    /// compressed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created or its name ends in `.zst`: zstd can be read, but not written.
    pub fn create(path: Option<&Path>) -> io::Result<Output> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            let standard = BufWriter::with_capacity(64 << 10, io::stdout());
            return Ok(Output { sink: Sink::Standard(standard), path: None, error: None });
        };
        let extension = path.extension().unwrap_or_default();
        if extension.eq_ignore_ascii_case("zst") {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "zstd is read, but not written: use .gz");
            return Err(with_path(path)(error));
        }
        let plain = BufWriter::with_capacity(
            256 << 10,
            Replacement::create(path, Access::Umask).map_err(with_path(path))?,
        );
        let sink = if extension.eq_ignore_ascii_case("gz") {
            Sink::Gzip(Box::new(GzEncoder::new(plain, Compression::default())))
        } else {
            Sink::Plain(plain)
        };
        Ok(Output { sink, path: Some(path.to_path_buf()), error: None })
    }

    /// Writes bytes. Returns whether they were written; [`Output::finish`] returns the error.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        if self.error.is_none() {
            let written = match &mut self.sink {
                Sink::Standard(standard) => standard.write_all(bytes),
                Sink::Plain(plain) => plain.write_all(bytes),
                Sink::Gzip(gzip) => gzip.write_all(bytes),
            };
            self.error = written.err();
        }
        self.error.is_none()
    }

    /// Writes what is held in memory. Returns whether it was written; [`Output::finish`] returns the error.
    pub fn write_through(&mut self) -> bool {
        if self.error.is_none() {
            let written = match &mut self.sink {
                Sink::Standard(standard) => standard.flush(),
                Sink::Plain(plain) => plain.flush(),
                // The end of a compressed file is written by `finish`.
                Sink::Gzip(_) => Ok(()),
            };
            self.error = written.err();
        }
        self.error.is_none()
    }

    /// Finishes the output.
    ///
    /// # Errors
    /// Returns the first error of any write. A closed pipe is not an error.
    pub fn finish(self) -> io::Result<()> {
        let written = self.error.map_or(Ok(()), Err);
        let ended = match self.sink {
            Sink::Standard(mut standard) => written.and_then(|()| standard.flush()),
            Sink::Plain(plain) => written.and_then(|()| complete(plain)),
            Sink::Gzip(gzip) => written.and_then(|()| gzip.finish()).and_then(complete),
        };
        match (ended, &self.path) {
            (Err(error), _) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            (Err(error), Some(path)) => Err(with_path(path)(error)),
            (ended, _) => ended,
        }
    }
}

fn complete(plain: BufWriter<Replacement>) -> io::Result<()> {
    plain.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
}

impl Write for Output {
    /// Writes to the output. The error has the path.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if Output::write(self, bytes) {
            return Ok(bytes.len());
        }
        let kind = self.error.as_ref().map_or(io::ErrorKind::Other, io::Error::kind);
        let error = io::Error::new(kind, self.error.as_ref().map(ToString::to_string).unwrap_or_default());
        Err(self.path.as_deref().map_or_else(|| io::Error::from(kind), |path| with_path(path)(error)))
    }

    /// Does nothing: [`Output::finish`] writes what is left.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.write(text.as_bytes()) { Ok(()) } else { Err(fmt::Error) }
    }
}
