//! I/O errors with the path of the file.

use std::io::Error;
use std::path::Path;

/// Returns a function that puts the path before the message of an I/O error.
pub(crate) fn with_path(path: &Path) -> impl FnOnce(Error) -> Error {
    move |error| Error::new(error.kind(), format!("{}: {error}", path.display()))
}
