//! The flight recorder: keeps the last seconds in memory and writes them to a file when something goes wrong.

mod watch;

use super::builder::ProfilerBuilder;
use super::setters::setters;
#[cfg(unix)]
use super::signal::Signals;
use super::step::StepSpan;
use crate::error::RecordError;
use crate::hot::local;
use crate::hot::lock::hold;
use crate::io_error::with_path;
use crate::json::Members;
use crate::options::{Destination, Options};
use crate::output::session::Session;
use crate::output::stream::Stream;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Once, Weak};
use std::time::Duration;
use std::{fs, panic};
use watch::{Limits, Watch};

/// The options of a flight recorder: what it keeps and when it writes. [`FlightRecorder::builder`] returns the
/// defaults.
#[derive(Clone, Debug)]
#[must_use = "a builder records nothing until it is started"]
pub struct FlightBuilder {
    options: Options,
    folder: PathBuf,
    keep: Duration,
    bytes: usize,
    on_panic: bool,
    #[cfg(unix)]
    on_signal: bool,
    #[cfg(unix)]
    on_end: bool,
    slow_step: Option<Duration>,
    limits: Limits,
}

setters!(FlightBuilder);

impl FlightBuilder {
    /// Records what a profiler with these options would record.
    pub(crate) fn options_of(mut self, profiler: ProfilerBuilder) -> Self {
        self.options = Options { flush_interval: self.options.flush_interval, ..profiler.options };
        self
    }

    /// Sets how long records are kept. The default is 10 s.
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = keep;
        self
    }

    /// Sets the limit of the kept records, in bytes. The default is 256 MiB. The records that wait in buffers of the threads
    /// come on top: at most [`buffer_bytes`](Self::buffer_bytes), twice while they are collected.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Also writes when a thread panics, even if the panic is caught.
    pub fn on_panic(mut self, is_on: bool) -> Self {
        self.on_panic = is_on;
        self
    }

    /// Also writes when the process receives the signal `SIGUSR1`. Only on Unix.
    #[cfg(unix)]
    pub fn on_signal(mut self, is_on: bool) -> Self {
        self.on_signal = is_on;
        self
    }

    /// Also writes when the process receives `SIGTERM` or aborts (`SIGABRT`), before it ends. Only on Unix.
    ///
    /// After the file is written, the process ends as without a flight recorder. If the program has a handler of its own
    /// for `SIGTERM`, that is called, and the file is written at the same time. The thread that aborts waits at most 5 s.
    #[cfg(unix)]
    pub fn on_end(mut self, is_on: bool) -> Self {
        self.on_end = is_on;
        self
    }

    /// Sets the maximum number of files that the conditions of this builder cause. The default is 100. Further dumps are
    /// counted: [`FlightRecorder::skipped`].
    pub fn max_files(mut self, files: u64) -> Self {
        self.limits.files = files;
        self
    }

    /// Sets the minimum time between two files that the conditions of this builder cause. The default is 1 s. Dumps in
    /// between are counted: [`FlightRecorder::skipped`].
    pub fn min_interval(mut self, interval: Duration) -> Self {
        self.limits.interval = interval;
        self
    }

    /// Also writes when a step takes longer than this: while the step is still running, and again when it has ended, to the
    /// same file.
    pub fn slow_step(mut self, bound: Duration) -> Self {
        self.slow_step = Some(bound);
        self
    }

    /// Starts the flight recorder.
    ///
    /// # Errors
    /// Returns [`RecordError::AlreadyRecording`] if a profiler records, and [`RecordError::Io`] if the folder cannot be
    /// created or the signal handler cannot be installed.
    pub fn start(self) -> Result<FlightRecorder, RecordError> {
        fs::create_dir_all(&self.folder).map_err(with_path(&self.folder))?;
        #[cfg_attr(not(unix), allow(unused_mut))]
        let mut watch = Watch::new(self.folder, self.slow_step, self.limits);
        #[cfg(unix)]
        if self.on_signal || self.on_end {
            watch.signals = Some(Signals::watch(self.on_signal, self.on_end)?);
        }
        let watch = Arc::new(watch);
        let mut options = self.options;
        options.destination = Destination::Ring { keep: self.keep, bytes: self.bytes };
        let its_watch = Arc::clone(&watch);
        let mut session =
            Session::prepare_with(&options, 0, Box::new(move |stream| its_watch.on_flush(stream)))?;
        session.enable();
        let (session, step) = (Mutex::new(Some(session)), Mutex::new((0, None)));
        let shared = Arc::new(Shared { process: std::process::id(), session, watch, step });
        if self.on_panic {
            dump_on_panic(&shared);
        }
        Ok(FlightRecorder { shared })
    }
}

struct Shared {
    process: u32,
    session: Mutex<Option<Session>>,
    watch: Arc<Watch>,
    /// The number of the next step, and the span of the present one.
    step: Mutex<(u64, Option<StepSpan>)>,
}

impl Shared {
    /// Calls a function with the stream while the writer is locked out.
    fn with_stream<T>(&self, run: impl FnOnce(&mut Stream) -> T) -> Result<T, RecordError> {
        // Before any lock: in a forked child, the thread that holds one does not exist.
        if self.process != std::process::id() {
            return Err(RecordError::Forked);
        }
        // Marks the thread as busy, so that the panic hook ignores a panic in here.
        local::unrecorded(|| {
            let session = hold(&self.session);
            session.as_ref().ok_or(RecordError::NotStarted)?.with_stream(run)
        })
    }

