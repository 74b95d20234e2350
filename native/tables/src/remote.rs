//! Traces in object stores.

use crate::error::Error;
use crate::place::store::Store;
use std::path::Path;

/// A file or a prefix of an object store, such as `s3://bucket/run`.
#[derive(Debug)]
pub struct Remote {
    store: Store,
}

impl Remote {
    /// Returns the place of an address; `None` for a path.
    ///
    /// # Errors
    /// Returns [`Error::Place`] for an address of an unknown kind.
    pub fn from_path(path: &Path) -> Result<Option<Remote>, Error> {
        crate::place::address(path).map(|address| Ok(Remote { store: Store::open(address)? })).transpose()
    }

    /// The address without credentials.
    pub fn name(&self) -> String {
        self.store.name()
    }

    /// The names of the files, sorted: one with an empty name if the address is that of a file.
    ///
    /// # Errors
    /// Returns [`Error::Place`] if they cannot be listed.
    pub fn files(&self) -> Result<Vec<String>, Error> {
        let files = self.store.files()?;
        Ok(if files.is_empty() { vec![String::new()] } else { files })
    }

    /// Writes a file to a path.
    ///
    /// # Errors
    /// Returns [`Error::Place`] if it cannot be read, [`Error::Io`] if it cannot be written.
    pub fn download(&self, name: &str, to: &Path) -> Result<(), Error> {
        self.store.download(name, to)
    }
}
