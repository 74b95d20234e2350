//! The command `merge`.

use super::{Summaries, require, strict_code};
use crate::args::{Files, examples, run_args};
use crate::destinations::Inputs;
use crate::failure::{Failure, report};
use crate::progress::read_run;
use clap::{Arg, ArgMatches, Command, value_parser};
use kinetoscope::files::{Content, Output, RunFiles};
use kinetoscope_core::error::Error;
use kinetoscope_core::ranks::run::Run;
use kinetoscope_core::write::merge::Merger;

/// Its arguments.
pub(crate) fn command() -> Command {
    Command::new("merge")
        .about("Writes the events of several ranks as one trace, on one clock")
        .long_about(
            "Writes the events of several ranks as one Chrome trace, on one clock.\n\nRank R has the numbers from R x 10,000,000 as \
             processes and threads, and ids from R x 2^33. The times of a rank are moved by the offset and drift of its clock, as \
             `ranks` shows them, where they are larger than their error.",
        )
        .after_help(examples("merge", &["ranks/ -o run.json.gz", "ranks.tar.gz --ranks 0,7 -o two.json"]))
        .arg(
            Arg::new("ranks")
                .long("ranks")
                .value_name("LIST")
                .value_delimiter(',')
                .value_parser(value_parser!(i64))
                .help("Only these ranks, such as 0,7"),
        )
        .args(run_args("Write to this file; a name in .gz is compressed [default: standard output]"))
}

/// Writes the events of all files as one trace. The files are read twice: first for the clocks, then for the events, so
/// that one trace is in memory at a time.
pub(crate) fn merge(matches: &ArgMatches) -> Result<u8, Failure> {
    let files = Files::of(matches);
    let wanted: Option<Vec<i64>> = matches.get_many("ranks").map(|ranks| ranks.copied().collect());
    if files.traces.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::usage("merge reads its files twice, so it cannot read standard input"));
    }
    let sources = RunFiles::of(&files.traces)?;
    if let Some(output) = &files.output {
        Inputs::of(sources.sources()).refuse(output)?;
    }
    let mut read = Summaries::default();
    read_run(&sources, &mut |found| read.add_by_path(found));
    require(!read.all.is_empty())?;
    let run = Run::new(read.all, read.notes);
    for note in run.notes() {
        report(&note.message);
    }
    let alignments = run.alignments();
    if let Some(rank) = wanted.iter().flatten().find(|rank| alignments.iter().all(|one| one.rank != **rank)) {
        return Err(Failure::usage(format!("there is no trace of rank {rank}")));
    }
    let mut output = Output::create(files.output.as_deref())?;
    let mut merger = Merger::default();
    let mut failure = None;
    read_run(&sources, &mut |found| {
        let alignment = alignments.iter().find(|one| one.source == found.path);
        let is_wanted = |rank| wanted.as_ref().is_none_or(|wanted| wanted.contains(&rank));
        let Some(alignment) = alignment.filter(|one| is_wanted(one.rank)) else { return };
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
    Ok(read.code.max(strict_code(&files, &run)))
}
