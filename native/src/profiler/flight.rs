//! The flight recorder: the last seconds, always in memory, written out when something goes wrong.

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

/// What a flight recorder keeps, and when it writes; [`FlightRecorder::builder`] gives the defaults.
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
    /// How long things are kept. 10 s if not said.
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = keep;
        self
    }

    /// How many bytes of records are kept at most. 256 MiB if not said.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Also writes when a thread panics, whoever catches it.
    pub fn on_panic(mut self, is_on: bool) -> Self {
        self.on_panic = is_on;
        self
    }

    /// Also writes when the process gets the signal `SIGUSR1`. On Unix only.
    #[cfg(unix)]
    pub fn on_signal(mut self, is_on: bool) -> Self {
        self.on_signal = is_on;
        self
    }

    /// Also writes when a step takes longer than this, even while it still does; once for each such step.
    pub fn slow_step(mut self, bound: Duration) -> Self {
        self.slow_step = Some(bound);
        self
    }

    /// Records the shapes, types and values that spans tell of their inputs.
    pub fn record_shapes(mut self, is_on: bool) -> Self {
        self.options.record_shapes = is_on;
        self
    }

    /// Records every allocation that [`memory`](crate::memory) hears of.
    pub fn profile_memory(mut self, is_on: bool) -> Self {
        self.options.profile_memory = is_on;
        self
    }

    /// Starts to record.
    ///
    /// # Errors
    /// [`RecordError::AlreadyRecording`]; those of making the folder, and of asking for the signal.
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
        let mut session = Session::prepare_with(&options, 0, Box::new(move |stream| its_watch.look(stream)))?;
        session.enable();
        let shared = Arc::new(Shared { session: Mutex::new(Some(session)), watch });
        if self.on_panic {
            tell_of_panics(&shared);
        }
        Ok(FlightRecorder { shared })
    }
}

/// What the writer's thread looks at between two flushes.
#[derive(Debug, Default)]
struct Watch {
    folder: PathBuf,
    bound: Option<Duration>,
    #[cfg(unix)]
    signal: Option<Signal>,
    step: Mutex<Option<Instant>>,
    steps: AtomicU64,
    /// The step, counted from 1, that was written last because it was slow.
    told: AtomicU64,
    dumps: AtomicU64,
    last: Mutex<Option<PathBuf>>,
}

impl Watch {
    fn look(&self, stream: &mut Stream) {
        if self.is_signalled() || self.is_newly_slow() {
            let _ = self.dump(stream);
        }
    }

    #[cfg(unix)]
    fn is_signalled(&self) -> bool {
        self.signal.is_some() && Signal::has_come()
    }

    #[cfg(not(unix))]
    fn is_signalled(&self) -> bool {
        false
    }

    /// Whether the present step is over the bound, and nobody said so yet.
    fn is_newly_slow(&self) -> bool {
        let step = self.steps.load(Ordering::Relaxed);
        let began = *hold(&self.step);
        let is_slow = began.zip(self.bound).is_some_and(|(began, bound)| began.elapsed() > bound);
        is_slow && self.told.swap(step, Ordering::Relaxed) != step
    }

    fn dump(&self, stream: &mut Stream) -> Result<PathBuf, RecordError> {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let number = self.dumps.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}_{}.{unix}.{number}.ktrace", host_name(), std::process::id());
        let path = self.folder.join(name);
        // Under another name until it is whole, so that nobody reads half of it.
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
        // A panic in here must not come back here: see the hook.
        local::unrecorded(|| {
            let session = hold(&self.session);
            let session = session.as_ref().ok_or(RecordError::NotStarted)?;
            session.with_stream(|stream| self.watch.dump(stream))?
        })
    }
}

/// Keeps the last seconds and writes them to a file of its folder, `HOST_PID.TIME.NUMBER.ktrace`, when asked: by
/// [`dump`](FlightRecorder::dump), and as its [builder](FlightRecorder::builder) says.
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
    /// Keeps 10 s in at most 256 MiB, and writes to this folder when asked.
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

    /// Writes what is kept; the path of the file.
    ///
    /// # Errors
    /// Those of the file.
    pub fn dump(&self) -> Result<PathBuf, RecordError> {
        self.shared.dump()
    }

    /// A step ends and the next begins. A step that took longer than the bound is written, if it was not yet.
    pub fn step(&self) {
        let watch = &self.shared.watch;
        if watch.is_newly_slow() {
            let _ = self.dump();
        }
        *hold(&watch.step) = Some(Instant::now());
        watch.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// The file that was written last.
    pub fn last_dump(&self) -> Option<PathBuf> {
        hold(&self.shared.watch.last).clone()
    }

    /// How many files were written.
    pub fn dumps(&self) -> u64 {
        self.shared.watch.dumps.load(Ordering::Relaxed)
    }
}

impl Drop for FlightRecorder {
    /// Stops to record; nothing is written.
    fn drop(&mut self) {
        let session = hold(&self.shared.session).take();
        if let Some(session) = session {
            let _ = session.finish(&[]);
        }
    }
}

static ON_PANIC: Mutex<Weak<Shared>> = Mutex::new(Weak::new());

/// Adds to what the program does on a panic; once, for whichever flight recorder is there then.
fn tell_of_panics(shared: &Arc<Shared>) {
    static HOOK: Once = Once::new();
    *hold(&ON_PANIC) = Arc::downgrade(shared);
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            before(info);
            // A panic of the recorder itself, whose locks this thread holds.
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
    fn a_panic_of_the_recorder_itself_waits_for_no_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let flight = FlightRecorder::builder(folder.path()).on_panic(true).start().expect("a start");
        let (done, is_done) = channel();
        let shared = Arc::clone(&flight.shared);
        // A thread of its own, since it would never end.
        thread::spawn(move || {
            let panicked = panic::catch_unwind(panic::AssertUnwindSafe(|| {
                let session = hold(&shared.session);
                let session = session.as_ref().expect("it runs");
                let _ = session.with_stream(|_| panic!("while the stream is locked"));
            }));
            done.send(panicked.is_err()).expect("a receiver");
        });
        assert_eq!(is_done.recv_timeout(Duration::from_secs(20)), Ok(true));
        assert_eq!(flight.dumps(), 0);
        let _ = thread::spawn(|| panic!("elsewhere")).join();
        assert_eq!(flight.dumps(), 1, "it still writes");
    }
}
