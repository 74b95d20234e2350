//! A layer for the `tracing` crate: records the spans and events of code that is instrumented with it, such as candle.
//!
//! A span is recorded each time that it is entered, on the thread that enters it. Each poll of an asynchronous function
//! is therefore a span of its own, which does not contain the work of other tasks between polls. A span that is entered
//! more than once is also an asynchronous span, which lasts from its creation to its close; flows connect its entries.
//! `follows_from` is a flow from the last entry of the other span to the next entry of this one. `kinetoscope tasks` shows
//! how long each of them was busy and what it waited for.
//!
//! Fields are recorded as arguments, also those that get their value while the span is entered. An event is recorded as
//! an instant event with its message as name.
//!
//! [`TracingLayer::with_arguments`] adds arguments that other layers keep with a span, such as the ids of OpenTelemetry.
//! Records of the crate `log` are instant events if `tracing_log::LogTracer` is installed, as `try_init` of
//! `tracing-subscriber` does with its feature `tracing-log`.
//!
//! If tokio is built with its feature `tracing` (and `--cfg tokio_unstable`), it has a span for each task. Its name is that
//! of the task, or `task` and the place where it was spawned.

mod arguments;
mod callsite;
mod fields;
mod life;

pub use self::arguments::WithArguments;

use self::callsite::callsite;
use self::fields::Fields;
use self::life::Life;
use crate::error::RecordError;
use crate::hot::local::{BegunSpan, is_open, unrecorded};
use crate::hot::registry::Site;
use crate::hot::state::state;
use crate::profiler::recording::Recording;
use crate::profiler::{Profiler, ProfilerBuilder};
use crate::spans::args::Args;
use crate::spans::span;
use crate::spans::value::Value;
use kinetoscope_stream::record::key;
use std::cell::RefCell;
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

/// Starts a profiler and returns a layer that records the spans and events of `tracing`. Dropping the guard stops the
/// profiler, which calls its handlers.
///
/// ```
/// use kinetoscope::Profiler;
/// use kinetoscope::tracing_layer::layer;
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let (layer, guard) = layer(Profiler::builder())?;
/// tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
///     let _span = tracing::info_span!("work", batch = 3).entered();
/// });
/// let recording = guard.finish()?.expect("recording was enabled");
/// assert_eq!(recording.statistics.records, 2);
/// # Ok::<(), kinetoscope::RecordError>(())
/// ```
///
/// # Errors
/// The same as of [`Profiler::start`].
pub fn layer(profiler: ProfilerBuilder) -> Result<(TracingLayer, FlushGuard), RecordError> {
    #[cfg(unix)]
    callsite::register_lock();
    Ok((TracingLayer, FlushGuard { profiler: profiler.start()? }))
}

/// A guard that stops the profiler when it is dropped.
#[must_use = "the profiler stops when this is dropped"]
pub struct FlushGuard {
    profiler: Profiler,
}

impl FlushGuard {
    /// Returns the profiler, for example to call [`Profiler::step`].
    pub fn profiler(&mut self) -> &mut Profiler {
        &mut self.profiler
    }

    /// Stops the profiler and returns its last recording.
    ///
    /// # Errors
    /// The same as of [`Profiler::stop`].
    pub fn finish(mut self) -> Result<Option<Recording>, RecordError> {
        self.profiler.stop()
    }
}

/// The layer, which records spans and events while any profiler of the process records. While none records, a span
/// costs one load and one branch in this layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingLayer;

/// What the layer keeps with a span.
struct Tracked {
    fields: Fields,
    life: Life,
}

/// A span that the calling thread has entered.
struct Entered {
    id: u64,
    begun: BegunSpan,
    site: &'static Site,
}

