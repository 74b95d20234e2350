//! The commands that write traces.

use crate::answer::{is_partial, report_of, report_partial, report_without_events};
use crate::args::{self, Files};
use crate::audit::Audits;
use crate::destinations::destinations;
use crate::failure::{Failure, UNFIT, report};
use crate::named_files::Inputs;
use crate::random::random;
use crate::reading::read_or_report;
use clap::ArgMatches;
use kinetoscope::files::Output;
use kinetoscope::files::{Source, sources, unpacker};
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::base::diagnostics::Severity;
use kinetoscope_core::base::units::counted;
use kinetoscope_core::output::write::repair::{Repaired, Repairer};
use kinetoscope_core::queries::writing::Writing;
use kinetoscope_core::queries::{self, Export, Started};
use kinetoscope_core::trace::Trace;
use std::fmt::Write;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Exports every trace. Returns the highest exit code.
pub(crate) fn export(name: &str, matches: &ArgMatches) -> Result<u8, Failure> {
    let export = queries::export(name)?;
    let options = args::options(export.options, matches)?;
    let files = Files::from_matches(matches);
    let sources = sources(&files.traces)?;
    if export.is_binary() && files.output.is_none() && io::stdout().is_terminal() {
        return Err(Failure::usage(format!("{name} is not text: name a file with --output, or use a pipe")));
    }
    let several = sources.len() > 1;
    let mut audits = Audits::from_matches(name, matches, several);
    let only_audits = audits.is_some() && files.output.is_none();
    let paths = if only_audits {
        vec![None; sources.len()]
    } else {
        destinations(&files, (&sources, &Inputs::from_matches(matches)), export.extension)?
    };
    let mut code = 0;
    let mut any_matches = false;
    for (source, path) in sources.iter().zip(&paths) {
        let Some(trace) = read_or_report(source, &files.reading, &mut code) else { continue };
        if let Some(audits) = &mut audits {
            audits.add(&source.name(), &trace);
        }
        let matches = if only_audits {
            Ok(true)
        } else {
            export_one(export, &options, &trace, (source, several, path.as_deref()))
        };
        match matches {
            Ok(matches) => any_matches |= matches,
            Err(failure) => {
                code = code.max(report_failure(source, &failure));
                continue;
            }
        }
        if files.strict && !trace.has_events() {
            report_without_events(&source.path());
            code = code.max(UNFIT);
        }
        if files.strict && is_partial(&trace) {
            report_partial(&source.path());
            code = code.max(UNFIT);
        }
    }
    if !any_matches && code == 0 {
        return Err(Failure::usage("no trace has one of these ranks"));
    }
    if let Some(audits) = audits {
        audits.print()?;
    }
    Ok(code)
}

/// Exports one trace. Returns whether the trace matches what the options select.
fn export_one(
    export: &Export,
    options: &Options,
    trace: &Trace,
    (source, several, path): (&Source, bool, Option<&Path>),
) -> Result<bool, Failure> {
    match export.begin(trace, options, &random::<32>()?)? {
        Started::Writing(writing) => {
            if let Some(hint) = &writing.hint {
                report_of(source, several, hint);
            }
            if let Some(kept) = writing.kept {
                report_of(
                    source,
                    several,
                    &format!("kept {kept} of {}", counted(trace.table.len(), "event")),
                );
            }
            write(writing, trace, path).map(|()| true)
        }
        Started::Skipped => Ok(false),
    }
}

/// Writes one trace.
fn write(mut writing: Writing, trace: &Trace, path: Option<&Path>) -> Result<(), Failure> {
    let mut output = Output::create(path)?;
    let mut piece = Vec::new();
    let mut more = true;
    while more {
        piece.clear();
        more = writing.next(trace, &mut piece);
        // `finish` returns the error.
        more &= output.write(&piece);
    }
    Ok(output.finish()?)
}

/// Reports a failure of one source and returns its exit code.
fn report_failure(source: &Source, failure: &Failure) -> u8 {
    report(format!("{}: {}", source.path(), failure.message));
    failure.code
}

/// Repairs every trace. Returns the highest exit code.
pub(crate) fn repair(matches: &ArgMatches) -> Result<u8, Failure> {
    let args = Files::from_matches(matches);
    let sources = sources(&args.traces)?;
    let mut code = 0;
    let paths = destinations(&args, (&sources, &Inputs::from_matches(matches)), None)?;
    for (source, path) in sources.iter().zip(paths) {
        match repair_one(source, path) {
            Ok(repaired) => {
                for finding in repaired.diagnostics.findings() {
                    let (name, description) = (finding.code.as_str(), finding.code.description());
                    report(format!("{name} ×{}: {description}", finding.count));
                }
                report(format!("{}: {} written", source.name(), counted(repaired.events as usize, "event")));
                if args.strict && repaired.events == 0 {
                    report_without_events(&source.path());
                    code = code.max(UNFIT);
                }
                if args.strict && repaired.diagnostics.worst() == Some(Severity::Lost) {
                    code = code.max(UNFIT);
                }
            }
            Err(failure) => code = code.max(report_failure(source, &failure)),
        }
    }
    Ok(code)
}

fn repair_one(source: &Source, path: Option<PathBuf>) -> Result<Repaired, Failure> {
    let mut input = source.reader()?;
    let mut repairer = Repairer::new(unpacker(), LazyOutput { path, output: None });
    let mut buffer = vec![0; 256 << 10];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => repairer.feed(&buffer[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (output, repaired) = repairer.finish()?;
    if let Some(result) = output.output {
        result?.finish()?;
    }
    Ok(repaired)
}

/// An output that is created at the first write, so that input that is not a trace leaves no file. Writes always succeed: the
/// first error is returned by [`Output::finish`].
struct LazyOutput {
    path: Option<PathBuf>,
    output: Option<io::Result<Output>>,
}

impl Write for LazyOutput {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if let Ok(output) = self.output.get_or_insert_with(|| Output::create(self.path.as_deref())) {
            let _ = output.write_str(text);
        }
        Ok(())
    }
}
