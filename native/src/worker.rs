//! A thread of the recorder. A forked child has a copy of its handle, but not the thread.

use std::io;
use std::mem::forget;
use std::process;
use std::thread::{Builder, JoinHandle, Thread};

/// A thread of the process that started it.
#[derive(Debug)]
pub(crate) struct Worker {
    process: u32,
    handle: Option<JoinHandle<()>>,
}

impl Worker {
    pub(crate) fn start(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<Worker> {
        let handle = Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Worker { process: process::id(), handle: Some(handle) })
    }

    /// Returns the thread.
    pub(crate) fn thread(&self) -> Option<&Thread> {
        self.handle.as_ref().map(JoinHandle::thread)
    }

    /// Wakes the thread up and waits for its end. Does nothing in a forked child.
    pub(crate) fn join(&mut self) {
        if self.process == process::id()
            && let Some(handle) = self.handle.take()
        {
            handle.thread().unpark();
            let _ = handle.join();
        }
    }
}

impl Drop for Worker {
    /// In a forked child, the system may have given the id of the thread to one of the child's.
    fn drop(&mut self) {
        if self.process != process::id() {
            forget(self.handle.take());
        }
    }
}
