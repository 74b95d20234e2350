//! What can go wrong.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

/// Why a table was not written, read or queried.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no table of this name.
    NoTable(String),
    /// The id of a run has characters other than letters, digits, `.`, `_` and `-`.
    BadRunId(String),
    /// Two traces have the same run and rank.
    SameRank {
        /// The run.
        run_id: String,
        /// The rank.
        rank: i64,
    },
    /// A folder is not a data set.
    NotADataset(String),
    /// A data set was written by a later version of Kinetoscope.
    Newer {
        /// The folder.
        folder: String,
        /// Its version of the schema.
        version: u64,
    },
    /// A part of a data set was begun and not finished.
    Unfinished {
        /// The folder.
        folder: String,
        /// The parts, such as `run_id=a/rank=0`.
        parts: Vec<String>,
    },
    /// An object store cannot be used, read or written.
    Place(String),
    /// A file cannot be read or written.
    Io(PathBuf, io::Error),
    /// Arrow or Parquet refused.
    Format(String),
    /// A query is wrong, or failed.
    Query(String),
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |error| Error::Io(path, error)
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoTable(name) => {
                let names = kinetoscope_core::queries::schema::TABLES.map(|schema| schema.name).join(", ");
                write!(f, "there is no table {name:?}; the tables are {names}")
            }
            Error::BadRunId(id) => {
                write!(
                    f,
                    "the id of a run has letters, digits, `.`, `_` and `-` only, and one at least: {id:?}"
                )
            }
            Error::SameRank { run_id, rank } => {
                write!(f, "two traces are rank {rank} of the run {run_id:?}; set another run for one of them")
            }
            Error::NotADataset(folder) => {
                write!(
                    f,
                    "{folder} is not a data set that `export parquet` wrote; choose an empty folder to write one"
                )
            }
            Error::Newer { folder, version } => write!(
                f,
                "{folder} has version {version} of the schema, and this program knows up to {}; update it",
                kinetoscope_core::queries::schema::VERSION
            ),
            Error::Unfinished { folder, parts } => {
                write!(
                    f,
                    "{folder} is incomplete: {} was begun and not finished; export it again",
                    parts.join(", ")
                )
            }
            Error::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Error::Place(message) | Error::Format(message) | Error::Query(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Error {
        Error::Format(error.to_string())
    }
}

impl From<parquet::errors::ParquetError> for Error {
    fn from(error: parquet::errors::ParquetError) -> Error {
        Error::Format(error.to_string())
    }
}
