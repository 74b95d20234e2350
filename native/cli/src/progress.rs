//! A progress bar on standard error if reading takes longer than a second and standard error is a terminal.

use crate::failure::{UNREADABLE, report};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kinetoscope::files::{InputError, Progress, Source, read, sources};
use kinetoscope_core::kernel_rules::KernelRules;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::versions::Rules;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a trace is read.
pub(crate) struct Reading {
    /// The rules of PyTorch to use instead of those of the version that wrote the trace.
    pub(crate) rules: Option<&'static Rules>,
    /// The rules of the user for the categories of kernels.
    pub(crate) kernel_rules: Option<KernelRules>,
    /// The execution trace of the same program.
    pub(crate) execution_trace: Option<PathBuf>,
}

const PATIENCE: Duration = Duration::from_secs(1);

/// Reads a source, applies the rules if the user chose some, and joins the execution trace. If something cannot be read,
/// reports why and raises the exit code to [`UNREADABLE`].
pub(crate) fn read_or_report(source: &Source, reading: &Reading, code: &mut u8) -> Option<Trace> {
    let read = read_with_bar(source).map_err(|error| error.to_string()).and_then(|mut trace| {
        trace.rules = reading.rules.unwrap_or(trace.rules);
        trace.kernel_rules = reading.kernel_rules.clone().unwrap_or_default();
        match &reading.execution_trace {
            Some(path) => join(trace, path),
            None => Ok(trace),
        }
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

fn join(mut trace: Trace, path: &Path) -> Result<Trace, String> {
    if path.is_dir() {
        return Err(format!("{}: this is a folder, not an execution trace", path.display()));
    }
    for source in sources(&[path.to_owned()]).map_err(|error| error.to_string())? {
        let other = read_with_bar(&source).map_err(|error| error.to_string())?;
        trace.join(other).map_err(|error| format!("{}: {error}", source.name()))?;
    }
    Ok(trace)
}

/// Reads a source with a progress bar.
fn read_with_bar(source: &Source) -> Result<Trace, InputError> {
    if !stderr().is_terminal() {
        return read(source, |_| {});
    }
    let start = Instant::now();
    let bar = ProgressBar::with_draw_target(source.size(), ProgressDrawTarget::hidden());
    let template = "{msg} {wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec}";
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut shown = false;
    let result = read(source, |Progress { bytes, events }| {
        if !shown && start.elapsed() > PATIENCE {
            shown = true;
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        if shown {
            bar.set_position(bytes);
            bar.set_message(format!("{} · {events} events", source.name()));
        }
    });
    bar.finish_and_clear();
    result
}
