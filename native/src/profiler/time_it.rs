//! Measures how long a scope takes: `torch_geometric`'s `timeit`.

use crate::device::synchronize;
use std::io::Write;
use std::time::{Duration, Instant};

/// Measures the time until it is dropped, and prints it to standard output as `torch_geometric`'s `timeit` does:
/// `Time: 0.01234567s`.
///
/// If CUDA devices can be recorded, each measurement begins and ends when they have finished their work, so that the time
/// includes work that the scope submits.
///
/// ```
/// use kinetoscope::TimeIt;
///
/// let mut timer = TimeIt::start().log(false);
/// let first: u64 = (0..1000).sum();
/// let took = timer.reset();
/// let second: u64 = (0..2000).sum();
/// println!("{first} in {took:?}, {second} in {:?}", timer.stop());
/// ```
#[derive(Debug)]
#[must_use = "the measurement ends when the value is dropped"]
pub struct TimeIt {
    begin: Instant,
    divisor: u32,
    is_logged: bool,
    is_over: bool,
    duration: Option<Duration>,
}

impl TimeIt {
    /// Starts a measurement that is printed.
    pub fn start() -> TimeIt {
        synchronize();
        TimeIt { begin: Instant::now(), divisor: 1, is_logged: true, is_over: false, duration: None }
    }

    /// Sets whether durations are printed when a measurement ends. The default is true.
    pub fn log(mut self, is_on: bool) -> TimeIt {
        self.is_logged = is_on;
        self
    }

    /// Divides each duration by this number, for the mean over the runs of a loop. 0 counts as 1, which is the default.
    pub fn avg_time_divisor(mut self, divisor: u32) -> TimeIt {
        self.divisor = divisor.max(1);
        self
    }

    /// Ends the measurement and starts a new one in the same scope. Returns the duration of the one that ended.
    pub fn reset(&mut self) -> Duration {
        let duration = self.end();
        self.begin = Instant::now();
        duration
    }

    /// Returns the duration of the last measurement that ended; `None` before the first [`reset`](Self::reset).
    pub fn duration(&self) -> Option<Duration> {
        self.duration
    }

    /// Ends the measurement and returns its duration.
    pub fn stop(mut self) -> Duration {
        self.is_over = true;
        self.end()
    }

    fn end(&mut self) -> Duration {
        synchronize();
        let duration = self.begin.elapsed() / self.divisor;
        self.duration = Some(duration);
        if self.is_logged {
            // A closed standard output must not end the program here.
            let _ = writeln!(std::io::stdout(), "Time: {:.8}s", duration.as_secs_f64());
        }
        duration
    }
}

impl Drop for TimeIt {
    fn drop(&mut self) {
        if !self.is_over {
            self.end();
        }
    }
}

/// Runs a function and prints how long it took, divided by `avg_time_divisor`; a divisor of 0 counts as 1. Returns the
/// result of the function and the duration. [`TimeIt`] can measure without printing.
pub fn timeit<T>(avg_time_divisor: u32, run: impl FnOnce() -> T) -> (T, Duration) {
    let timer = TimeIt::start().avg_time_divisor(avg_time_divisor);
    let result = run();
    (result, timer.stop())
}
