//! `export parquet` and `export arrow`.

use super::ranks::Ranks;
use crate::args;
use crate::destinations::Inputs;
use crate::failure::{Failure, report};
use clap::ArgMatches;
use kinetoscope::files::THREADS;
use kinetoscope_core::schema::{Schema, TABLES};
use kinetoscope_core::units::bytes;
use kinetoscope_tables::arrow::TableStream;
use kinetoscope_tables::dataset::{Dataset, Written};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

pub(super) fn export(form: &str, matches: &ArgMatches) -> Result<u8, Failure> {
    let ranks = Ranks::of(matches)?;
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
    let output: BufWriter<Box<dyn Write>> = BufWriter::new(match output {
        Some(path) => {
            Inputs::of(ranks.files()?.sources()).refuse(path)?;
            Box::new(File::create(path).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))?)
        }
        None if io::stdout().is_terminal() => {
            return Err(Failure::usage("arrow is not text: name a file with --output, or use a pipe"));
        }
        None => Box::new(io::stdout()),
    });
    let mut stream = TableStream::new(table, output)?;
    let code = ranks.read(&mut |of| Ok(stream.write(&of)?))?;
    stream.finish()?.flush()?;
    Ok(code)
}
