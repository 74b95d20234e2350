//! Errors of the operating system that name the file.

use std::io::Error;
use std::path::Path;

/// The error, with the path of the file that it is about.
pub(crate) fn with_path(path: &Path) -> impl FnOnce(Error) -> Error {
    move |error| Error::new(error.kind(), format!("{}: {error}", path.display()))
}
