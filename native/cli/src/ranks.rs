//! The commands about several ranks: `ranks`, `summarize` and `merge`.

use crate::answer::{add_csv, add_text};
use crate::args::{self, Files, Format};
use crate::failure::{Failure, UNFIT, UNREADABLE, report};
use crate::print::print;
use clap::ArgMatches;
use kinetoscope::files::{Content, Found, Output, visit};
use kinetoscope_core::error::Error;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::ranks::file;
use kinetoscope_core::ranks::run::{Note, NoteCode, Run};
use kinetoscope_core::ranks::summary::Summary;
use kinetoscope_core::report::document;
use kinetoscope_core::write::merge::Merger;
use std::path::Path;

/// The summaries of all files, with notes about those that have none.
#[derive(Default)]
struct Summaries {
    all: Vec<Summary>,
    notes: Vec<Note>,
    code: u8,
}

/// Reads all files. A file that was named and cannot be read raises the exit code; one that was found is noted.
fn summaries(files: &Files) -> Result<Summaries, Failure> {
    let mut out = Summaries::default();
    visit(&files.traces, &mut |_| {}, &mut |found| out.add(found))?;
    Ok(out)
}

impl Summaries {
    /// Adds a file whose summary has its path as name. A file of summaries has no events to merge.
    fn add_by_path(&mut self, mut found: Found) {
        found.name.clone_from(&found.path);
        if matches!(found.content, Ok(Content::Summaries(_))) {
            report(format!("{}: a summary has no events to merge", found.path));
            self.code = UNREADABLE;
            return;
        }
        self.add(found);
    }

    fn add(&mut self, found: Found) {
        let is_other = found.is_other_file();
        match found.content {
            Ok(Content::Summaries(mut more)) => self.all.append(&mut more),
            Ok(Content::Trace(trace)) => self.all.push(Summary::of(&trace, &found.name)),
            Err(reason) => {
                let code = if is_other { NoteCode::Skipped } else { NoteCode::Unreadable };
                let message = format!("{}: {reason}", found.path);
                if found.is_named {
                    report(&message);
                    self.code = UNREADABLE;
                }
                self.notes.push(Note::new(code, message));
            }
        }
    }
}

/// Answers the query `ranks` about all files together.
pub(crate) fn ranks(matches: &ArgMatches) -> Result<u8, Failure> {
    let query = query("ranks")?;
    let files = Files::of(matches);
    let options = args::options(query.options, matches)?;
    let format = args::format(matches);
    let read = summaries(&files)?;
    if read.all.is_empty() {
        return Err(Failure::usage("no trace of a rank could be read"));
    }
    let run = Run::new(read.all, read.notes);
    let answer = run.answer(Request::new(&options).for_reading(format == Format::Table))?;
    let mut text = String::new();
    match format {
        Format::Json => text = document::of_run(query.name, &run, &answer.rows),
        Format::Csv => add_csv(&mut text, "", answer.rows, false),
        Format::Table | Format::Md => add_text(&mut text, "", &answer, format, None, false),
    }
    print(&text, files.output.as_deref())?;
    let lacks = files.strict && run.notes().iter().any(|note| note.code.is_loss());
    if lacks {
        report("the run is not complete: see its notes");
    }
    Ok(read.code.max(if lacks { UNFIT } else { 0 }))
}

/// Writes the summaries of all files: to one file, or to one file each in a folder.
pub(crate) fn summarize(matches: &ArgMatches) -> Result<u8, Failure> {
    let files = Files::of(matches);
    let Some(output) = &files.output else {
        return Err(Failure::usage("summarize needs --output FILE or FOLDER"));
    };
    let mut code = 0;
    let mut all: Vec<Vec<u8>> = Vec::new();
    let mut failure = None;
    visit(&files.traces, &mut |_| {}, &mut |found| {
        let (name, path, limit) = (found.name.clone(), found.path.clone(), file::limit(found.bytes));
        let is_other = found.is_other_file();
        let summary = match found.content {
            Ok(Content::Summaries(all)) => file::encode(&all),
            Ok(Content::Trace(trace)) => {
                if files.strict && crate::answer::is_partial(&trace) {
                    report(format!("{path}: a part could not be read; `kinetoscope check` says which"));
                    code = code.max(UNFIT);
                }
                file::encode_within(Summary::of(&trace, &name), limit)
            }
            Err(reason) => {
                report(format!("{path}: {reason}"));
                if !is_other {
                    code = code.max(if found.is_named { UNREADABLE } else { UNFIT * u8::from(files.strict) });
                }
                return;
            }
        };
        if output.is_dir() {
            let written = write(&output.join(summary_name(&name)), &summary);
            failure = failure.take().or(written.err());
        } else {
            all.push(summary);
        }
    })?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    if !output.is_dir() {
        if all.is_empty() {
            return Err(Failure::usage("no trace of a rank could be read"));
        }
        write(output, &file::merge(all.iter().map(Vec::as_slice))?)?;
    }
    Ok(code)
}

/// The name of the summary of a trace: without the extensions of traces.
fn summary_name(trace: &str) -> String {
    let name =
        Path::new(trace).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ends = [".gz", ".zst", ".json", ".trace", ".pt", ".ktrace", ".pftrace", ".perfetto-trace", ".ksum"];
    let stem = ends.iter().fold(name.as_str(), |name, end| name.strip_suffix(end).unwrap_or(name));
    format!("{stem}.ksum")
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut output = Output::create(Some(path))?;
    output.write(bytes);
    Ok(output.finish()?)
}

/// Writes the events of all files as one trace. The files are read twice: first for the clocks, then for the events, so
/// that one trace is in memory at a time.
pub(crate) fn merge(matches: &ArgMatches) -> Result<u8, Failure> {
    let files = Files::of(matches);
    let wanted: Option<Vec<i64>> = matches.get_many("ranks").map(|ranks| ranks.copied().collect());
    if files.traces.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::usage("merge reads its files twice, so it cannot read standard input"));
    }
    let mut read = Summaries::default();
    visit(&files.traces, &mut |_| {}, &mut |found| read.add_by_path(found))?;
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
    visit(&files.traces, &mut |_| {}, &mut |found| {
        let alignment = alignments.iter().find(|one| one.source == found.path);
        let is_wanted = |rank| wanted.as_ref().is_none_or(|wanted| wanted.contains(&rank));
        let Some(alignment) = alignment.filter(|one| is_wanted(one.rank)) else { return };
        if let (Ok(Content::Trace(trace)), None) = (found.content, &failure) {
            failure = merger.add(&trace, alignment, &mut |piece| output.write(piece)).err();
        }
    })?;
    match failure {
        // The output has the error.
        None | Some(Error::Output) => {}
        Some(error) => return Err(error.into()),
    }
    if let Err(Error::Empty) = merger.finish(&mut |piece| output.write(piece)) {
        return Err(Failure::usage("no trace of a rank could be read"));
    }
    output.finish()?;
    let lacks = files.strict && run.notes().iter().any(|note| note.code.is_loss());
    Ok(read.code.max(if lacks { UNFIT } else { 0 }))
}
