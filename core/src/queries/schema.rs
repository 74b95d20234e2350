//! The tables of a trace for queries: their columns with units and meaning, and the values of the columns.
//!
//! The schema is one for all query engines. Times are `i64` ns after the start of the recording
//! ([`start_ns`](crate::trace::Trace::start_ns)); durations and sizes have their unit in the name. Numbers of events are their
//! positions among the objects of `traceEvents`, so that a row can be found in the file.
//!
//! A [`Schema`] describes a table; [`Schema::open`] computes the requested columns of a trace, which [`Source::read`] returns
//! in pieces of any size. What several tables have in common is computed once for each [`Analysis`].
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

use crate::analysis::context::Analysis;
use alloc::boxed::Box;
use alloc::vec::Vec;
use column::Wanted;
use core::ops::Range;

pub use answer::table;
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
    source: for<'a> fn(&'a Analysis<'a>, &Wanted) -> Box<dyn Source + 'a>,
}

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

    /// Opens the table of a trace for these columns, by their indexes in [`fields`](Self::fields), or for all. What only other
    /// columns need is not computed; to read others returns unspecified values or panics.
    pub fn open<'a>(&self, analysis: &'a Analysis<'_>, columns: Option<&[usize]>) -> Box<dyn Source + 'a> {
        let all = self.fields().into_iter().enumerate();
        let wanted = all.filter(|(at, _)| columns.is_none_or(|columns| columns.contains(at)));
        (self.source)(analysis, &Wanted(wanted.map(|(_, field)| field.name).collect()))
    }
}
