//! Lets `kinetoscope attach` start and stop recordings of a running program.
//!
//! ```
//! use kinetoscope::control::Control;
//! use kinetoscope::{Profiler, RecordError};
//!
//! fn main() -> Result<(), RecordError> {
//!     let control = Control::builder().profiler(|| Profiler::builder().record_shapes(true)).start()?;
//!     println!("kinetoscope attach {}", control.address());
//!     // The program runs; nothing is recorded until a client starts it.
//!     Ok(())
//! }
//! ```
//!
//! # Protocol
//!
//! A client connects, sends one line `SECRET COMMAND`, and receives one line: a JSON object. The commands are `status`, `start`
//! and `stop`. The secret of a Unix socket is `-`: only the user of the program can connect to it. That of a port is in the file
//! [`address`](Control::address), in a line `127.0.0.1:PORT/SECRET`. The object has the members
//! `pid`, `program`, `state` (`idle` or `recording`), `file`, the path of the present or last recording, if there is one, and
//! `error` if the command failed.

mod listener;

use crate::error::RecordError;
use crate::hot::local::unrecorded;
use crate::hot::lock::hold;
use crate::io_error::with_path;
use crate::json::Members;
use crate::profiler::{Profiler, ProfilerBuilder};
use crate::worker::Worker;
use listener::{Connection, Listener};
pub use listener::{default_folder, own_default_folder};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The pause between two looks for a new client.
const EVERY: Duration = Duration::from_millis(50);

/// The maximum number of clients that are answered at the same time. More are refused.
const MOST_CLIENTS: usize = 64;

type MakeProfiler = Box<dyn FnMut() -> ProfilerBuilder + Send>;

/// The options of a [`Control`].
#[must_use = "a builder does nothing until it is started"]
pub struct ControlBuilder {
    folder: Option<PathBuf>,
    /// The port of the loopback address; without one, a Unix socket is used where there are any.
    port: Option<u16>,
    make: MakeProfiler,
}

impl ControlBuilder {
    /// Sets the options of each recording, by a function that is called when one is started, on a thread of the recorder. The
    /// destination of the builder that it returns, [`wait`](ProfilerBuilder::wait) and
    /// [`profile_all_threads`](ProfilerBuilder::profile_all_threads) are ignored. The default is [`Profiler::builder`].
    pub fn profiler(mut self, make: impl FnMut() -> ProfilerBuilder + Send + 'static) -> Self {
        self.make = Box::new(make);
        self
    }

    /// Sets the folder of the recordings and of the socket. It is created if it does not exist, on Unix for its user only. In the
    /// [default folder](default_folder), `kinetoscope attach PID` finds the program.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Listens on a port of the loopback address `127.0.0.1` in place of a Unix socket; 0 is any free port. A file in the folder,
    /// which only the user of the program can read, then has the port and a secret without which a client is refused.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Starts to listen.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the folder cannot be created or belongs to another user, or if the address cannot be
    /// used.
    pub fn start(self) -> Result<Control, RecordError> {
        let folder = listener::folder(self.folder).map_err(RecordError::Io)?;
        let listener = Listener::bind(&folder, self.port)?;
        let address = listener.address();
        let recordings =
            Mutex::new(Recordings { make: self.make, folder, count: 0, running: None, file: None });
        let process = std::process::id();
        let (is_over, clients) = (AtomicBool::new(false), AtomicUsize::new(0));
        let shared = Arc::new(Shared { process, listener, is_over, clients, recordings });
        let its_own = Arc::clone(&shared);
        let thread = Worker::start("kinetoscope-ctl", move || its_own.serve())?;
        Ok(Control { shared, address, thread })
    }
}

/// Listens for clients that start and stop recordings, until this is dropped. A recording that runs then is ended.
///
/// Each recording is a file `PROGRAM_PID.NUMBER.ktrace` in the [folder](ControlBuilder::folder). While the program itself
/// records, a client receives the error [`RecordError::AlreadyRecording`]; while the recording of a client runs, a start by the
/// program returns it.
pub struct Control {
    shared: Arc<Shared>,
    address: String,
    thread: Worker,
}

impl Control {
    /// Returns a builder with the defaults: a Unix socket for the process, elsewhere a port of the loopback address.
    pub fn builder() -> ControlBuilder {
        ControlBuilder { folder: None, port: None, make: Box::new(Profiler::builder) }
    }

