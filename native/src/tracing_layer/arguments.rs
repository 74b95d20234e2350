//! Arguments of spans that other layers keep in the extensions of a span, such as the ids of distributed traces.

use super::{TracingLayer, with_tracked};
use crate::hot::local::{is_busy, unrecorded};
use crate::hot::state::{is_on, state};
use crate::spans::SpanArguments;
use crate::spans::args::Args;
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;
use tracing_core::dispatcher::{self, WeakDispatch};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Dispatch, Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

impl TracingLayer {
    /// Returns a layer that records the same, and adds arguments to each span. The function is called at each entry of a
    /// span while a profiler records, with the span and the subscriber of its layers; it reads the span's extensions, which
    /// are not locked. Spans and events of the function itself are not recorded.
    ///
    /// ```
    /// use kinetoscope::Profiler;
    /// use kinetoscope::tracing_layer::layer;
    /// use tracing_subscriber::layer::SubscriberExt;
    ///
    /// struct RequestId(u64);
    ///
    /// let (layer, guard) = layer(Profiler::builder())?;
    /// let layer = layer.with_arguments(|span, _, args| {
    ///     if let Some(RequestId(id)) = span.extensions().get::<RequestId>() {
    ///         args.value("request id", *id);
    ///     }
    /// });
    /// let subscriber = tracing_subscriber::registry().with(layer);
    /// # tracing::subscriber::with_default(subscriber, || drop(tracing::info_span!("work").entered()));
    /// # guard.finish()?;
    /// # Ok::<(), kinetoscope::RecordError>(())
    /// ```
    ///
    /// `tracing-opentelemetry` keeps the ids of a span in its extensions and returns them by the span's id:
    ///
    /// ```text
    /// layer.with_arguments(|span, subscriber, args| {
    ///     if let Some(context) = tracing_opentelemetry::get_otel_context(&span.id(), subscriber) {
    ///         let ids = context.span().span_context().clone();
    ///         args.value("trace id", ids.trace_id().to_string());
    ///         args.value("span id", ids.span_id().to_string());
    ///     }
    /// })
    /// ```
    pub fn with_arguments<S, F>(self, add: F) -> WithArguments<S, F>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
        F: Fn(&SpanRef<'_, S>, &Dispatch, &mut SpanArguments<'_>) + Send + Sync + 'static,
    {
        WithArguments { layer: self, add, subscriber: OnceLock::new(), of: PhantomData }
    }
}

/// The layer that [`TracingLayer::with_arguments`] returns.
pub struct WithArguments<S, F> {
    layer: TracingLayer,
    add: F,
    subscriber: OnceLock<WeakDispatch>,
    of: PhantomData<fn(S)>,
}

impl<S, F> fmt::Debug for WithArguments<S, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WithArguments").finish_non_exhaustive()
    }
}

impl<S, F> WithArguments<S, F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    F: Fn(&SpanRef<'_, S>, &Dispatch, &mut SpanArguments<'_>) + Send + Sync + 'static,
{
    /// Computes the arguments of a span and keeps them with its fields.
    fn keep_arguments(&self, now: u32, span: &SpanRef<'_, S>) {
        let mut args = Args::new(now);
        unrecorded(|| {
            let subscriber = self.subscriber.get().and_then(WeakDispatch::upgrade);
            // A layer that was exchanged while the program runs has no subscriber of its own.
            let subscriber = subscriber.unwrap_or_else(|| dispatcher::get_default(Clone::clone));
            (self.add)(span, &subscriber, &mut SpanArguments::new(&mut args));
        });
        with_tracked(span, now, |tracked| tracked.fields.set_added(args));
    }
}

/// The function of the program may create spans itself: it runs while the recorder counts as busy.
impl<S, F> Layer<S> for WithArguments<S, F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    F: Fn(&SpanRef<'_, S>, &Dispatch, &mut SpanArguments<'_>) + Send + Sync + 'static,
{
    fn on_register_dispatch(&self, subscriber: &Dispatch) {
        let _ = self.subscriber.set(subscriber.downgrade());
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if !is_busy() {
            self.layer.on_new_span(attributes, id, context);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if !is_busy() {
            self.layer.on_record(id, values, context);
        }
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: Context<'_, S>) {
        if !is_busy() {
            self.layer.on_follows_from(id, follows, context);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if is_busy() {
            return;
        }
        let now = state();
        if is_on(now)
            && let Some(span) = context.span(id)
        {
            self.keep_arguments(now, &span);
        }
        self.layer.on_enter(id, context);
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        if !is_busy() {
            self.layer.on_exit(id, context);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        self.layer.on_close(id, context);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !is_busy() {
            self.layer.on_event(event, context);
        }
    }
}
