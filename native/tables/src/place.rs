//! Where a data set is: a folder, or with the feature `cloud` a prefix of an object store.

#[cfg(feature = "cloud")]
pub(crate) mod store;

use crate::error::Error;
use kinetoscope::files::{Access, Replacement};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A folder, or a prefix of an object store. Names of files are paths in it, with `/`.
#[derive(Clone, Debug)]
pub(crate) enum DatasetPlace {
    Folder(PathBuf),
    #[cfg(feature = "cloud")]
    Store(store::Store),
}

/// How often a file is written to a folder that other processes remove.
const ATTEMPTS: usize = 100;

impl DatasetPlace {
    /// Returns the place of a path, or of an address such as `s3://bucket/tables`.
    ///
    /// # Errors
    /// Returns [`Error::Place`] for an address of an unknown or unsupported kind.
    pub(crate) fn from_path(path: &Path) -> Result<DatasetPlace, Error> {
        match address(path) {
            None => Ok(DatasetPlace::Folder(path.to_owned())),
            #[cfg(feature = "cloud")]
            Some(address) => Ok(DatasetPlace::Store(store::Store::open(address)?)),
            #[cfg(not(feature = "cloud"))]
            Some(_) => {
                Err(Error::Place("this build has no object stores; it needs the feature `cloud`".to_owned()))
            }
        }
    }

    /// The folder, if it is one.
    #[cfg(feature = "sql")]
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            DatasetPlace::Folder(folder) => Some(folder),
            #[cfg(feature = "cloud")]
            DatasetPlace::Store(_) => None,
        }
    }

    /// The name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            DatasetPlace::Folder(folder) => folder.display().to_string(),
            #[cfg(feature = "cloud")]
            DatasetPlace::Store(store) => store.name(),
        }
    }

    /// Creates it, if it is a folder.
    pub(crate) fn create(&self) -> Result<(), Error> {
        match self {
            DatasetPlace::Folder(folder) => fs::create_dir_all(folder).map_err(Error::io(folder)),
            #[cfg(feature = "cloud")]
            DatasetPlace::Store(_) => Ok(()),
        }
    }

    /// The text of a file; `None` if it does not exist.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, Error> {
        match self {
            DatasetPlace::Folder(folder) => {
                let path = folder.join(name);
                if path.is_file() {
                    fs::read_to_string(&path).map(Some).map_err(Error::io(path))
                } else {
                    Ok(None)
                }
            }
            #[cfg(feature = "cloud")]
            DatasetPlace::Store(store) => store.read(name),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        match self {
            DatasetPlace::Folder(folder) => {
                let path = folder.join(name);
                let above = path.parent().unwrap_or(folder);
                // Another process can remove the folder before the file is in it.
                for _ in 0..ATTEMPTS {
                    fs::create_dir_all(above).map_err(Error::io(above))?;
                    match fs::write(&path, text) {
                        Err(error) if error.kind() == ErrorKind::NotFound => {}
                        result => return result.map_err(Error::io(path)),
                    }
                }
                Err(Error::Io(path, ErrorKind::NotFound.into()))
            }
            #[cfg(feature = "cloud")]
            DatasetPlace::Store(store) => store.write(name, text),
        }
    }

    /// Removes a file, and its folder if it is empty then.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        match self {
            DatasetPlace::Folder(folder) => {
                let path = folder.join(name);
                match fs::remove_file(&path) {
                    // Another process that writes the same part has removed it.
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    result => result.map_err(Error::io(&path))?,
                }
                // Other processes can be writing files there.
                let _ = path.parent().map(fs::remove_dir);
                Ok(())
            }
            #[cfg(feature = "cloud")]
            DatasetPlace::Store(store) => store.remove(name),
        }
    }

    /// The names of the files and folders directly in a folder, sorted; none if it does not exist. The name of the place itself is empty.
    pub(crate) fn names_in(&self, folder: &str) -> Result<Vec<String>, Error> {
        match self {
            DatasetPlace::Folder(place) => {
                let folder = place.join(folder);
                if !folder.exists() {
                    return Ok(Vec::new());
                }
                let mut names = Vec::new();
                for entry in fs::read_dir(&folder).map_err(Error::io(&folder))? {
                    let entry = entry.map_err(Error::io(&folder))?;
                    names.push(entry.file_name().to_string_lossy().into_owned());
                }
                names.sort();
                Ok(names)
            }
            #[cfg(feature = "cloud")]
            DatasetPlace::Store(store) => store.names_in(folder),
        }
    }

    /// Adds a file that `write` creates. The file appears when it is complete.
    pub(crate) fn add<T>(
        &self,
        name: &str,
        write: impl FnOnce(&File, &Path) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self {
            DatasetPlace::Folder(folder) => {
                let path = folder.join(name);
                let above = path.parent().unwrap_or(folder);
                fs::create_dir_all(above).map_err(Error::io(above))?;
                // Readers ignore its temporary name.
                let new = Replacement::create(&path, Access::Umask).map_err(Error::io(&path))?;
                let written = write(new.file(), &path)?;
                new.finish().map_err(Error::io(&path))?;
                Ok(written)
            }
            #[cfg(feature = "cloud")]
            DatasetPlace::Store(store) => {
                let new = tempfile::tempfile().map_err(Error::io(std::env::temp_dir()))?;
                let written = write(&new, Path::new(name))?;
                store.upload(new, name)?;
                Ok(written)
            }
        }
    }
}

/// Returns an address of an object store; `None` for a path.
pub(crate) fn address(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains("://"))
}
