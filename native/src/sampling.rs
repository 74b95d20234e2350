//! Samples of the call stacks of threads that run, at equal intervals of the CPU time of the process.
//!
//! A timer of the system (`ITIMER_PROF`) sends `SIGPROF` to a running thread. The handler copies its registers and the top
//! of its stack. A thread of the recorder unwinds the copies by the unwind information that every program has, so that
//! frame pointers are not necessary, and records each as an event of the sampled thread.

mod capture;
mod modules;

use self::capture::{Capture, captures};
use self::modules::Modules;
use crate::hot::local::{self, unrecorded};
use crate::hot::registry::registry;
use crate::hot::stack;
use crate::hot::system::Thread;
use crate::spans::args::Args;
use crate::worker::Worker;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The interval at which captured stacks are unwound.
const EVERY: Duration = Duration::from_millis(10);

/// The highest frequency, in samples per second of CPU time.
const HIGHEST: u32 = 1000;

/// Samples until this is dropped.
#[derive(Debug)]
pub(crate) struct Sampler {
    is_over: Arc<AtomicBool>,
    thread: Worker,
}

impl Sampler {
    /// Starts to sample for the recording of a state, this many times for each second of CPU time.
    ///
    /// # Errors
    /// Returns an error if the program itself handles `SIGPROF`, or if the system does not let a process copy its stacks.
    pub(crate) fn start(state: u32, frequency: u32) -> io::Result<Sampler> {
        capture::prepare()?;
        capture::take_lost();
        let is_over = Arc::new(AtomicBool::new(false));
        let its_end = Arc::clone(&is_over);
        let run = move || {
            local::always_record();
            let mut reader = Reader::new(state);
            while !its_end.load(Ordering::Acquire) {
                thread::park_timeout(EVERY);
                reader.read();
            }
            reader.read();
        };
        let thread = Worker::start("kinetoscope-stacks", run)?;
        capture::start(frequency.clamp(1, HIGHEST))?;
        Ok(Sampler { is_over, thread })
    }

    /// Ends the sampling. Returns the number of samples that were lost, because all captures waited to be unwound.
    pub(crate) fn end(self) -> u64 {
        drop(self);
        capture::take_lost()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        capture::stop();
        self.is_over.store(true, Ordering::Release);
        self.thread.join();
    }
}

/// Unwinds captured stacks and records them.
struct Reader {
    state: u32,
    modules: Modules,
    /// The numbers of threads that had recorded nothing when they were sampled, by the system's ids.
    threads: HashMap<i32, u32>,
    addresses: Vec<usize>,
}

impl Reader {
    fn new(state: u32) -> Reader {
        let (modules, threads, addresses) = (Modules::default(), HashMap::new(), Vec::new());
        Reader { state, modules, threads, addresses }
    }

    fn read(&mut self) {
        unrecorded(|| self.modules.refresh());
        let mut ready: Vec<&Capture> = captures().iter().filter(|capture| capture.is_ready()).collect();
        ready.sort_by_key(|capture| capture.content().ticks);
        for capture in ready {
            self.record(capture);
            capture.free();
        }
    }

    fn record(&mut self, capture: &Capture) {
        let content = capture.content();
        if content.state != self.state {
            return;
        }
        let (stack, thread) = unrecorded(|| {
            self.addresses.clear();
            self.modules.unwind(content, &mut self.addresses);
            let thread = content.number.unwrap_or_else(|| self.number(content.thread));
            (stack::sampled(&self.addresses), thread)
        });
        Args::new(self.state).sample(&stack, content.ticks, thread);
    }

    /// The number of a thread that has recorded nothing yet.
    fn number(&mut self, id: i32) -> u32 {
        *self.threads.entry(id).or_insert_with(|| {
            let name = std::fs::read_to_string(format!("/proc/self/task/{id}/comm")).unwrap_or_default();
            registry().sampled_thread(Thread { id: id as u64, name: name.trim_end().to_owned() })
        })
    }
}
