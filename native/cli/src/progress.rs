//! Reads traces, with a progress bar on standard error if that takes longer than a second and standard error is a terminal.

use crate::failure::{UNREADABLE, report};
use crate::steps_from::StepsFrom;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kinetoscope::files::{
    Content, Found, InputError, Progress, RunFiles, Source, read, read_outline, read_window, read_within,
    sources,
};
use kinetoscope_core::base::diagnostics::{Code, Diagnostics};
use kinetoscope_core::base::escape;
use kinetoscope_core::outline::Outline;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::kernel_rules::KernelRules;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::step_rules::StepRules;
use kinetoscope_core::trace::versions::Rules;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, Instant};

/// The rules that the user chose for traces.
#[derive(Clone, Default)]
pub(crate) struct ChosenRules {
    /// The rules of PyTorch to use instead of those of the version that wrote the trace.
    pub(crate) torch: Option<&'static Rules>,
    /// Own rules for the categories of kernels.
    pub(crate) kernels: Option<KernelRules>,
    /// Own rules for the names of iterations.
    pub(crate) steps: Option<StepRules>,
    /// The names of ranges that are steps.
    pub(crate) steps_from: Option<StepsFrom>,
}

impl ChosenRules {
    fn apply(&self, trace: &mut Trace) -> Result<(), String> {
        if let Some(rules) = self.torch {
            trace.choose_rules(rules);
        }
        trace.kernel_rules = self.kernels.clone().unwrap_or_default();
        trace.step_rules = self.steps.clone().unwrap_or_default();
        self.steps_from.as_ref().map_or(Ok(()), |steps| steps.apply(trace))
    }

    fn are_own(&self) -> bool {
        self.torch.is_some() || self.kernels.is_some() || self.steps.is_some() || self.steps_from.is_some()
    }
}

/// How a trace is read.
pub(crate) struct Reading {
    /// The rules that the user chose.
    pub(crate) rules: ChosenRules,
    /// The traces of captures of graphs: those next to the trace if none are given; `None` if they are not used.
    pub(crate) captures: Option<Vec<PathBuf>>,
    /// The execution trace of the same program.
    pub(crate) execution_trace: Option<PathBuf>,
    /// The part of a trace to read, in ns after the start of the recording.
    pub(crate) window: Option<(i64, i64)>,
    /// What a trace and its analyses may take, in bytes.
    pub(crate) memory_limit: Option<usize>,
}

impl Reading {
    fn limits(&self) -> Limits {
        self.memory_limit.map_or(Limits::default(), |bytes| Limits::default().with_memory_bytes(bytes))
    }
}

const PATIENCE: Duration = Duration::from_secs(1);

/// Reads a source, applies the rules if the user chose some, and joins the execution trace. If something cannot be read,
/// reports why and raises the exit code to [`UNREADABLE`].
pub(crate) fn read_or_report(source: &Source, reading: &Reading, code: &mut u8) -> Option<Trace> {
    let read = read_part(source, reading).map_err(|error| error.to_string()).and_then(|mut trace| {
        reading.rules.apply(&mut trace).map_err(|error| format!("{}: {error}", source.path()))?;
        if let Some(path) = &reading.execution_trace {
            for other in sources_of(path)? {
                let joined = trace.join(read_other(&other)?);
                joined.map_err(|error| format!("{}: {error}", other.name()))?;
            }
        }
        match &reading.captures {
            Some(given) if given.is_empty() => join_captures_nearby(&mut trace, source),
            Some(given) => join_captures(&mut trace, given)?,
            None => {}
        }
        Ok(trace)
    });
    match read {
        Ok(trace) => Some(trace),
        Err(error) => {
            report(error);
            *code = (*code).max(UNREADABLE);
            None
        }
    }
}

/// Reads what is wanted of a source, and reports if it does not fit.
fn read_part(source: &Source, reading: &Reading) -> Result<Trace, InputError> {
    let limits = reading.limits();
    let trace = match reading.window {
        Some(window) => {
            let outline = read_outline_with_bar(source)?;
            read_with_bar(source, |progress| read_window(source, &outline, window, limits, progress))
        }
        None => read_with_bar(source, |progress| read_within(source, limits, progress)),
    }?;
    if trace.diagnostics.count(Code::MemoryLimit) > 0 {
        report(format!(
            "{}: it does not fit into the memory limit, and only its beginning was read; of a Chrome trace, `kinetoscope outline` \
             prints totals of all of it, and --window reads another part",
            source.path()
        ));
    }
    Ok(trace)
}

