//! A progress bar on standard error if reading takes longer than a second and standard error is a terminal.

use crate::failure::{UNREADABLE, report};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kinetoscope::files::{InputError, Progress, Source, read};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::versions::Rules;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(1);

/// Reads a source, and applies the rules if the user chose some. If it cannot be read, reports why and raises the exit
/// code to [`UNREADABLE`].
pub(crate) fn read_or_report(source: &Source, rules: Option<&'static Rules>, code: &mut u8) -> Option<Trace> {
    match read_with_bar(source) {
        Ok(mut trace) => {
            trace.rules = rules.unwrap_or(trace.rules);
            Some(trace)
        }
        Err(error) => {
            report(error);
            *code = (*code).max(UNREADABLE);
            None
        }
    }
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
