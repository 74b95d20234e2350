//! A progress bar on standard error, if reading takes longer than a second and standard error is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kinetoscope::files::{InputError, Progress, Source, read, read_outline};
use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::escape;
use kinetoscope_core::outline::Outline;
use kinetoscope_core::trace::Trace;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(1);

/// A progress bar that is hidden at first, and removed at the end.
pub(crate) struct Bar {
    bar: ProgressBar,
    start: Instant,
    is_shown: bool,
}

impl Bar {
    pub(crate) fn new(length: Option<u64>, template: &str) -> Bar {
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Bar { bar, start: Instant::now(), is_shown: false }
    }

    pub(crate) fn update(&mut self, position: u64, message: impl FnOnce() -> String) {
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

/// Reads the outline of a source with a progress bar.
pub(crate) fn read_outline_with_bar(source: &Source) -> Result<(Outline, Diagnostics), InputError> {
    read_with_bar(source, |progress| read_outline(source, progress))
}

/// Reads another trace, to join it.
pub(crate) fn read_other(source: &Source) -> Result<Trace, String> {
    read_with_bar(source, |progress| read(source, progress)).map_err(|error| error.to_string())
}

/// Reads a source by `read` with a progress bar.
pub(crate) fn read_with_bar<T>(source: &Source, read: impl FnOnce(&mut dyn FnMut(Progress)) -> T) -> T {
    let mut bar = Bar::new(source.size(), "{msg} {wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec}");
    read(&mut |Progress { bytes, events }| {
        bar.update(bytes, || format!("{} · {events} events", source.name()));
    })
}
