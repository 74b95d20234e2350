//! The flight recorder: keeps the last seconds in memory and writes them to a file when something goes wrong.

#[cfg(unix)]
use super::signal::Signal;
use crate::error::RecordError;
use crate::hot::local;
use crate::hot::lock::hold;
use crate::hot::system::host_name;
use crate::options::{Destination, Options};
use crate::output::session::Session;
use crate::output::stream::Stream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{fs, panic};

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
    slow_step: Option<Duration>,
}

impl FlightBuilder {
    /// Sets how long records are kept. The default is 10 s.
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = keep;
        self
    }

    /// Sets the limit of the kept records, in bytes. The default is 256 MiB.
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

    /// Also writes when a step takes longer than this, once for each such step, even while the step is still running.
    pub fn slow_step(mut self, bound: Duration) -> Self {
        self.slow_step = Some(bound);
        self
    }

    /// Records the shapes, types and values of inputs that spans have as arguments.
    pub fn record_shapes(mut self, is_on: bool) -> Self {
        self.options.record_shapes = is_on;
        self
    }

    /// Records every allocation that is reported to [`memory`](crate::memory).
    pub fn profile_memory(mut self, is_on: bool) -> Self {
        self.options.profile_memory = is_on;
        self
    }

    /// Starts the flight recorder.
    ///
    /// # Errors
    /// Returns [`RecordError::AlreadyRecording`] if a profiler records, and [`RecordError::Io`] if the folder cannot be
    /// created or the signal handler cannot be installed.
    pub fn start(self) -> Result<FlightRecorder, RecordError> {
        fs::create_dir_all(&self.folder)?;
        let watch = Arc::new(Watch {
            folder: self.folder,
            bound: self.slow_step,
            #[cfg(unix)]
            signal: self.on_signal.then(Signal::watch).transpose()?,
            ..Watch::default()
        });
        let mut options = self.options;
        options.destination = Destination::Ring { keep: self.keep, bytes: self.bytes };
        let its_watch = Arc::clone(&watch);
        let mut session =
            Session::prepare_with(&options, 0, Box::new(move |stream| its_watch.on_flush(stream)))?;
        session.enable();
        let shared = Arc::new(Shared { session: Mutex::new(Some(session)), watch });
        if self.on_panic {
            dump_on_panic(&shared);
        }
        Ok(FlightRecorder { shared })
    }
}

/// The conditions for a dump, which the writer thread checks after each flush.
#[derive(Debug, Default)]
struct Watch {
    folder: PathBuf,
    bound: Option<Duration>,
    #[cfg(unix)]
    signal: Option<Signal>,
    step: Mutex<Option<Instant>>,
    steps: AtomicU64,
    /// The last step, counted from 1, that was dumped because it was slow.
    dumped_step: AtomicU64,
    /// Dumps that ended. Numbers the files, since the lock of the stream allows one dump at a time.
    dumps: AtomicU64,
    last: Mutex<Option<PathBuf>>,
}

impl Watch {
    fn on_flush(&self, stream: &mut Stream) {
        if self.is_signalled() || self.is_newly_slow() {
            let _ = self.dump(stream);
        }
    }

    #[cfg(unix)]
    fn is_signalled(&self) -> bool {
        self.signal.is_some() && Signal::take_received()
    }

    #[cfg(not(unix))]
    fn is_signalled(&self) -> bool {
        false
    }

    /// Returns whether the present step exceeds the bound and was not reported yet.
    fn is_newly_slow(&self) -> bool {
        let step = self.steps.load(Ordering::Relaxed);
        let began = *hold(&self.step);
        let is_slow = began.zip(self.bound).is_some_and(|(began, bound)| began.elapsed() > bound);
        is_slow && self.dumped_step.swap(step, Ordering::Relaxed) != step
    }

    /// Writes a file. The dump is counted after [`last`](Watch::last) is set, so that a thread that reads the count
    /// also reads the path.
    fn dump(&self, stream: &mut Stream) -> Result<PathBuf, RecordError> {
        let written = self.write(stream);
        self.dumps.fetch_add(1, Ordering::Release);
        written
    }

    fn write(&self, stream: &mut Stream) -> Result<PathBuf, RecordError> {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let number = self.dumps.load(Ordering::Relaxed);
        let name = format!("{}_{}.{unix}.{number}.ktrace", host_name(), std::process::id());
        let path = self.folder.join(name);
        // Written under another name first, so that no program reads an incomplete file.
        let unfinished = path.with_extension("unfinished");
        fs::write(&unfinished, stream.so_far())?;
        fs::rename(&unfinished, &path)?;
        *hold(&self.last) = Some(path.clone());
        Ok(path)
    }
}

struct Shared {
    session: Mutex<Option<Session>>,
    watch: Arc<Watch>,
}

impl Shared {
    fn dump(&self) -> Result<PathBuf, RecordError> {
        // Marks the thread as busy, so that the panic hook ignores a panic in here.
        local::unrecorded(|| {
            let session = hold(&self.session);
            let session = session.as_ref().ok_or(RecordError::NotStarted)?;
            session.with_stream(|stream| self.watch.dump(stream))?
        })
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
            options: Options::default(),
            folder: folder.into(),
            keep: Duration::from_secs(10),
            bytes: 256 << 20,
            on_panic: false,
            #[cfg(unix)]
            on_signal: false,
            slow_step: None,
        }
    }

    /// Writes the kept records to a file and returns its path.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the file cannot be written, and [`RecordError::Forked`] in a forked child.
    pub fn dump(&self) -> Result<PathBuf, RecordError> {
        self.shared.dump()
    }

    /// Ends a step and begins the next one. If the step took longer than the bound and was not written yet, it is
    /// written now.
    pub fn step(&self) {
        let watch = &self.shared.watch;
        if watch.is_newly_slow() {
            let _ = self.dump();
        }
        *hold(&watch.step) = Some(Instant::now());
        watch.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the path of the last file that was written.
    pub fn last_dump(&self) -> Option<PathBuf> {
        hold(&self.shared.watch.last).clone()
    }

    /// Returns the number of dumps, including those that could not be written.
    pub fn dumps(&self) -> u64 {
        self.shared.watch.dumps.load(Ordering::Acquire)
    }
}

impl Drop for FlightRecorder {
    /// Stops recording without writing a file.
    fn drop(&mut self) {
        let session = hold(&self.shared.session).take();
        if let Some(session) = session {
            let _ = session.finish(&[]);
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
                let _ = shared.dump();
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
