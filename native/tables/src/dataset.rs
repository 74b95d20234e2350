//! A data set: the tables of traces as Parquet files, in a folder or, with the feature `cloud`, in an object store.
//!
//! A table has a folder, and in it a file for each trace: `events/run_id=a/rank=0/part-0.parquet`. `kinetoscope.json` has the
//! version of the schema. While tables of a trace are written, `_unfinished` has a file with its name and the tables, so that a data
//! set of which a part is missing is refused. A trace that is written again replaces the one of the same run and rank.
//!
//! What must change together: the names in this module, those in `spark`, and the page about SQL of the documentation.

mod order;
mod parquet_file;

use crate::arrow::{RANK, RUN_ID, RankTrace};
use crate::error::Error;
use crate::place::DatasetPlace;
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::queries::Join;
use kinetoscope_core::queries::schema::{Schema, TABLES, VERSION};
use order::{Order, Turn};
use parquet_file::write_table;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The file with the version.
const MANIFEST: &str = "kinetoscope.json";
/// The folder with the names of the parts that were begun and not finished.
const UNFINISHED: &str = "_unfinished";
/// The name of the file of a trace in each table.
const PART: &str = "part-0.parquet";

/// A data set.
#[derive(Clone, Debug)]
pub struct Dataset {
    place: DatasetPlace,
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
    /// Adds what was written of other tables or traces.
    pub fn add(&mut self, other: Written) {
        self.files += other.files;
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

impl Dataset {
    /// Opens a data set to write to it; creates it in a folder that is empty or does not exist. With the feature `cloud`, the path can be
    /// an address such as `s3://bucket/tables`.
    ///
    /// # Errors
    /// Returns [`Error::NotADataset`] for a folder with other files, [`Error::Newer`] for a data set of a later version,
    /// [`Error::Place`], or [`Error::Io`].
    pub fn create(folder: &Path) -> Result<Dataset, Error> {
        let place = DatasetPlace::from_path(folder)?;
        place.create()?;
        if place.read(MANIFEST)?.is_none() {
            // Other processes can be creating the same data set.
            if !place.names_in("")?.iter().all(|name| is_own(name)) {
                return Err(Error::NotADataset(place.name()));
            }
            let manifest = format!("{}\n", json!({ "schema_version": VERSION }));
            place.add(MANIFEST, |mut file, path| {
                file.write_all(manifest.as_bytes()).map_err(Error::io(path))
            })?;
        }
        Dataset::new(place)
    }

    /// Opens a complete data set to read it.
    ///
    /// # Errors
    /// Returns [`Error::NotADataset`], [`Error::Newer`], [`Error::Unfinished`], [`Error::Place`], or [`Error::Io`].
    pub fn open(folder: &Path) -> Result<Dataset, Error> {
        let dataset = Dataset::new(DatasetPlace::from_path(folder)?)?;
        let parts = dataset.place.names_in(UNFINISHED)?;
        if parts.is_empty() {
            Ok(dataset)
        } else {
            let parts = parts.iter().map(|part| part.replace(',', "/")).collect();
            Err(Error::Unfinished { folder: dataset.place.name(), parts })
        }
    }

    /// Whether a folder or an address is a data set.
    ///
    /// # Errors
    /// Returns [`Error::Place`] if an object store cannot be read.
    pub fn is_at(folder: &Path) -> Result<bool, Error> {
        Ok(DatasetPlace::from_path(folder)?.read(MANIFEST)?.is_some())
    }

    fn new(place: DatasetPlace) -> Result<Dataset, Error> {
        let text = place.read(MANIFEST)?.unwrap_or_default();
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        match document.get("schema_version").and_then(Value::as_u64) {
            None => Err(Error::NotADataset(place.name())),
            Some(version) if version > u64::from(VERSION) => {
                Err(Error::Newer { folder: place.name(), version })
            }
            Some(_) => Ok(Dataset { place }),
        }
    }

    /// The folder or the address, without credentials.
    pub fn name(&self) -> String {
        self.place.name()
    }

    #[cfg(feature = "sql")]
    pub(crate) fn place(&self) -> &DatasetPlace {
        &self.place
    }

    /// Whether it has a table.
    ///
    /// # Errors
    /// Returns [`Error::Place`] or [`Error::Io`] if it cannot be listed.
    pub fn has(&self, schema: &Schema) -> Result<bool, Error> {
        Ok(!self.place.names_in(schema.name)?.is_empty())
    }

    /// Writes tables of a trace, as `join` runs the parts.
    ///
    /// # Errors
    /// Returns [`Error::Io`], [`Error::Place`] or [`Error::Format`]. The data set is then incomplete.
    pub fn write(&self, of: &RankTrace, tables: &[&'static Schema], join: Join) -> Result<Written, Error> {
        let mark = format!("{UNFINISHED}/{}", partition(of, ","));
        let others = self.begin(&mark, tables)?;
        let written = self.write_tables(of, tables, join)?;
        if others.is_empty() {
            self.place.remove(&mark)?;
        } else {
            self.place.write(&mark, &others.join("\n"))?;
        }
        Ok(written)
    }

    /// Marks tables of a trace as begun. Returns the others that an export began which was interrupted.
    fn begin(&self, mark: &str, tables: &[&'static Schema]) -> Result<Vec<String>, Error> {
        let names: Vec<String> = tables.iter().map(|schema| schema.name.to_owned()).collect();
        let mut others: Vec<String> = match self.place.read(mark)? {
            None => Vec::new(),
            // A mark whose names were not written is of every table.
            Some(text) if text.trim().is_empty() => TABLES.map(|schema| schema.name.to_owned()).to_vec(),
            Some(text) => text.lines().map(str::to_owned).collect(),
        };
        others.retain(|name| !names.contains(name));
        self.place.write(mark, &[&others[..], &names].concat().join("\n"))?;
        Ok(others)
    }

    fn write_tables(&self, of: &RankTrace, tables: &[&'static Schema], join: Join) -> Result<Written, Error> {
        let order = Order::new(tables);
        let written = Mutex::new(Ok(Written::default()));
        let work = || {
            while let Some(turn) = order.next() {
                let some = self.write_turn(of, &turn, join);
                let mut all = written.lock().unwrap_or_else(PoisonError::into_inner);
                match (&mut *all, some) {
                    (Ok(sum), Ok(some)) => sum.add(some),
                    (Ok(_), Err(error)) => *all = Err(error),
                    (Err(_), _) => return,
                }
            }
        };
        // A table is prepared while the columns of another one are written.
        join.run(&mut [&mut { work }, &mut { work }]);
        written.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_turn(&self, of: &RankTrace, turn: &Turn<'_>, join: Join) -> Result<Written, Error> {
        // It is dropped with the turn: what its tables have in common takes the memory of the next one.
        let analysis = Analysis::new(&of.trace).run_by(join);
        let mut written = Written::default();
        for schema in &turn.tables {
            let source = schema.open(&analysis, None);
            let name = format!("{}/{}/{PART}", schema.name, partition(of, "/"));
            let (rows, bytes) =
                self.place.add(&name, |file, path| write_table(of, schema, &*source, (file, path), join))?;
            written.add(Written { files: 1, rows, bytes });
        }
        Ok(written)
    }
}

/// Whether a file or folder belongs to a data set.
fn is_own(name: &str) -> bool {
    name == UNFINISHED || name.trim_start_matches('.').starts_with(MANIFEST) || Schema::named(name).is_some()
}

/// The part of a trace: its run and its rank.
fn partition(of: &RankTrace, separator: &str) -> String {
    format!("{RUN_ID}={}{separator}{RANK}={}", of.run_id.as_str(), of.rank)
}
