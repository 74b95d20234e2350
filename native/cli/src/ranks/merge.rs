//! The command `merge`.

use super::{Read, strict_code};
use crate::args::Files;
use crate::failure::{Failure, report};
use crate::joins::Joins;
use crate::reading::read_run;
use clap::ArgMatches;
use kinetoscope::files::{Content, Output, RunFiles};
use kinetoscope_core::base::error::Error;
use kinetoscope_core::output::write::merge::Merger;

/// Writes the events of all files as one trace. The files are read twice: first for the clocks, then for the events, so
/// that one trace is in memory at a time.
pub(crate) fn merge(matches: &ArgMatches) -> Result<u8, Failure> {
    let files = Files::from_matches(matches);
    let wanted: Option<Vec<i64>> = matches.get_many("ranks").map(|ranks| ranks.copied().collect());
    if files.traces.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::usage("merge reads its files twice, so it cannot read standard input"));
    }
    let sources = RunFiles::find(&files.traces)?;
    let mut read = Read::default();
    read_run(&sources, &files.reading.rules, &Joins::default(), &mut |found| read.add_events(found));
    let code = read.code;
    let run = read.into_run()?;
    for note in run.notes() {
        report(&note.message);
    }
    let alignments = run.alignments();
    if let Some(rank) =
        wanted.iter().flatten().find(|rank| alignments.iter().all(|alignment| alignment.rank != **rank))
    {
        return Err(Failure::usage(format!("there is no trace of rank {rank}")));
    }
    let mut output = Output::create(files.output.as_deref())?;
    let mut merger = Merger::default();
    let mut failure = None;
    read_run(&sources, &files.reading.rules, &Joins::default(), &mut |found| {
        let alignment = alignments.iter().find(|alignment| alignment.source == found.name);
        let is_wanted = |rank| wanted.as_ref().is_none_or(|wanted| wanted.contains(&rank));
        let Some(alignment) = alignment.filter(|alignment| is_wanted(alignment.rank)) else { return };
        if let (Ok(Content::Trace(trace)), None) = (found.content, &failure) {
            failure = merger.add(&trace, alignment, &mut |piece| output.write(piece)).err();
        }
    });
    let merged = failure.map_or_else(|| merger.finish(&mut |piece| output.write(piece)), Err);
    match merged {
        // The output has the error.
        Ok(_) | Err(Error::Output) => output.finish()?,
        Err(error) => return Err(error.into()),
    }
    Ok(code.max(strict_code(&files, &run)))
}
