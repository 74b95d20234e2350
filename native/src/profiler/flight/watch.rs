//! The conditions for a dump, its limits, and the files.

use crate::error::RecordError;
use crate::hot::lock::hold;
use crate::hot::system::host_name;
use crate::io_error::with_path;
use crate::output::stream::Stream;
#[cfg(unix)]
use crate::profiler::signal::Signals;
use crate::replace::{Access, Replacement};
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The limits of dumps that a condition causes. [`FlightRecorder::dump`](crate::FlightRecorder::dump) has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The maximum number of files.
    pub(crate) files: u64,
    /// The minimum time between two dumps.
    pub(crate) interval: Duration,
}

/// The step that runs.
#[derive(Clone, Debug)]
struct RunningStep {
    began: Instant,
    /// The file that was written because the step is slow.
    written: Option<PathBuf>,
    /// Whether the step was found to be slow.
    is_slow: bool,
}

/// A slow step that has ended.
#[derive(Debug)]
pub(crate) struct SlowStep {
    /// The file that was written while it ran.
    written: Option<PathBuf>,
}

/// What the dumps of a flight recorder did.
#[derive(Debug, Default)]
struct Outcome {
    last: Option<PathBuf>,
    last_at: Option<Instant>,
    last_error: Option<String>,
}

/// The conditions for a dump, which the writer thread checks after each flush.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) folder: PathBuf,
    pub(crate) bound: Option<Duration>,
    #[cfg(unix)]
    pub(crate) signals: Option<Signals>,
    pub(crate) limits: Limits,
    step: Mutex<Option<RunningStep>>,
    outcome: Mutex<Outcome>,
    /// The files that were written, the dumps that failed, and those beyond the limits.
    pub(crate) written: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) skipped: AtomicU64,
}

impl Watch {
    pub(crate) fn new(folder: PathBuf, bound: Option<Duration>, limits: Limits) -> Watch {
        let [written, failed, skipped] = [const { AtomicU64::new(0) }; 3];
        Watch {
            folder,
            bound,
            #[cfg(unix)]
            signals: None,
            limits,
            step: Mutex::new(None),
            outcome: Mutex::default(),
            written,
            failed,
            skipped,
        }
    }

    /// Checks the conditions. Called by the writer thread.
    pub(crate) fn on_flush(&self, stream: &mut Stream) {
        self.dump_slow_step(stream);
        #[cfg(unix)]
        if let Some(signals) = &self.signals {
            if signals.take_dump() {
                let _ = self.dump_within_limits(stream);
            }
            signals.end_process_if_requested(|| {
                let _ = self.dump(stream);
            });
        }
    }

    fn dump_slow_step(&self, stream: &mut Stream) {
        let is_newly_slow = {
            let mut step = hold(&self.step);
            let slow = step.as_mut().filter(|step| !step.is_slow && self.is_over(step));
            slow.is_some_and(|step| !std::mem::replace(&mut step.is_slow, true))
        };
        if is_newly_slow && let Some(Ok(path)) = self.dump_within_limits(stream) {
            // The step may have ended since; then the file has its end.
            if let Some(step) = hold(&self.step).as_mut().filter(|step| step.is_slow) {
                step.written = Some(path);
            }
        }
    }

    fn is_over(&self, step: &RunningStep) -> bool {
        self.bound.is_some_and(|bound| step.began.elapsed() > bound)
    }

    /// Begins a step.
    pub(crate) fn begin_step(&self) {
        *hold(&self.step) = Some(RunningStep { began: Instant::now(), written: None, is_slow: false });
    }

    /// Ends the step. Returns it if it was slow.
    pub(crate) fn end_step(&self) -> Option<SlowStep> {
        let step = hold(&self.step).take()?;
        (step.is_slow || self.is_over(&step)).then_some(SlowStep { written: step.written })
    }

    /// Writes the end of a slow step: replaces the file that was written while it ran, or writes one if there is none.
    pub(crate) fn dump_ended_step(&self, stream: &mut Stream, step: SlowStep) {
        match step.written {
            Some(path) => {
                let result = self.write(stream, path);
                self.note(&result);
            }
            None => drop(self.dump_within_limits(stream)),
        }
    }

    /// Writes a file unless that exceeds the limits.
    pub(crate) fn dump_within_limits(&self, stream: &mut Stream) -> Option<Result<PathBuf, RecordError>> {
        let is_early = hold(&self.outcome).last_at.is_some_and(|at| at.elapsed() < self.limits.interval);
        if is_early || self.written.load(Ordering::Relaxed) >= self.limits.files {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(self.dump(stream))
    }

    /// Writes a file. It is counted after [`last`](Watch::last) is set, so that a thread that reads the count also reads
    /// the path.
    pub(crate) fn dump(&self, stream: &mut Stream) -> Result<PathBuf, RecordError> {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let number = self.written.load(Ordering::Relaxed);
        let name = format!("{}_{}.{unix}.{number}.ktrace", host_name(), std::process::id());
        let result = self.write(stream, self.folder.join(name));
        self.note(&result);
        if result.is_ok() {
            self.written.fetch_add(1, Ordering::Release);
        }
        result
    }

    fn write(&self, stream: &mut Stream, path: PathBuf) -> Result<PathBuf, RecordError> {
        // The folder may have been removed since the start.
        fs::create_dir_all(&self.folder).map_err(with_path(&self.folder))?;
        let mut file = Replacement::create(&path, Access::Owner).map_err(with_path(&path))?;
        stream.write_so_far(&mut file).and_then(|()| file.finish()).map_err(with_path(&path))?;
        Ok(path)
    }

    fn note(&self, result: &Result<PathBuf, RecordError>) {
        let mut outcome = hold(&self.outcome);
        outcome.last_at = Some(Instant::now());
        match result {
            Ok(path) => outcome.last = Some(path.clone()),
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                let text = error.to_string();
                // Once for each error, not for each dump.
                if outcome.last_error.as_ref() != Some(&text) {
                    eprintln!("kinetoscope: the flight recorder could not write a file: {text}");
                }
                outcome.last_error = Some(text);
            }
        }
    }

    pub(crate) fn last(&self) -> Option<PathBuf> {
        hold(&self.outcome).last.clone()
    }

    pub(crate) fn last_error(&self) -> Option<String> {
        hold(&self.outcome).last_error.clone()
    }
}
