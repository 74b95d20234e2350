//! The verbs that write traces.

use crate::answer::is_partial;
use crate::args::{self, Files};
use crate::audit::Audits;
use crate::destinations::destinations;
use crate::failure::{Failure, PARTLY_READ, UNREADABLE};
use crate::progress::read_or_tell;
use crate::random::random;
use clap::ArgMatches;
use kinetoscope::files::Output;
use kinetoscope::files::{Source, sources, unpacker};
use kinetoscope_core::diagnostics::Severity;
use kinetoscope_core::verbs::{self, Begun};
use kinetoscope_core::write::repair::Repairer;
use std::fmt::Write;
use std::io::{self, Read};
use std::path::PathBuf;

/// Writes every trace in a form.
pub(crate) fn export(name: &str, matches: &ArgMatches) -> Result<u8, Failure> {
    let export = verbs::export(name)?;
    let options = args::options(export.options, matches)?;
    let files = Files::of(matches);
    let sources = sources(&files.traces)?;
    let mut audits = Audits::of(name, matches, sources.len() > 1);
    let paths = if audits.is_some() && files.output.is_none() {
        vec![None; sources.len()]
    } else {
        destinations(&files, &sources, export.extension)?
    };
    let mut code = 0;
    let mut written = 0;
    for (source, path) in sources.iter().zip(&paths) {
        let Some(trace) = read_or_tell(source, &mut code) else { continue };
        if let Some(audits) = &mut audits {
            audits.add(&source.name(), &trace);
            if files.output.is_none() {
                written += 1;
                continue;
            }
        }
        let begun = export
            .begin(&trace, &options, &random::<32>()?)
            .map_err(|error| Failure::usage(format!("{}: {error}", source.name())))?;
        let Begun::Writing(mut writing) = begun else { continue };
        if files.strict && is_partial(&trace) {
            code = code.max(PARTLY_READ);
        }
        if let Some(kept) = writing.kept {
            eprintln!("kinetoscope: kept {kept} of {} events", trace.table.len());
        }
        let mut output = Output::create(path.as_deref())?;
        let mut piece = String::new();
        let mut more = true;
        while more {
            piece.clear();
            more = writing.next(&trace, &mut piece);
            // The output keeps its first error, which `finish` tells.
            more &= output.write_str(&piece).is_ok();
        }
        output.finish()?;
        written += 1;
    }
    if written == 0 && code == 0 {
        return Err(Failure::usage("no trace matches"));
    }
    if let Some(audits) = audits {
        audits.print()?;
    }
    Ok(code)
}

pub(crate) fn repair(args: &Files) -> Result<u8, Failure> {
    let sources = sources(&args.traces)?;
    let mut code = 0;
    for (source, path) in sources.iter().zip(destinations(args, &sources, None)?) {
        let repaired = repair_one(source, path)?;
        match repaired {
            Ok((events, lost)) => {
                eprintln!("kinetoscope: {}: {events} events written", source.name());
                if args.strict && lost {
                    code = code.max(PARTLY_READ);
                }
            }
            Err(error) => {
                eprintln!("kinetoscope: {}: {error}", source.name());
                code = code.max(UNREADABLE);
            }
        }
    }
    Ok(code)
}

type RepairResult = Result<(u64, bool), kinetoscope_core::error::Error>;

fn repair_one(source: &Source, path: Option<PathBuf>) -> Result<RepairResult, Failure> {
    let mut input = source.reader()?;
    let mut repairer = Repairer::new(unpacker(), LazyOutput { path, output: None });
    let mut buffer = vec![0; 256 << 10];
    loop {
        let length = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if let Err(error) = repairer.feed(&buffer[..length]) {
            return Ok(Err(error));
        }
    }
    match repairer.finish() {
        Err(error) => Ok(Err(error)),
        Ok((output, repaired)) => {
            if let Some(result) = output.output {
                result?.finish()?;
            }
            for finding in repaired.diagnostics.findings() {
                eprintln!(
                    "kinetoscope: {} ×{}: {}",
                    finding.code.as_str(),
                    finding.count,
                    finding.code.description()
                );
            }
            let lost = repaired.diagnostics.worst() == Some(Severity::Lost);
            Ok(Ok((repaired.events, lost)))
        }
    }
}

/// An output that is created by its first text, so that a file that is no trace leaves none behind. It takes every text: its
/// first error is told at its end.
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
