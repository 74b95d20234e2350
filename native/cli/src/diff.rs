//! The commands `diff` and `diff-tree`, which compare two traces or two runs of several ranks.

use crate::answer::{add_csv, add_text, report_without_events};
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
use kinetoscope_core::runs::compare::Comparison;
use kinetoscope_core::runs::compare::profile::Profile;
use std::path::PathBuf;

/// Compares what the two arguments name.
pub(crate) fn diff(name: &str, matches: &ArgMatches) -> Result<u8, Failure> {
    let query = query(name)?;
    let files = Files::from_matches(matches);
    let options = args::options(query.options, matches)?;
    let format = args::format(matches);
    let new = matches.get_one::<PathBuf>("new").ok_or_else(|| Failure::usage("two traces are necessary"))?;
    let sides = sides(&files, new)?;
    let mut code = 0;
    let [base, new] = sides.map(|side| profiles(&side, &files, &mut code));
    if base.is_empty() || new.is_empty() {
        return Err(Failure::usage("no trace of one of the sides could be read"));
    }
    let comparison = Comparison::between_runs(&base, &new)?;
    let answer = comparison.answer(query, Request::new(&options).for_reading(format == Format::Table))?;
    let mut text = String::new();
    match format {
        Format::Json => text = document::comparison(query.name, &comparison, &answer.rows),
        Format::Csv | Format::ExactCsv => add_csv(&mut text, "", answer.rows, format, false),
        _ => add_text(&mut text, "", &answer, format, terminal::width(files.output.as_deref()), false),
    }
    print(&text, files.output.as_deref())?;
    if files.strict && comparison.is_partial() {
        report("a part of a trace could not be read; `kinetoscope check` says which");
        code = code.max(UNFIT);
    }
    Ok(code)
}

/// The files of each side.
fn sides(files: &Files, new: &PathBuf) -> Result<[RunFiles; 2], Failure> {
    Ok([RunFiles::find(&files.traces)?, RunFiles::find(std::slice::from_ref(new))?])
}

/// Reads the profiles of a side. What cannot be read is reported.
fn profiles(side: &RunFiles, files: &Files, code: &mut u8) -> Vec<Profile> {
    let mut profiles = Vec::new();
    read_run(side, &files.reading.rules, &Joins::default(), &mut |found: Found| {
        let is_other = found.is_other_file();
        if files.strict && matches!(&found.content, Ok(Content::Trace(trace)) if !trace.has_events()) {
            report_without_events(&found.path);
            *code = (*code).max(UNFIT);
        }
        match found.content {
            Ok(Content::Trace(trace)) if found.is_named => {
                profiles.push(Profile::from_trace(&trace, &found.path));
            }
            Ok(Content::Trace(trace)) => profiles.push(Profile::from_rank(&trace, &found.name)),
            Ok(Content::Summaries(summaries)) => {
                profiles.extend(summaries.into_iter().map(Profile::from_summary));
            }
            // A file of another kind is no loss, but a trace that was cut off looks like one.
            Err(reason) if is_other => report(format!("{}: {reason}", found.path)),
            Err(reason) => {
                report(format!("{}: {reason}", found.path));
                *code = UNREADABLE;
            }
        }
    });
    profiles
}
