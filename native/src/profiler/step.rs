//! The span of a step, which a profiler that moves to another thread can end there.

use crate::hot::local::{self, BegunSpan};
use crate::hot::registry::Site;
use crate::hot::state::is_on;
use crate::spans::args::Args;
use crate::spans::span;
use kinetoscope_stream::record::SpanKind;

static SITE: Site = Site::new("ProfilerStep", SpanKind::Annotation, file!(), line!());

/// The open span of a step: a user annotation `ProfilerStep#NUMBER`.
#[derive(Debug)]
pub(crate) struct StepSpan {
    begun: BegunSpan,
    /// The number of the thread on which it began.
    thread: Option<u32>,
}

impl StepSpan {
    /// Begins the span of a step, while something is recorded.
    pub(crate) fn begin(number: u64) -> StepSpan {
        let mut args = Args::new(crate::spans::state());
        args.name(format!("ProfilerStep#{number}"));
        let begun = span::begin_with(args, &SITE);
        StepSpan { begun, thread: this_thread(begun) }
    }
}

impl Drop for StepSpan {
    fn drop(&mut self) {
        match self.thread {
            Some(thread) if this_thread(self.begun) != self.thread => span::end_elsewhere(self.begun, thread),
            _ => span::end(self.begun, &SITE),
        }
    }
}

/// Returns the number of this thread in the recording of a span; `None` if the span is not recorded.
fn this_thread(begun: BegunSpan) -> Option<u32> {
    if is_on(begun.state) { local::thread_number(begun.state) } else { None }
}