    /// Ends the step. If it was slow, the file has its end.
    fn end_step(&self) {
        hold(&self.step).1 = None;
        if let Some(step) = self.watch.end_step() {
            let _ = self.with_stream(|stream| self.watch.dump_ended_step(stream, step));
        }
    }
}

/// Keeps the last seconds of a recording and writes them to the file `HOST_PID.TIME.NUMBER.ktrace` in its folder: on
/// [`dump`](FlightRecorder::dump), and on the conditions that are set with its [builder](FlightRecorder::builder).
///
/// ```no_run
/// use kinetoscope::FlightRecorder;
/// use std::time::Duration;
///
/// let flight = FlightRecorder::builder("flights").on_panic(true).slow_step(Duration::from_secs(1)).start()?;
/// for _batch in 0..100 {
///     flight.step();
///     // …
/// }
/// # Ok::<(), kinetoscope::RecordError>(())
/// ```
pub struct FlightRecorder {
    shared: Arc<Shared>,
}

impl FlightRecorder {
    /// Returns a builder for a flight recorder that keeps 10 s in at most 256 MiB and writes to this folder.
    pub fn builder(folder: impl Into<PathBuf>) -> FlightBuilder {
        FlightBuilder {
            options: Options { flush_interval: Duration::from_millis(200), ..Options::default() },
            folder: folder.into(),
            keep: Duration::from_secs(10),
            bytes: 256 << 20,
            on_panic: false,
            #[cfg(unix)]
            on_signal: false,
            #[cfg(unix)]
            on_end: false,
            slow_step: None,
            limits: Limits { files: 100, interval: Duration::from_secs(1) },
        }
    }

    /// Writes the kept records to a file and returns its path.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the file cannot be written, and [`RecordError::Forked`] in a forked child.
    pub fn dump(&self) -> Result<PathBuf, RecordError> {
        self.shared.with_stream(|stream| self.shared.watch.dump(stream))?
    }

    /// Ends a step and begins the next one: a user annotation `ProfilerStep#NUMBER`, with numbers from 0. If the step took
    /// longer than the bound, it is written.
    pub fn step(&self) {
        self.shared.end_step();
        let mut step = hold(&self.shared.step);
        step.1 = Some(StepSpan::begin(step.0));
        step.0 += 1;
        self.shared.watch.begin_step();
    }

    /// Ends the step without beginning another one: the time until the next [`step`](Self::step) is not part of a step.
    pub fn end_step(&self) {
        self.shared.end_step();
    }

    /// Returns the path of the last file that was written.
    pub fn last_dump(&self) -> Option<PathBuf> {
        self.shared.watch.last()
    }

    /// Returns the number of files that were written.
    pub fn dumps(&self) -> u64 {
        self.shared.watch.written.load(Ordering::Acquire)
    }

    /// Returns the number of dumps that failed. The first of equal errors is also reported on standard error.
    pub fn failed(&self) -> u64 {
        self.shared.watch.failed.load(Ordering::Relaxed)
    }

    /// Returns the error of the last dump that failed.
    pub fn last_error(&self) -> Option<String> {
        self.shared.watch.last_error()
    }

    /// Returns the number of dumps that were left out because of the limits.
    pub fn skipped(&self) -> u64 {
        self.shared.watch.skipped.load(Ordering::Relaxed)
    }
}

impl Drop for FlightRecorder {
    /// Stops recording without writing a file.
    fn drop(&mut self) {
        if self.shared.process != std::process::id() {
            return;
        }
        hold(&self.shared.step).1 = None;
        let session = hold(&self.shared.session).take();
        if let Some(session) = session {
            let _ = session.finish(&Members::default());
        }
    }
}

static ON_PANIC: Mutex<Weak<Shared>> = Mutex::new(Weak::new());

/// Adds a panic hook that dumps the present flight recorder. The hook is installed once and calls the previous one
/// first.
fn dump_on_panic(shared: &Arc<Shared>) {
    static HOOK: Once = Once::new();
    *hold(&ON_PANIC) = Arc::downgrade(shared);
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            before(info);
            // The recorder itself panicked: this thread may hold its locks.
            if local::is_busy() {
                return;
            }
            let shared = ON_PANIC.try_lock().ok().and_then(|shared| shared.upgrade());
            if let Some(shared) = shared {
                let _ = shared.with_stream(|stream| shared.watch.dump_within_limits(stream));
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;

    #[test]
    fn a_panic_inside_the_recorder_does_not_deadlock() {
        let _alone = hold(&crate::hot::lock::RECORDING);
        let folder = tempfile::tempdir().expect("a folder");
        let flight = FlightRecorder::builder(folder.path()).on_panic(true).start().expect("a start");
        let (done, is_done) = channel();
        let shared = Arc::clone(&flight.shared);
        // On another thread, because a deadlock would block this one.
        thread::spawn(move || {
            let panicked = panic::catch_unwind(panic::AssertUnwindSafe(|| {
                let session = hold(&shared.session);
                let session = session.as_ref().expect("a running session");
                let _ = session.with_stream(|_| panic!("while the stream is locked"));
            }));
            done.send(panicked.is_err()).expect("a receiver");
        });
        assert_eq!(is_done.recv_timeout(Duration::from_secs(20)), Ok(true));
        assert_eq!(flight.dumps(), 0);
        let _ = thread::spawn(|| panic!("elsewhere")).join();
        assert_eq!(flight.dumps(), 1, "a panic elsewhere still writes a dump");
    }
}