thread_local! {
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TracingLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let now = state();
        if now == 0 {
            return;
        }
        unrecorded(|| {
            let mut fields = Fields::new(attributes.metadata());
            attributes.record(&mut fields);
            let Some(span) = context.span(id) else { return };
            let parent = span.parent();
            let parent = parent.and_then(|parent| parent.extensions().get::<Tracked>()?.life.id(now));
            span.extensions_mut().replace(Tracked { fields, life: Life::new(now, parent) });
        });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let now = state();
        if now == 0 {
            return;
        }
        unrecorded(|| {
            let Some(span) = context.span(id) else { return };
            let mut recorded = Fields::new(span.metadata());
            values.record(&mut recorded);
            add(id, &recorded);
            with_tracked(&span, now, |tracked| tracked.fields.update(recorded));
        });
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: Context<'_, S>) {
        let now = state();
        let (Some(span), Some(other)) = (context.span(id), context.span(follows)) else { return };
        if now == 0 {
            return;
        }
        let place = other.extensions().get::<Tracked>().and_then(|other| other.life.last(now));
        with_tracked(&span, now, |Tracked { fields, life }| life.follows(now, fields, place));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let now = state();
        let Some(span) = context.span(id).filter(|_| now != 0) else { return };
        with_tracked(&span, now, |Tracked { fields, life }| {
            let site = &fields.callsite.site;
            let entered =
                Entered { id: id.into_u64(), begun: span::begin_with(fields.args(now), site), site };
            let _ = ENTERED.try_with(|stack| unrecorded(|| stack.borrow_mut().push(entered)));
            life.entered(now, fields);
        });
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let now = state();
        let span = context.span(id).filter(|_| now != 0);
        if let Some(span) = &span
            && let Some(tracked) = span.extensions_mut().get_mut::<Tracked>()
        {
            tracked.life.exited(now);
        }
        let is_known = ENTERED.try_with(|stack| exit(&mut stack.borrow_mut(), id.into_u64()));
        // A span that was entered before the recording started.
        if is_known == Ok(false)
            && let Some(span) = span
        {
            span::end(BegunSpan::default(), unrecorded(|| &callsite(span.metadata()).site));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if state() != 0
            && let Some(span) = context.span(&id)
            && let Some(Tracked { fields, life }) = span.extensions_mut().remove()
        {
            life.closed(&fields);
            unrecorded(|| drop(fields));
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let now = state();
        if now == 0 {
            return;
        }
        let (args, site) = unrecorded(|| {
            let metadata = event.metadata();
            let mut fields = Fields::new(metadata);
            event.record(&mut fields);
            let mut args = Args::new(now);
            metadata.level().as_str().put(key::LEVEL, &mut args);
            if !fields.callsite.is_of_log {
                metadata.target().put(key::TARGET, &mut args);
            }
            fields.put(&mut args);
            (args, &fields.callsite.site)
        });
        span::instant(args, site);
    }
}

/// Runs a function with what the layer keeps with a span, which may be older than the recording.
fn with_tracked<S: for<'a> LookupSpan<'a>>(
    span: &SpanRef<'_, S>,
    state: u32,
    run: impl FnOnce(&mut Tracked),
) {
    let mut extensions = span.extensions_mut();
    if extensions.get_mut::<Tracked>().is_none() {
        unrecorded(|| {
            extensions.insert(Tracked { fields: Fields::new(span.metadata()), life: Life::older(state) });
        });
    }
    if let Some(tracked) = extensions.get_mut() {
        run(tracked);
    }
}

/// Ends a span, which need not be the innermost one. Returns false if the span was not entered while anything was
/// recorded.
fn exit(stack: &mut Vec<Entered>, id: u64) -> bool {
    let Some(at) = stack.iter().rposition(|entered| entered.id == id) else { return false };
    let entered = stack.remove(at);
    span::end(entered.begun, entered.site);
    true
}

/// Adds fields to a span if this thread has entered it.
fn add(id: &Id, fields: &Fields) {
    let _ = ENTERED.try_with(|stack| {
        let stack = stack.borrow();
        let entered = stack.iter().rfind(|entered| entered.id == id.into_u64());
        if let Some(begun) = entered.map(|entered| entered.begun).filter(|&begun| is_open(begun)) {
            let mut args = Args::new(begun.state);
            fields.put(&mut args);
            span::add(begun, args);
        }
    });
}
