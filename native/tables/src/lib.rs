//! The tables of traces for other programs: Arrow batches and streams, Parquet data sets, and SQL.
//!
//! The tables and their columns are those of [`kinetoscope_core::queries::schema`]. Each begins with two more columns: `run_id`, a text
//! that the traces of a run have in common, and `rank`, an integer.
//!
//! - [`arrow`]: the rows of a table of a trace as Arrow batches, and as a stream of Arrow's IPC format.
//! - [`dataset`]: a folder with the tables of many traces as Parquet files, in partitions by run and rank.
//! - `sql`, with the feature of that name: queries on traces in memory or on a data set.

#![forbid(unsafe_code)]

pub mod arrow;
pub mod dataset;
mod error;
mod place;
#[cfg(feature = "cloud")]
pub mod remote;
#[cfg(feature = "sql")]
pub mod sql;
mod values;

pub use error::Error;
