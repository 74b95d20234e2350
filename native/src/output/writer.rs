//! The writer: a thread that appends to the recording, every few milliseconds, what other threads recorded.

use crate::hot::local;
use crate::hot::lock::hold;
use crate::hot::wake::{WRITER, awake};
use crate::output::stream::Stream;
use crate::worker::Worker;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

/// A function that is called after each flush.
pub(crate) type OnFlush = Box<dyn FnMut(&mut Stream) + Send>;

/// The writer thread.
pub(crate) struct Writer {
    stream: Arc<Mutex<Stream>>,
    is_over: Arc<AtomicBool>,
    thread: Worker,
}

impl Writer {
    /// Starts the writer thread. It flushes the stream at least every `interval`.
    pub(crate) fn start(stream: Stream, interval: Duration, mut on_flush: OnFlush) -> io::Result<Writer> {
        let stream = Arc::new(Mutex::new(stream));
        let is_over = Arc::new(AtomicBool::new(false));
        let (its_stream, its_end) = (Arc::clone(&stream), Arc::clone(&is_over));
        // The allocations of the thread during its start must not be recorded as the program's.
        let ready = Arc::new(Barrier::new(2));
        let its_ready = Arc::clone(&ready);
        let run = move || {
            local::never_record();
            its_ready.wait();
            while !its_end.load(Ordering::Acquire) {
                // The age of a record when it is written is the pause, the time to write, and the time to wake a
                // thread.
                thread::park_timeout(interval / 4);
                awake();
                let mut stream = hold(&its_stream);
                stream.flush();
                on_flush(&mut stream);
            }
        };
        let thread = Worker::start("kinetoscope", run)?;
        ready.wait();
        *hold(&WRITER) = thread.thread().cloned();
        Ok(Writer { stream, is_over, thread })
    }

    /// Locks the stream, so that the writer does not write to it.
    pub(crate) fn stream(&self) -> MutexGuard<'_, Stream> {
        hold(&self.stream)
    }

    /// Ends the thread and writes the rest.
    pub(crate) fn stop(mut self) -> Option<Stream> {
        self.is_over.store(true, Ordering::Release);
        *hold(&WRITER) = None;
        self.thread.join();
        let mut stream = Arc::into_inner(self.stream)?.into_inner().unwrap_or_else(PoisonError::into_inner);
        stream.flush();
        Some(stream)
    }
}
