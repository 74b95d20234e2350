//! Writes files under a temporary name first, so that no program reads an incomplete one and a failed write leaves the
//! previous file as it was.

use crate::io_error::with_path;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that takes its name when it is complete.
#[derive(Debug)]
pub(crate) struct Replacement {
    file: File,
    path: PathBuf,
    /// The temporary name; `None` for something that is not a regular file, such as a pipe, which is written directly.
    unfinished: Option<PathBuf>,
}

impl Replacement {
    /// Creates the file under its temporary name: `NAME.PID.unfinished` in the same folder.
    ///
    /// # Errors
    /// Returns an error with the path if the file cannot be created.
    pub(crate) fn create(path: &Path) -> io::Result<Replacement> {
        let known = fs::metadata(path).ok();
        if known.as_ref().is_some_and(|known| !known.is_file()) {
            let file = File::create(path).map_err(with_path(path))?;
            return Ok(Replacement { file, path: path.to_owned(), unfinished: None });
        }
        // The file that a link leads to is replaced, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.unfinished", std::process::id()));
        let unfinished = path.with_file_name(name);
        let file = File::create(&unfinished).map_err(with_path(&path))?;
        if let Some(known) = known {
            let _ = file.set_permissions(known.permissions());
        }
        Ok(Replacement { file, path, unfinished: Some(unfinished) })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Returns an error, without the path, if the file cannot be renamed.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.unfinished.take() {
            Some(unfinished) => {
                fs::rename(&unfinished, &self.path).inspect_err(|_| drop(fs::remove_file(&unfinished)))
            }
            None => Ok(()),
        }
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Replacement {
    /// Removes an incomplete file.
    fn drop(&mut self) {
        if let Some(unfinished) = self.unfinished.take() {
            let _ = fs::remove_file(unfinished);
        }
    }
}

/// Writes a complete file.
///
/// # Errors
/// Returns an error with the path.
#[cfg(feature = "record")]
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = Replacement::create(path)?;
    file.write_all(bytes.as_ref()).map_err(with_path(path))?;
    file.finish().map_err(with_path(path))
}
