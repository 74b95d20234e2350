//! Spans that may begin on one thread and end on another.

use super::{Args, Site, recorder};
use std::sync::atomic::{AtomicU64, Ordering};

/// The guard of a span that may move to another thread: the span lasts from its creation, by
/// [`async_scope!`](crate::async_scope), to its drop.
#[derive(Debug)]
#[must_use = "a span ends when this is dropped"]
pub struct AsyncScope {
    /// The state when the span began; 0 if nothing was recorded.
    state: u32,
    site: &'static Site,
    id: u64,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl AsyncScope {
    /// Returns the guard of a span that is not recorded.
    #[doc(hidden)]
    #[inline(always)]
    pub fn none(site: &'static Site) -> AsyncScope {
        AsyncScope { state: 0, site, id: 0 }
    }

    /// Ends the span. If it was open when the recording started or was resumed, it begins there.
    #[cold]
    fn end(&self, now: u32) {
        if recorder::is_paused(self.state) {
            Args::new(self.state).async_end(self.site, self.id);
        } else if recorder::is_older(self.state, now) {
            let id = NEXT.fetch_add(1, Ordering::Relaxed);
            if Args::new(now).async_begin_at_start(self.site, id) {
                Args::new(now).async_end(self.site, id);
            }
        } else if recorder::is_on(self.state) && recorder::is_on(now) {
            Args::new(now).async_end(self.site, self.id);
        }
    }

    /// Begins a span.
    #[doc(hidden)]
    pub fn with(site: &'static Site, args: Args, state: u32) -> AsyncScope {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        // An end without its begin would not be a span.
        let state = if args.async_begin(site, id) { state } else { recorder::left_out(state) };
        AsyncScope { state, site, id }
    }
}

/// Distinguishes the ids of flows between polls from those of the program.
const POLL_FLOWS: u64 = 1 << 62;

impl AsyncScope {
    /// Records a flow at the end of a poll of the span's future: its start in the first poll, its end in the last one.
    #[doc(hidden)]
    pub fn polled(&self, polls: &mut u32, is_ready: bool) {
        let now = recorder::state();
        if !recorder::is_on(now) || now != self.state {
            return;
        }
        let (args, id) = (Args::new(now), self.id | POLL_FLOWS);
        match (*polls, is_ready) {
            (0, true) => {}
            (0, false) => args.flow_start(self.site, id),
            (_, false) => args.flow_step(self.site, id),
            (_, true) => args.flow_end(self.site, id),
        }
        *polls = polls.saturating_add(1);
    }
}

impl Drop for AsyncScope {
    #[inline]
    fn drop(&mut self) {
        let now = recorder::state();
        if now != 0 || self.state != 0 {
            self.end(now);
        }
    }
}
