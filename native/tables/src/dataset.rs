//! A data set: a folder with the tables of traces as Parquet files.
//!
//! A table has a folder, and in it a file for each trace: `events/run_id=a/rank=0/part-0.parquet`. `kinetoscope.json` has the
//! version of the schema. While the files of a trace are written, `_unfinished` has a file with its name, so that a data set of
//! which a part is missing is refused. A trace that is written again replaces the one of the same run and rank.
//!
//! What must change together: the names in this module, and the page about data sets of the documentation.

mod parquet_file;

use crate::arrow::{RANK, RUN_ID, RankTrace};
use crate::error::Error;
use kinetoscope_core::schema::{Schema, VERSION};
use parquet_file::write_table;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, available_parallelism};
use std::time::{SystemTime, UNIX_EPOCH};

/// The file with the version.
const MANIFEST: &str = "kinetoscope.json";
/// The folder with the names of the parts that were begun and not finished.
const UNFINISHED: &str = "_unfinished";
/// The name of the file of a trace in each table.
const PART: &str = "part-0.parquet";

/// A data set.
#[derive(Clone, Debug)]
pub struct Dataset {
    folder: PathBuf,
    version: u64,
}

/// What was written of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The number of files.
    pub files: usize,
    /// The number of rows of all tables.
    pub rows: u64,
    /// The size of the files, in bytes.
    pub bytes: u64,
}

impl Written {
    fn add(&mut self, rows: u64, bytes: u64) {
        self.files += 1;
        self.rows += rows;
        self.bytes += bytes;
    }
}

impl Dataset {
    /// Opens a data set to write to it; creates it in a folder that is empty or does not exist.
    ///
    /// # Errors
    /// Returns [`Error::NotADataset`] for a folder with other files, [`Error::Newer`] for a data set of a later version, or
    /// [`Error::Io`].
    pub fn create(folder: &Path) -> Result<Dataset, Error> {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let manifest = folder.join(MANIFEST);
        if !manifest.exists() {
            let mut entries = fs::read_dir(folder).map_err(Error::io(folder))?;
            if entries.next().is_some() {
                return Err(Error::NotADataset(folder.to_owned()));
            }
            let text = json!({ "schema_version": VERSION }).to_string();
            fs::write(&manifest, text + "\n").map_err(Error::io(manifest))?;
        }
        Dataset::of(folder)
    }

    /// Opens a complete data set to read it.
    ///
    /// # Errors
    /// Returns [`Error::NotADataset`], [`Error::Newer`], [`Error::Unfinished`], or [`Error::Io`].
    pub fn open(folder: &Path) -> Result<Dataset, Error> {
        let dataset = Dataset::of(folder)?;
        let parts = names_in(&folder.join(UNFINISHED))?;
        if parts.is_empty() {
            Ok(dataset)
        } else {
            let parts = parts.iter().map(|part| part.replace(',', "/")).collect();
            Err(Error::Unfinished { folder: folder.to_owned(), parts })
        }
    }

    /// Whether a folder is a data set.
    pub fn is_at(folder: &Path) -> bool {
        folder.join(MANIFEST).is_file()
    }

    fn of(folder: &Path) -> Result<Dataset, Error> {
        let manifest = folder.join(MANIFEST);
        let text = fs::read_to_string(&manifest).map_err(Error::io(&manifest))?;
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        match document.get("schema_version").and_then(Value::as_u64) {
            None => Err(Error::NotADataset(folder.to_owned())),
            Some(version) if version > u64::from(VERSION) => {
                Err(Error::Newer { folder: folder.to_owned(), version })
            }
            Some(version) => Ok(Dataset { folder: folder.to_owned(), version }),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it has a table.
    pub fn has(&self, schema: &Schema) -> bool {
        self.folder.join(schema.name).is_dir()
    }

    /// The version of the schema.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Writes tables of a trace, with as many threads as there are processors.
    ///
    /// # Errors
    /// Returns [`Error::Io`] or [`Error::Format`]. The data set is then incomplete.
    pub fn write(&self, of: &RankTrace, tables: &[&'static Schema]) -> Result<Written, Error> {
        let mark = self.mark(of);
        let marks = self.folder.join(UNFINISHED);
        fs::create_dir_all(&marks).map_err(Error::io(&marks))?;
        fs::write(&mark, "").map_err(Error::io(&mark))?;
        let written = self.write_tables(of, tables)?;
        fs::remove_file(&mark).map_err(Error::io(&mark))?;
        // Other processes can be writing other traces.
        let _ = fs::remove_dir(&marks);
        Ok(written)
    }

    fn write_tables(&self, of: &RankTrace, tables: &[&'static Schema]) -> Result<Written, Error> {
        let threads = available_parallelism().map_or(1, usize::from);
        let waiting = Mutex::new(tables.iter());
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        let written = Mutex::new(Ok(Written::default()));
        let work = || {
            while let Some(schema) = next() {
                let one = self.write_one(of, schema, threads);
                let mut all = written.lock().unwrap_or_else(PoisonError::into_inner);
                match (&mut *all, one) {
                    (Ok(sum), Ok((rows, bytes))) => sum.add(rows, bytes),
                    (Ok(_), Err(error)) => *all = Err(error),
                    (Err(_), _) => return,
                }
            }
        };
        thread::scope(|scope| {
            // A second thread prepares a table while the columns of another one are written.
            if threads > 1 {
                scope.spawn(work);
            }
            work();
        });
        written.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_one(&self, of: &RankTrace, schema: &Schema, threads: usize) -> Result<(u64, u64), Error> {
        let folder = self.folder.join(schema.name).join(partition(of, "/"));
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        // Readers ignore such names. Each is different, because a process that was given up as lost can still be writing.
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let new = folder.join(format!(".{PART}.{}-{}.tmp", process::id(), since_1970.as_nanos()));
        let path = folder.join(PART);
        let written = write_table(of, schema, &new, threads)?;
        fs::rename(&new, &path).map_err(Error::io(&path))?;
        Ok(written)
    }

    fn mark(&self, of: &RankTrace) -> PathBuf {
        self.folder.join(UNFINISHED).join(partition(of, ","))
    }
}

/// The part of a trace: its run and its rank.
fn partition(of: &RankTrace, separator: &str) -> String {
    format!("{RUN_ID}={}{separator}{RANK}={}", of.run_id.as_str(), of.rank)
}

/// The names of the files in a folder, sorted; none if it does not exist.
fn names_in(folder: &Path) -> Result<Vec<String>, Error> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(Error::io(folder))?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
