//! Writes to files and standard output, with gzip if the file name ends in `.gz`.

use crate::io_error::with_path;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

enum Sink {
    Plain(Box<dyn Write>),
    Gzip(Box<GzEncoder<Box<dyn Write>>>),
}

/// A [`fmt::Write`] for a file or standard output. The first error is kept and returned by [`Output::finish`].
pub struct Output {
    sink: Sink,
    path: Option<PathBuf>,
    error: Option<io::Error>,
}

impl Output {
    /// Creates the file, or writes to standard output without a path. If the name ends in `.gz`, the output is
    /// compressed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created or its name ends in `.zst`: zstd can be read, but not written.
    pub fn create(path: Option<&Path>) -> io::Result<Output> {
        let Some(path) = path else {
            let plain = Box::new(BufWriter::with_capacity(64 << 10, io::stdout()));
            return Ok(Output { sink: Sink::Plain(plain), path: None, error: None });
        };
        let extension = path.extension().unwrap_or_default();
        if extension.eq_ignore_ascii_case("zst") {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "zstd is read, but not written: use .gz");
            return Err(with_path(path)(error));
        }
        let file = File::create(path).map_err(with_path(path))?;
        let plain = Box::new(BufWriter::with_capacity(256 << 10, file));
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
                Sink::Plain(plain) => plain.write_all(bytes),
                Sink::Gzip(gzip) => gzip.write_all(bytes),
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
        let ended = match self.sink {
            Sink::Plain(mut plain) => plain.flush(),
            Sink::Gzip(gzip) => gzip.finish().and_then(|mut plain| plain.flush()),
        };
        match self.error.map_or(ended, Err) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(|error| match &self.path {
                Some(path) => with_path(path)(error),
                None => error,
            }),
        }
    }
}

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.write(text.as_bytes()) { Ok(()) } else { Err(fmt::Error) }
    }
}
