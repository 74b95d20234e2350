//! The cost of a recorded span.

use super::{Local, id_of, ticks};
use crate::hot::pool::{LARGE_WORDS, pool};
use crate::hot::registry::Site;
use kinetoscope_stream::record::SpanKind;
use std::sync::OnceLock;
use std::time::Instant;

/// Returns the cost of a recorded span on this machine, in ns. Measured once, with a chunk that is not read.
pub(crate) fn overhead_ns(state: u32) -> f64 {
    static COST: OnceLock<f64> = OnceLock::new();
    *COST.get_or_init(|| measured_overhead_ns(state))
}

fn measured_overhead_ns(state: u32) -> f64 {
    static SITE: Site = Site::new("overhead", SpanKind::Op, file!(), line!());
    let local = Local::new();
    let (Some(_), Some(chunk)) = (local.without_reentry(|| id_of(&SITE)), pool().take(LARGE_WORDS, true))
    else {
        return 0.0;
    };
    local.state.set(state);
    local.chunk.set(Some(chunk));
    local.limit.set(chunk.capacity());
    local.base.set(ticks(state));
    let round = || {
        local.at.set(0);
        let start = Instant::now();
        for _ in 0..LARGE_WORDS / 2 {
            local.end(local.begin(state, &SITE), &SITE);
        }
        start.elapsed().as_nanos() as f64 / (LARGE_WORDS / 2) as f64
    };
    let best = (0..5).map(|_| round()).fold(f64::MAX, f64::min);
    pool().give_back(chunk);
    best
}
