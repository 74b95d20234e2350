//! The verbs that write traces.

use super::answer::is_partial;
use super::args::{FileArgs, FoldedArgs, RedactArgs, ShrinkArgs, SliceArgs};
use super::progress::read_or_tell;
use super::{Failure, PARTLY_READ, UNREADABLE};
use crate::input::{Source, sources, unpacker};
use crate::output::Output;
use kinetoscope_core::analysis::call_tree;
use kinetoscope_core::analysis::function_events::FunctionEvents;
use kinetoscope_core::analysis::stacks::{self, Metric};
use kinetoscope_core::diagnostics::Severity;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::write::chrome::{self, ChromeWriter};
use kinetoscope_core::write::csv as lines;
use kinetoscope_core::write::redact::Redact;
use kinetoscope_core::write::repair::Repairer;
use kinetoscope_core::write::select::{Selection, select};
use std::fmt::Write;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::path::PathBuf;

/// Where the result of one source goes: the output itself, or a file of the source's name in the output folder.
fn destination(
    args: &FileArgs,
    source: &Source,
    several: bool,
    extension: Option<&str>,
) -> Result<Option<PathBuf>, Failure> {
    let Some(output) = &args.output else {
        if several {
            return Err(Failure::usage("several traces need --output FOLDER"));
        }
        return Ok(None);
    };
    if !several && !output.is_dir() {
        return Ok(Some(output.clone()));
    }
    fs::create_dir_all(output)?;
    let name = source.name();
    let plain = name.trim_end_matches(".zst");
    let name = match extension {
        Some(extension) => format!("{}.{extension}", plain.trim_end_matches(".gz")),
        None => plain.to_owned(),
    };
    let path = output.join(name);
    if matches!(source, Source::File(input) if same_file(input, &path)) {
        return Err(Failure::usage(format!("{} would overwrite its input", path.display())));
    }
    Ok(Some(path))
}

fn same_file(a: &std::path::Path, b: &std::path::Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Reads every trace that `wanted` and writes what `write` makes of it.
fn each(
    args: &FileArgs,
    extension: Option<&str>,
    wanted: impl Fn(&Trace) -> bool,
    write: impl Fn(&Trace, &mut Output) -> Result<(), String>,
) -> Result<u8, Failure> {
    let sources = sources(&args.traces)?;
    let mut code = 0;
    let mut written = 0;
    for source in &sources {
        let Some(trace) = read_or_tell(source, &mut code) else { continue };
        if !wanted(&trace) {
            continue;
        }
        if args.strict && is_partial(&trace) {
            code = code.max(PARTLY_READ);
        }
        let path = destination(args, source, sources.len() > 1, extension)?;
        let mut output = Output::create(path.as_deref())?;
        let result = write(&trace, &mut output);
        output.finish()?;
        result.map_err(|message| Failure::usage(format!("{}: {message}", source.name())))?;
        written += 1;
    }
    if written == 0 && code == 0 {
        return Err(Failure::usage("no trace matches"));
    }
    Ok(code)
}

/// The output keeps its first error, which [`Output::finish`] tells.
fn ignore<T>(_: Result<T, std::fmt::Error>) {}

pub(super) fn chrome(args: &FileArgs) -> Result<u8, Failure> {
    each(
        args,
        None,
        |_| true,
        |trace, output| {
            ignore(chrome::write(&trace.table, output, |_| true));
            Ok(())
        },
    )
}

pub(super) fn csv(args: &FileArgs) -> Result<u8, Failure> {
    each(
        args,
        Some("csv"),
        |_| true,
        |trace, output| {
            ignore(lines::write(&trace.table, output));
            Ok(())
        },
    )
}

pub(super) fn folded(args: &FoldedArgs) -> Result<u8, Failure> {
    let metric = Metric::of(&args.metric)
        .ok_or_else(|| Failure::usage("--metric is self_cpu_time_total or self_cuda_time_total"))?;
    each(
        &args.file,
        Some("folded"),
        |_| true,
        |trace, output| {
            let text = if args.lanes {
                call_tree::folded(trace)
            } else {
                let events = FunctionEvents::new(trace);
                if events.stacks.is_empty() {
                    return Err("no stacks in this trace; --lanes folds its spans instead".to_owned());
                }
                stacks::export(&events, &trace.table, metric)
            };
            ignore(output.write_str(&text));
            Ok(())
        },
    )
}

pub(super) fn slice(args: &SliceArgs) -> Result<u8, Failure> {
    if args.steps.is_none() && args.time.is_none() && args.ranks.is_empty() {
        return Err(Failure::usage("give --steps, --time or --ranks"));
    }
    let selection = Selection { steps: args.steps, time: args.time, ..Selection::default() };
    let wanted = |trace: &Trace| {
        args.ranks.is_empty() || trace.table.metadata.rank().is_some_and(|rank| args.ranks.contains(&rank))
    };
    each(&args.file, None, wanted, |trace, output| write_selection(trace, &selection, output))
}

pub(super) fn shrink(args: &ShrinkArgs) -> Result<u8, Failure> {
    if args.min_duration == 0 && args.drop.is_empty() {
        return Err(Failure::usage("give --min-duration or --drop"));
    }
    let selection = Selection {
        min_duration_ns: args.min_duration,
        drop_categories: args.drop.clone(),
        ..Selection::default()
    };
    each(&args.file, None, |_| true, |trace, output| write_selection(trace, &selection, output))
}

fn write_selection(trace: &Trace, selection: &Selection, output: &mut Output) -> Result<(), String> {
    let keep = select(trace, selection).map_err(|error| error.to_string())?;
    let kept = keep.iter().filter(|&&k| k).count();
    eprintln!("kinetoscope: kept {kept} of {} events", trace.table.len());
    ignore(chrome::write(&trace.table, output, |row| keep[row as usize]));
    Ok(())
}

pub(super) fn redact(args: &RedactArgs) -> Result<u8, Failure> {
    each(
        &args.file,
        None,
        |_| true,
        |trace, output| {
            let salt = args.salt.clone().map_or_else(random_salt, String::into_bytes);
            let mut writer = ChromeWriter::with_rewrite(output, Redact::new(&salt));
            for row in trace.table.rows() {
                ignore(writer.event(&trace.table, row));
            }
            ignore(writer.finish(&trace.table));
            Ok(())
        },
    )
}

/// 256 bits from the seeds that the standard library draws from the operating system.
fn random_salt() -> Vec<u8> {
    (0..4u8).flat_map(|n| RandomState::new().hash_one(n).to_le_bytes()).collect()
}

pub(super) fn repair(args: &FileArgs) -> Result<u8, Failure> {
    let sources = sources(&args.traces)?;
    let mut code = 0;
    for source in &sources {
        let path = destination(args, source, sources.len() > 1, None)?;
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

/// An output that is created by its first text, so that a file that is no trace leaves none behind.
struct LazyOutput {
    path: Option<PathBuf>,
    output: Option<io::Result<Output>>,
}

impl Write for LazyOutput {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let path = self.path.as_deref();
        match self.output.get_or_insert_with(|| Output::create(path)) {
            Ok(output) => output.write_str(text),
            Err(_) => Err(std::fmt::Error),
        }
    }
}
