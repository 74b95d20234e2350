//! `export parquet` and `export arrow`.

use super::ranks::Ranks;
use crate::args;
use crate::failure::{Failure, report};
use clap::ArgMatches;
use kinetoscope::files::{Output, THREADS};
use kinetoscope_core::base::units::bytes;
use kinetoscope_core::queries::schema::{Schema, TABLES};
use kinetoscope_tables::arrow::TableStream;
use kinetoscope_tables::dataset::{Dataset, Written};
use std::io::{self, IsTerminal};
use std::path::Path;

pub(super) fn export(form: &str, matches: &ArgMatches) -> Result<u8, Failure> {
    let ranks = Ranks::from_matches(matches)?;
    let output = args::output_of(matches);
    let output = output.as_deref();
    match (form, output) {
        ("parquet", Some(folder)) => parquet(&ranks, &tables(matches), folder),
        _ => arrow(&ranks, matches.get_one::<String>("table").map_or("events", String::as_str), output),
    }
}

/// The tables that were chosen, or all.
fn tables(matches: &ArgMatches) -> Vec<&'static Schema> {
    let Some(chosen) = matches.get_many::<String>("tables") else { return TABLES.to_vec() };
    let chosen: Vec<&String> = chosen.collect();
    TABLES.into_iter().filter(|schema| chosen.iter().any(|name| *name == schema.name)).collect()
}

fn parquet(ranks: &Ranks, tables: &[&'static Schema], folder: &Path) -> Result<u8, Failure> {
    let dataset = Dataset::create(folder)?;
    let (mut traces, mut all) = (0, Written::default());
    let code = ranks.read(&mut |of| {
        all.add(dataset.write(&of, tables, THREADS)?);
        traces += 1;
        Ok(())
    })?;
    let size = bytes(i64::try_from(all.bytes).unwrap_or(i64::MAX));
    report(format!("{}: {traces} traces, {} rows, {size} in {} files", dataset.name(), all.rows, all.files));
    Ok(code)
}

fn arrow(ranks: &Ranks, table: &str, output: Option<&Path>) -> Result<u8, Failure> {
    if output.is_none() && io::stdout().is_terminal() {
        return Err(Failure::usage("arrow is not text: name a file with --output, or use a pipe"));
    }
    let mut stream = TableStream::new(table, Output::create(output)?)?;
    let code = ranks.read(&mut |of| Ok(stream.write(&of)?))?;
    stream.finish()?.finish()?;
    Ok(code)
}
