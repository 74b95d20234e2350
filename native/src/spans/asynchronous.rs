//! Spans that may end on another thread than they began on.

use super::{Args, Site, recorder};
use std::sync::atomic::{AtomicU64, Ordering};

/// A span from its making to its drop, on any thread: [`async_scope!`](crate::async_scope) makes it.
#[derive(Debug)]
#[must_use = "a span ends when this is dropped"]
pub struct AsyncScope {
    /// 0 where it is not recorded.
    state: u32,
    site: &'static Site,
    id: u64,
}

impl AsyncScope {
    /// A span that is not recorded.
    #[doc(hidden)]
    #[inline(always)]
    pub fn none(site: &'static Site) -> AsyncScope {
        AsyncScope { state: 0, site, id: 0 }
    }

    /// Begins a span.
    #[doc(hidden)]
    pub fn with(site: &'static Site, args: Args, state: u32) -> AsyncScope {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        args.async_begin(site, id);
        AsyncScope { state, site, id }
    }
}

impl Drop for AsyncScope {
    #[inline]
    fn drop(&mut self) {
        if self.state != 0 && recorder::state() == self.state {
            Args::new(self.state).async_end(self.site, self.id);
        }
    }
}
