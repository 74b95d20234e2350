//! The command `summarize`.

use super::require;
use crate::answer::{is_partial, report_partial, report_without_events};
use crate::args::Files;
use crate::failure::{Failure, UNFIT, UNREADABLE, report};
use crate::joins::Joins;
use crate::named_files::Inputs;
use crate::reading::read_run;
use clap::ArgMatches;
use kinetoscope::files::{Content, Found, Output, RunFiles};
use kinetoscope_core::runs::ranks::file::{Summaries, limit};
use kinetoscope_core::runs::ranks::summary::{MERGED, Summary};
use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Writes the summaries of all files: to one file, or to one file each in a folder.
pub(crate) fn summarize(matches: &ArgMatches) -> Result<u8, Failure> {
    let files = Files::from_matches(matches);
    let Some(output) = matches.get_one::<PathBuf>("output").cloned() else {
        return Err(Failure::usage("summarize needs --output FILE or FOLDER"));
    };
    if output.as_os_str() == "-" && io::stdout().is_terminal() {
        return Err(Failure::usage("a summary is not text: name a file with --output, or use a pipe"));
    }
    let run = RunFiles::find(&files.traces)?;
    let inputs = Inputs::from_matches(matches);
    let mut destination = if output.is_dir() {
        Destination::Folder { folder: output, written: HashSet::new() }
    } else {
        Destination::File { path: output, summaries: Summaries::default() }
    };
    let mut code = 0;
    let mut failure = None;
    read_run(&run, &files.reading.rules, &Joins::default(), &mut |found| {
        let name = found.name.clone();
        if let Some(summary) = encoded(found, files.strict, &mut code) {
            let added = destination.add(&name, summary, &inputs);
            failure = failure.take().or(added.err());
        }
    });
    match failure {
        Some(failure) => Err(failure),
        None => destination.finish().map(|()| code),
    }
}

/// Where the summaries are written.
enum Destination {
    /// All to one file.
    File { path: PathBuf, summaries: Summaries },
    /// Each to its own file.
    Folder { folder: PathBuf, written: HashSet<PathBuf> },
}

impl Destination {
    fn add(&mut self, name: &str, summary: Summaries, inputs: &Inputs) -> Result<(), Failure> {
        match self {
            Destination::File { summaries, .. } => summaries.append(summary),
            Destination::Folder { folder, written } => {
                let path = folder.join(summary_name(name));
                inputs.refuse(&path)?;
                if !written.insert(path.clone()) {
                    let message = format!("two traces would be written to {}", path.display());
                    return Err(Failure::usage(message));
                }
                write(&path, &summary.to_file())?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Destination::File { path, summaries } => {
                require(!summaries.is_empty())?;
                write(&path, &summaries.to_file())
            }
            Destination::Folder { written, .. } => require(!written.is_empty()),
        }
    }
}

/// Returns the summary of a file, or reports why there is none. A trace that was read in part raises the exit code.
fn encoded(found: Found, strict: bool, code: &mut u8) -> Option<Summaries> {
    let is_other = found.is_other_file();
    match found.content {
        Ok(Content::Summaries(all)) => Some(all),
        Ok(Content::Trace(trace)) => {
            if strict && !trace.has_events() {
                report_without_events(&found.path);
                *code = (*code).max(UNFIT);
            }
            if strict && is_partial(&trace) {
                report_partial(&found.path);
                *code = (*code).max(UNFIT);
            }
            let summary = Summary::from_trace(&trace, &found.name);
            if summary.is_merged() {
                report(format!("{}: {MERGED}", found.path));
                *code = (*code).max(UNREADABLE);
                return None;
            }
            Some(Summaries::within(summary, limit(&found.name, found.bytes)))
        }
        Err(reason) => {
            report(format!("{}: {reason}", found.path));
            if !is_other {
                *code = (*code).max(if found.is_named { UNREADABLE } else { UNFIT * u8::from(strict) });
            }
            None
        }
    }
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
