//! The tables of a trace for queries: their columns with units and meaning, and the values of the columns.
//!
//! The schema is one for all query engines. Times are `i64` ns after the start of the recording
//! ([`Trace::start_ns`]); durations and sizes have their unit in the name. Numbers of events are their positions among the
//! objects of `traceEvents`, so that a row can be found in the file.
//!
//! A [`Schema`] describes a table; [`Schema::open`] computes the requested columns of a trace, which [`Source::read`] returns
//! in pieces of any size.
//!
//! What must change together: a column and its values (one list per file), [`VERSION`], and the page of the documentation,
//! which a test writes.

mod answer;
mod arguments;
mod collectives;
mod column;
mod counters;
mod distinct;
mod events;
mod gaps;
mod kernels;
mod launches;
mod memory;
mod ops;
mod reports;
mod steps;
mod tracks;

use crate::analysis::overview::summary::Summary;
use crate::trace::Trace;
use alloc::boxed::Box;
use alloc::vec::Vec;
use column::Wanted;
use core::ops::Range;

pub use answer::of_answer;
pub use column::{Data, Entries, Field, FieldType};

/// The version of the schema. A table or a column that is added does not change it; one that is removed or has another
/// meaning does.
pub const VERSION: u32 = 1;

/// Every table, in the order of the documentation.
pub const TABLES: [&Schema; 13] = [
    &events::SCHEMA,
    &tracks::SCHEMA,
    &ops::SCHEMA,
    &kernels::SCHEMA,
    &launches::SCHEMA,
    &collectives::SCHEMA,
    &steps::SCHEMA,
    &gaps::SCHEMA,
    &memory::SCHEMA,
    &counters::SCHEMA,
    &reports::FINDINGS,
    &reports::DIAGNOSTICS,
    &reports::TRACES,
];

/// A table: its name, its columns, and how its values are computed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Schema {
    /// The name.
    pub name: &'static str,
    /// What a row is, in one sentence.
    pub about: &'static str,
    /// The columns by which the rows are sorted.
    pub sorted_by: &'static [&'static str],
    fields: fn() -> Vec<Field>,
    source: for<'t> fn(&'t Trace, &Wanted) -> Box<dyn Source + 't>,
    of_summary: Option<OfSummary>,
}

/// Opens a table that is a part of the summary of a trace.
type OfSummary = for<'t> fn(&'t Trace, &'t Summary) -> Box<dyn Source + 't>;

/// The rows of a table of one trace, with the columns that were requested.
pub trait Source: Send + Sync {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values of one of the requested columns, by its index in [`Schema::fields`], for a range of rows.
    fn read(&self, column: usize, rows: Range<usize>) -> Data<'_>;
}

impl Schema {
    /// Returns the table with this name.
    pub fn named(name: &str) -> Option<&'static Schema> {
        TABLES.into_iter().find(|schema| schema.name == name)
    }

    /// Returns the columns.
    pub fn fields(&self) -> Vec<Field> {
        (self.fields)()
    }

    /// Returns the index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.fields().iter().position(|field| field.name == name)
    }

    /// Opens the table of a trace for these columns, by their indexes in [`fields`](Self::fields). What only other columns
    /// need is not computed; to read others returns unspecified values or panics.
    pub fn open<'t>(&self, trace: &'t Trace, columns: &[usize]) -> Box<dyn Source + 't> {
        let fields = self.fields();
        (self.source)(trace, &Wanted(columns.iter().map(|&column| fields[column].name).collect()))
    }

    /// Whether the table is a part of the summary, so that [`open_of`](Self::open_of) does not compute it again.
    pub fn is_of_summary(&self) -> bool {
        self.of_summary.is_some()
    }

    /// Opens the table of a trace, of which this is the summary, with every column.
    pub fn open_of<'t>(&self, trace: &'t Trace, summary: &'t Summary) -> Box<dyn Source + 't> {
        self.of_summary.map_or_else(|| self.open_all(trace), |open| open(trace, summary))
    }

    /// Opens the table of a trace with every column.
    pub fn open_all<'t>(&self, trace: &'t Trace) -> Box<dyn Source + 't> {
        (self.source)(trace, &Wanted(self.fields().iter().map(|field| field.name).collect()))
    }
}
