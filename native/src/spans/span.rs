//! Begin and end of a span, and instant events: written to the recording, and passed to mirrors and to CUPTI.

use super::args::Args;
use crate::hot::local::{self, BegunSpan};
use crate::hot::names;
use crate::hot::registry::Site;
use crate::hot::state::{
    START, flag, is_older, is_paused, left_out, state, wants_function_id, wants_mirror, wants_modules,
};
#[cfg(feature = "stacks")]
use crate::hot::{stack, state::wants_stack};
use crate::mirror;
use kinetoscope_stream::record::{SpanKind, Tag, key};
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(feature = "cuda")]
use {
    crate::device::external,
    crate::hot::state::{NEXT_ID, wants_devices},
};

/// Begins a span that is only recorded. Returns the state for its end, without flags if it was not recorded.
#[inline(always)]
pub(crate) fn begin(state: u32, site: &'static Site) -> BegunSpan {
    local::begin(state, site)
}

/// Begins a span with arguments, or one that is passed to mirrors or CUPTI.
pub(crate) fn begin_with(mut args: Args, site: &'static Site) -> BegunSpan {
    let state = args.state();
    let is_recorded = local::is_recorded(state);
    #[cfg(feature = "stacks")]
    if wants_stack(state) && is_recorded {
        args.push(Tag::Name, key::CALL_STACK, u64::from(stack::capture()));
    }
    if wants_mirror(state) {
        local::unrecorded(|| mirror::push(&args.mirrored_name(site)));
    }
    if wants_function_id(state) && is_recorded && has_id(site.kind) {
        args.put_first(key::RECORD_FUNCTION_ID, NEXT_FUNCTION.fetch_add(1, Ordering::Relaxed));
    }
    #[cfg(feature = "cuda")]
    if wants_devices(state) && is_recorded {
        push_device_id(&mut args, site.kind);
    }
    // A span whose record was dropped still has to end in the mirrors and in CUPTI.
    let ends_in = if is_recorded { flag::MIRROR | flag::DEVICES } else { flag::MIRROR };
    args.begin(site).unwrap_or(BegunSpan::unrecorded(left_out(state) | state & ends_in))
}

/// Adds arguments to an open span.
pub(crate) fn add(begun: BegunSpan, args: Args) {
    args.write_to(Tag::More, begun.position);
}

/// Ends a span. Not inlined, so that a span that is not recorded stays small.
#[inline(never)]
pub(crate) fn end(begun: BegunSpan, site: &'static Site) {
    let began = begun.state;
    if wants_mirror(began) {
        mirror::pop();
    }
    #[cfg(feature = "cuda")]
    if wants_devices(began) {
        external::pop(site.kind);
    }
    let now = state();
    if now == began {
        local::end(begun, site);
    } else {
        end_of_older(begun, now, site);
    }
}

/// Ends a span that began in another state. If the recording of the span is paused, its end is recorded nevertheless. If
/// a recording started or was resumed since its begin, the span is recorded from there.
#[cold]
#[inline(never)]
fn end_of_older(begun: BegunSpan, now: u32, site: &'static Site) {
    let began = begun.state;
    if is_paused(began) {
        local::end(begun, site);
        return;
    }
    let record = |name: &str| {
        if is_older(began, now) && (site.kind != SpanKind::Module || wants_modules(now)) {
            let mut args = Args::new(now);
            args.name(name);
            #[cfg(feature = "cuda")]
            if wants_devices(now) && has_id(site.kind) {
                args.put_first(key::EXTERNAL_ID, NEXT_ID.fetch_add(1, Ordering::Relaxed));
            }
            args.write_with_id(Tag::Open, site, START.load(Ordering::Relaxed));
        }
    };
    if began & flag::NAMED != 0 { names::take(began, record) } else { record("") }
}

/// Ends a span that began on the thread with this number, from another thread.
pub(crate) fn end_elsewhere(begun: BegunSpan, thread: u32) {
    if begun.state == state() || is_paused(begun.state) {
        let mut args = Args::new(begun.state);
        args.int(key::VALUE, i64::from(begun.position));
        args.write_to(Tag::EndElsewhere, thread);
    }
}

/// Records an instant event.
pub(crate) fn instant(args: Args, site: &'static Site) {
    if wants_mirror(args.state()) {
        local::unrecorded(|| mirror::mark(&args.mirrored_name(site)));
    }
    args.write(Tag::Instant, site);
}

/// The next `Record function id`. Ids are unique in the process.
static NEXT_FUNCTION: AtomicU64 = AtomicU64::new(1);

fn has_id(kind: SpanKind) -> bool {
    matches!(kind, SpanKind::Op | SpanKind::Annotation)
}

/// Gives the span an id, to which CUPTI attributes CUDA calls while the span runs.
#[cfg(feature = "cuda")]
fn push_device_id(args: &mut Args, kind: SpanKind) {
    if has_id(kind) {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        args.put_first(key::EXTERNAL_ID, id);
        local::unrecorded(|| external::push(kind, id));
    }
}
