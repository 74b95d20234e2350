//! Spans that may begin on one thread and end on another.

#[cfg(feature = "tracing")]
use super::local::ThreadInstant;
use super::{Args, Site, recorder};
#[cfg(feature = "tracing")]
use kinetoscope_stream::record::Flow;
use kinetoscope_stream::record::Tag;
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

/// Returns a new id of asynchronous spans and flows.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl AsyncScope {
    /// Returns the guard of a span that is not recorded.
    #[doc(hidden)]
    #[inline(always)]
    pub fn none(site: &'static Site) -> AsyncScope {
        AsyncScope { state: 0, site, id: 0 }
    }

    /// Ends the span. If it was open when the recording started or was resumed, it begins there.
    #[cold]
    fn end(&self, now: u32, args: impl Fn(u32) -> Args) {
        if recorder::is_paused(self.state) {
            args(self.state).async_end(self.site, self.id);
        } else if recorder::is_older(self.state, now) {
            let id = next_id();
            if args(now).async_begin_at_start(self.site, id) {
                args(now).async_end(self.site, id);
            }
        } else if recorder::is_on(self.state) && recorder::is_on(now) {
            args(now).async_end(self.site, self.id);
        }
    }

    /// Begins a span.
    #[doc(hidden)]
    pub fn with(site: &'static Site, args: Args, state: u32) -> AsyncScope {
        let id = next_id();
        // An end without its begin would not be a span.
        let state = if args.async_begin(site, id) { state } else { recorder::left_out(state) };
        AsyncScope { state, site, id }
    }
}

impl AsyncScope {
    /// Records a flow at the end of a poll of the span's future: its start in the first poll, its end in the last one.
    #[doc(hidden)]
    pub fn polled(&self, polls: &mut u32, is_ready: bool) {
        let now = recorder::state();
        if !recorder::is_on(now) || now != self.state {
            return;
        }
        let tag = match (*polls, is_ready) {
            (0, true) => None,
            (0, false) => Some(Tag::FlowStart),
            (_, false) => Some(Tag::FlowStep),
            (_, true) => Some(Tag::FlowEnd),
        };
        if let Some(tag) = tag {
            Args::new(now).poll(tag, self.site, self.id);
        }
        *polls = polls.saturating_add(1);
    }
}

/// What the layer for `tracing` needs, which learns afterwards that a span is asynchronous.
#[cfg(feature = "tracing")]
impl AsyncScope {
    /// Begins a span with this id at an earlier time, in ticks.
    pub(crate) fn since(site: &'static Site, args: Args, state: u32, (id, ticks): (u64, u64)) -> AsyncScope {
        let state = if args.async_begin_at(site, id, ticks) { state } else { recorder::left_out(state) };
        AsyncScope { state, site, id }
    }

    /// Ends the span. `args` returns arguments with its name.
    pub(crate) fn close(self, args: impl Fn(u32) -> Args) {
        self.end(recorder::state(), args);
        std::mem::forget(self);
    }

    /// Records the flow of a poll that ended at this place. `args` has the name of the span.
    pub(crate) fn poll_at(&self, args: Args, tag: Tag, place: ThreadInstant) {
        if recorder::state() == self.state {
            args.flow(tag, self.site, (Flow::Polls, self.id), Some(place));
        }
    }
}

impl Drop for AsyncScope {
    #[inline]
    fn drop(&mut self) {
        let now = recorder::state();
        if now != 0 || self.state != 0 {
            self.end(now, Args::new);
        }
    }
}
