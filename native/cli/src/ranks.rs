//! The commands about several ranks: `ranks`, and in modules of their own `summarize` and `merge`.

pub(crate) mod merge;
pub(crate) mod summarize;

use crate::answer::{add_csv, add_text};
use crate::args::{self, Files, Format};
use crate::failure::{Failure, UNFIT, UNREADABLE, report};
use crate::joins::Joins;
use crate::print::print;
use crate::reading::read_run;
use crate::terminal;
use clap::ArgMatches;
use kinetoscope::files::{Content, Found, RunFiles};
use kinetoscope_core::output::document;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::runs::ranks::file::Summaries;
use kinetoscope_core::runs::ranks::run::{Note, NoteCode, Run};
use kinetoscope_core::runs::ranks::summary::Summary;
use std::mem::take;

/// What was read of all files: summaries, and notes about files that have none.
#[derive(Default)]
struct Read {
    all: Summaries,
    notes: Vec<Note>,
    /// The messages about files that were named.
    failed: Vec<String>,
    code: u8,
}

impl Read {
    /// Adds a file to merge. A file of summaries has no events.
    fn add_events(&mut self, found: Found) {
        if !matches!(found.content, Ok(Content::Summaries(_))) {
            self.add(found);
            return;
        }
        report(format!("{}: a summary has no events to merge", found.path));
        if found.is_named {
            self.code = UNREADABLE;
        }
    }

    /// Adds a file. One that was named and cannot be read raises the exit code; one that was found is noted.
    fn add(&mut self, found: Found) {
        let is_other = found.is_other_file();
        match found.content {
            Ok(Content::Summaries(more)) => self.all.append(more),
            Ok(Content::Trace(trace)) => self.all.push(&Summary::from_trace(&trace, &found.name)),
            Err(reason) => {
                let code = if is_other { NoteCode::Skipped } else { NoteCode::Unreadable };
                let message = format!("{}: {reason}", found.path);
                if found.is_named {
                    self.failed.push(message.clone());
                    self.code = UNREADABLE;
                }
                self.notes.push(Note::new(code, message));
            }
        }
    }

    /// Returns the run. One without a rank is refused, after a line about each file.
    fn into_run(self) -> Result<Run, Failure> {
        let run = Run::new(self.all, self.notes);
        if run.is_empty() {
            run.notes().iter().for_each(|note| report(&note.message));
        }
        require(!run.is_empty())?;
        Ok(run)
    }
}

/// Refuses a run without a rank.
fn require(has_ranks: bool) -> Result<(), Failure> {
    if has_ranks { Ok(()) } else { Err(Failure::usage("no trace of a rank could be read")) }
}

/// Returns the exit code that `--strict` gives to a run, and reports why it is not 0.
fn strict_code(files: &Files, run: &Run) -> u8 {
    if !files.strict || !run.notes().iter().any(|note| note.code.is_loss()) {
        return 0;
    }
    report("the run is not complete: see its notes");
    UNFIT
}

/// Answers the query `ranks` about all files together.
pub(crate) fn ranks(matches: &ArgMatches) -> Result<u8, Failure> {
    let query = query("ranks")?;
    let files = Files::from_matches(matches);
    let options = args::options(query.options, matches)?;
    let format = args::format(matches);
    let sources = RunFiles::find(&files.traces)?;
    let mut read = Read::default();
    read_run(&sources, &files.reading.rules, &Joins::default(), &mut |found| read.add(found));
    let (code, failed) = (read.code, take(&mut read.failed));
    let run = read.into_run()?;
    failed.iter().for_each(report);
    let answer = run.answer(Request::new(&options).for_reading(format == Format::Table))?;
    let mut text = String::new();
    match format {
        Format::Json => text = document::run(query.name, &run, &answer.rows),
        Format::Csv | Format::ExactCsv => add_csv(&mut text, "", answer.rows, format, false),
        _ => add_text(&mut text, "", &answer, format, terminal::width(files.output.as_deref()), false),
    }
    print(&text, files.output.as_deref())?;
    Ok(code.max(strict_code(&files, &run)))
}
