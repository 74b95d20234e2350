//! Reads traces by the rules that the user chose, with the files that are joined to them.

use crate::failure::{UNREADABLE, report};
use crate::joins::Joins;
use crate::progress::{Bar, read_outline_with_bar, read_with_bar};
use crate::steps_from::StepsFrom;
use kinetoscope::files::{Content, Found, InputError, RunFiles, Source, read_window, read_within};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::kernel_rules::KernelRules;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::step_rules::StepRules;
use kinetoscope_core::trace::versions::Rules;
use std::path::Path;

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
        if self.steps.is_some() && !trace.has_own_steps() {
            report("--step-rules: no range of the trace has a name that one of the patterns matches");
        }
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
    /// The files that are joined to it.
    pub(crate) joins: Joins,
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

/// Reads a source, applies the rules if the user chose some, and joins other files. If something cannot be read, reports why and
/// raises the exit code to [`UNREADABLE`].
pub(crate) fn read_or_report(source: &Source, reading: &Reading, code: &mut u8) -> Option<Trace> {
    let read = read_part(source, reading).map_err(|error| error.to_string()).and_then(|mut trace| {
        reading.rules.apply(&mut trace).map_err(|error| format!("{}: {error}", source.path()))?;
        reading.joins.apply(&mut trace, path_of(source))?;
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

/// The path of a source; `None` for standard input.
fn path_of(source: &Source) -> Option<&Path> {
    match source {
        Source::File(path) => Some(path),
        Source::Stdin => None,
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

/// Reads the files of a run with a progress bar, and calls `each` with each of them before the next one is read.
pub(crate) fn read_run(files: &RunFiles, rules: &ChosenRules, joins: &Joins, each: &mut dyn FnMut(Found)) {
    let mut bar = Bar::new(Some(files.len() as u64), "{msg} {wide_bar} {pos}/{len} files");
    files.read(
        &mut |at| bar.update(at.index as u64, || format!("{} · {} events", at.name, at.progress.events)),
        &mut |mut found| {
            match &mut found.content {
                Ok(Content::Trace(trace)) => {
                    let joined = |trace: &mut Trace| joins.apply(trace, Some(Path::new(&found.path)));
                    if let Err(error) = rules.apply(trace).and_then(|()| joined(trace)) {
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