/// Reads the outline of a source with a progress bar.
pub(crate) fn read_outline_with_bar(source: &Source) -> Result<(Outline, Diagnostics), InputError> {
    read_with_bar(source, |progress| read_outline(source, progress))
}

/// Joins the captures that are given. An engine writes one for each size of a batch, so that some can be of no launch: they are
/// reported, unless none is joined.
fn join_captures(trace: &mut Trace, given: &[PathBuf]) -> Result<(), String> {
    let mut refused = Vec::new();
    for path in given {
        for source in sources_of(path)? {
            if let Err(error) = trace.join_capture(read_other(&source)?) {
                refused.push(format!("{}: {error}", source.name()));
            }
        }
    }
    if refused.len() == given.len() {
        return Err(refused.swap_remove(0));
    }
    for error in refused {
        report(format!("not used as a capture: {error}"));
    }
    Ok(())
}

/// The folder of captures that inference engines write next to their traces.
const CAPTURES: &str = "capture_traces";

/// Joins the captures in a folder next to a trace that launches graphs. Reports each that is not used.
fn join_captures_nearby(trace: &mut Trace, source: &Source) {
    let Source::File(path) = source else { return };
    let folder = path.parent().unwrap_or(Path::new("")).join(CAPTURES);
    if !folder.is_dir() || !trace.launches_graphs() {
        return;
    }
    for capture in sources(&[folder]).unwrap_or_default() {
        let joined = read_other(&capture).and_then(|other| {
            trace.join_capture(other).map_err(|error| format!("{}: {error}", capture.path()))
        });
        if let Err(error) = joined {
            report(format!("not used as a capture: {error}"));
        }
    }
}

/// The sources of another trace that is given, which is no folder.
fn sources_of(path: &PathBuf) -> Result<Vec<Source>, String> {
    if path.is_dir() {
        return Err(format!("{}: this is a folder, not a file", path.display()));
    }
    sources(slice::from_ref(path)).map_err(|error| error.to_string())
}

/// Reads another trace, to join it.
fn read_other(source: &Source) -> Result<Trace, String> {
    read_with_bar(source, |progress| read(source, progress)).map_err(|error| error.to_string())
}

/// Reads a source by `read` with a progress bar.
fn read_with_bar<T>(source: &Source, read: impl FnOnce(&mut dyn FnMut(Progress)) -> T) -> T {
    let mut bar = Bar::new(source.size(), "{msg} {wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec}");
    read(&mut |Progress { bytes, events }| {
        bar.update(bytes, || format!("{} · {events} events", source.name()));
    })
}

/// Reads the files of a run with a progress bar, and calls `each` with each of them before the next one is read.
pub(crate) fn read_run(files: &RunFiles, rules: &ChosenRules, each: &mut dyn FnMut(Found)) {
    let mut bar = Bar::new(Some(files.len() as u64), "{msg} {wide_bar} {pos}/{len} files");
    files.read(
        &mut |at| bar.update(at.index as u64, || format!("{} · {} events", at.name, at.progress.events)),
        &mut |mut found| {
            match &mut found.content {
                Ok(Content::Trace(trace)) => {
                    if let Err(error) = rules.apply(trace) {
                        report(format!("{}: {error}", found.path));
                    }
                }
                Ok(Content::Summaries(_)) if rules.are_own() => report(format!(
                    "{}: --torch-version, --kernel-rules, --step-rules and --steps-from do not apply to a summary, which was made by the rules of \
                     its time",
                    found.path
                )),
                _ => {}
            }
            each(found);
        },
    );
}

/// A progress bar that is hidden at first, and removed at the end.
struct Bar {
    bar: ProgressBar,
    start: Instant,
    is_shown: bool,
}

impl Bar {
    fn new(length: Option<u64>, template: &str) -> Bar {
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Bar { bar, start: Instant::now(), is_shown: false }
    }

    fn update(&mut self, position: u64, message: impl FnOnce() -> String) {
        if !self.is_shown && self.start.elapsed() > PATIENCE && stderr().is_terminal() {
            self.is_shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        if self.is_shown {
            self.bar.set_position(position);
            self.bar.set_message(escape::line(&message()).into_owned());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