    /// Returns the address for `kinetoscope attach`: the path of a socket, or of a file that ends in `.port`. It has no secret.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // A forked child has no thread to end, and the socket is its parent's.
        if self.shared.process != std::process::id() {
            return;
        }
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.thread.join();
        if let Err(error) = hold(&self.shared.recordings).stop() {
            eprintln!("kinetoscope: the recording was not ended: {error}");
        }
        self.shared.listener.remove();
    }
}

struct Shared {
    process: u32,
    listener: Listener,
    is_over: AtomicBool,
    /// The number of clients that are being answered.
    clients: AtomicUsize,
    recordings: Mutex<Recordings>,
}

impl Shared {
    /// Answers clients, each on a thread of its own, so that one that says nothing does not keep the others waiting.
    fn serve(self: &Arc<Self>) {
        while !self.is_over.load(Ordering::SeqCst) {
            // No connection, or too many open files: neither ends the thread, which looks again after a pause.
            let Ok(connection) = unrecorded(|| self.listener.accept()) else {
                thread::park_timeout(EVERY);
                continue;
            };
            if self.clients.fetch_add(1, Ordering::SeqCst) >= MOST_CLIENTS {
                self.clients.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let its_own = Arc::clone(self);
            let run = move || {
                // A client that goes away early is not an error of the program.
                let _ = its_own.answer(connection);
                its_own.clients.fetch_sub(1, Ordering::SeqCst);
            };
            if thread::Builder::new().name("kinetoscope-ctl".into()).spawn(run).is_err() {
                self.clients.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    fn answer(&self, mut connection: Connection) -> io::Result<()> {
        let Some(command) = unrecorded(|| self.listener.command(&mut connection))? else {
            return connection.write_all(b"{\"error\": \"the secret is wrong\"}\n");
        };
        let mut recordings = hold(&self.recordings);
        if self.is_over.load(Ordering::SeqCst) {
            return Ok(());
        }
        // A panic of the program's functions must not end this thread.
        let run = AssertUnwindSafe(|| match command.as_str() {
            "status" => Ok(()),
            "start" => recordings.start().map_err(|error| error.to_string()),
            "stop" => recordings.stop().map_err(|error| error.to_string()),
            other => Err(format!("`{other}` is not a command: status, start, stop")),
        });
        let result = catch_unwind(run).unwrap_or_else(|_| Err("the program's function panicked".to_owned()));
        let answer = unrecorded(|| recordings.answer(self.process, result.err()));
        connection.write_all(answer.as_bytes())
    }
}

/// The recordings that clients started.
struct Recordings {
    make: MakeProfiler,
    folder: PathBuf,
    count: u32,
    running: Option<Profiler>,
    /// The file of the present or last recording.
    file: Option<PathBuf>,
}

impl Recordings {
    fn start(&mut self) -> Result<(), RecordError> {
        if self.running.is_some() {
            return Err(RecordError::AlreadyStarted);
        }
        self.count += 1;
        let name = format!("{}_{}.{}.ktrace", program(), std::process::id(), self.count);
        let path = self.folder.join(name);
        // A file of this name is from an earlier process with the same id.
        let builder = (self.make)().file(&path).overwrite(true);
        // This is not a thread of the program, and nothing may wait in it.
        let profiler = builder.profile_all_threads(true).wait(Duration::ZERO).start()?;
        (self.running, self.file) = (Some(profiler), Some(path));
        Ok(())
    }

    fn stop(&mut self) -> Result<(), RecordError> {
        match self.running.take() {
            Some(mut profiler) => profiler.stop().map(|_| ()),
            None => Ok(()),
        }
    }

    fn answer(&self, process: u32, error: Option<String>) -> String {
        let mut answer = Members::default();
        answer.number("pid", process);
        answer.text("program", &program());
        answer.text("state", if self.running.is_some() { "recording" } else { "idle" });
        if let Some(file) = &self.file {
            answer.text("file", &file.to_string_lossy());
        }
        if let Some(error) = error {
            answer.text("error", &error);
        }
        answer.object() + "\n"
    }
}

/// The name of the program.
fn program() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(Path::file_stem).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "program".to_owned())
}
