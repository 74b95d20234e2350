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
//! and `stop`. The secret of a Unix socket is `-`: only the user of the program can connect to it. The object has the members
//! `pid`, `program`, `state` (`idle` or `recording`), `file`, the path of the present or last recording, if there is one, and
//! `error` if the command failed.

mod listener;

use crate::error::RecordError;
use crate::hot::local::unrecorded;
use crate::hot::lock::hold;
use crate::io_error::with_path;
use crate::json::Members;
use crate::profiler::{Profiler, ProfilerBuilder};
pub use listener::default_folder;
use listener::{Connection, Listener};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

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
    /// Sets the options of each recording, by a function that is called when one is started. The destination of the builder
    /// that it returns is ignored. The default is [`Profiler::builder`].
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

    /// Listens on a port of the loopback address `127.0.0.1` in place of a Unix socket; 0 is any free port. The
    /// [address](Control::address) then has a secret, without which a client is refused.
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
        let shared = Arc::new(Shared { process, listener, is_over: AtomicBool::new(false), recordings });
        let its_own = Arc::clone(&shared);
        let thread = thread::Builder::new().name("kinetoscope-ctl".into()).spawn(move || its_own.serve())?;
        Ok(Control { shared, address, thread: Some(thread) })
    }
}

/// Listens for clients that start and stop recordings, until this is dropped. A recording that runs then is ended.
///
/// Each recording is a file `PROGRAM_PID.NUMBER.ktrace` in the [folder](ControlBuilder::folder). While the program itself
/// records, a client receives the error [`RecordError::AlreadyRecording`].
pub struct Control {
    shared: Arc<Shared>,
    address: String,
    thread: Option<JoinHandle<()>>,
}

impl Control {
    /// Returns a builder with the defaults: a Unix socket for the process, elsewhere a port of the loopback address.
    pub fn builder() -> ControlBuilder {
        ControlBuilder { folder: None, port: None, make: Box::new(Profiler::builder) }
    }

    /// Returns the address for `kinetoscope attach`: the path of a socket, or `127.0.0.1:PORT/SECRET`.
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
        self.shared.listener.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
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
    recordings: Mutex<Recordings>,
}

impl Shared {
    /// Answers one client after the other.
    fn serve(&self) {
        while !self.is_over.load(Ordering::SeqCst) {
            match unrecorded(|| self.listener.accept()) {
                Ok(connection) if !self.is_over.load(Ordering::SeqCst) => {
                    // A client that goes away early is not an error of the program.
                    let _ = self.answer(connection);
                }
                Ok(_) => {}
                // Too many open files, for example.
                Err(_) => thread::sleep(std::time::Duration::from_millis(100)),
            }
        }
    }

    fn answer(&self, mut connection: Connection) -> io::Result<()> {
        let Some(command) = unrecorded(|| self.listener.command(&mut connection))? else {
            return connection.write_all(b"{\"error\": \"the secret is wrong\"}\n");
        };
        let mut recordings = hold(&self.recordings);
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
        let profiler = (self.make)().file(&path).overwrite(true).start()?;
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
