//! A layer for the `tracing` crate: records the spans and events of code that is instrumented with it, such as candle.
//!
//! A span is recorded each time that it is entered, on the thread that enters it. Each poll of an asynchronous function
//! is therefore a span of its own, which does not contain the work of other tasks between polls. Fields are recorded as
//! arguments, also those that get their value while the span is entered. An event is recorded as an instant event with
//! its message as name.

use crate::error::RecordError;
use crate::hot::local::{Begun, is_open, unrecorded};
use crate::hot::registry::{Site, registry};
use crate::hot::state::state;
#[cfg(unix)]
use crate::output::fork;
use crate::profiler::recording::Recording;
use crate::profiler::{Profiler, ProfilerBuilder};
use crate::spans::args::Args;
use crate::spans::span;
use crate::spans::value::Value;
use kinetoscope_stream::record::Kind;
use kinetoscope_stream::record::key;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{PoisonError, RwLock};
use tracing_core::callsite::Identifier;
use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

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
    fork::register_lock(|| Box::new(CALLSITES.write().unwrap_or_else(PoisonError::into_inner)));
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

/// A call site of `tracing`: its [`Site`], and the numbers of its fields' names in the registry.
struct Callsite {
    site: Site,
    keys: Vec<u32>,
}

static CALLSITES: RwLock<Option<HashMap<Identifier, &'static Callsite>>> = RwLock::new(None);

fn callsite(metadata: &'static Metadata<'static>) -> &'static Callsite {
    let id = metadata.callsite();
    let known = CALLSITES.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.as_ref().and_then(|known| known.get(&id)) {
        return known;
    }
    drop(known);
    unrecorded(|| {
        let is_event = metadata.is_event();
        let key = |field: Field| match field.name() {
            "message" if is_event => key::NAME,
            name => registry().name(name),
        };
        let keys = metadata.fields().iter().map(key).collect();
        let (file, line) = (metadata.file().unwrap_or(""), metadata.line().unwrap_or(0));
        let kind = if metadata.is_span() { Kind::Op } else { Kind::Other };
        let site = Site::new(metadata.name(), kind, file, line).with_level(metadata.level().as_str());
        let made = Callsite { site, keys };
        let mut callsites = CALLSITES.write().unwrap_or_else(PoisonError::into_inner);
        // Leaked: call sites are static, and their number is limited by the program's source.
        *callsites.get_or_insert_default().entry(id).or_insert_with(|| Box::leak(Box::new(made)))
    })
}

/// The value of a field, which is kept until its span is entered.
#[derive(Clone, Debug)]
enum FieldValue {
    Int(i128),
    Float(f64),
    Bool(bool),
    Text(String),
}

impl Value for FieldValue {
    fn put(&self, key: u32, args: &mut Args) {
        match self {
            FieldValue::Int(value) => value.put(key, args),
            FieldValue::Float(value) => value.put(key, args),
            FieldValue::Bool(value) => value.put(key, args),
            FieldValue::Text(value) => value.put(key, args),
        }
    }

    fn append_json(&self, json: &mut String) {
        match self {
            FieldValue::Int(value) => value.append_json(json),
            FieldValue::Float(value) => value.append_json(json),
            FieldValue::Bool(value) => value.append_json(json),
            FieldValue::Text(value) => value.append_json(json),
        }
    }
}

/// The fields of a span.
struct Fields {
    callsite: &'static Callsite,
    values: Vec<(u32, FieldValue)>,
}

impl Fields {
    fn keep(&mut self, field: &Field, value: FieldValue) {
        let key = self.callsite.keys.get(field.index()).copied().unwrap_or(key::VALUE);
        self.values.retain(|(known, _)| *known != key);
        self.values.push((key, value));
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.keep(field, FieldValue::Text(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.keep(field, FieldValue::Text(value.to_owned()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, FieldValue::Int(value.into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.keep(field, FieldValue::Int(value.into()));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.keep(field, FieldValue::Int(value));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        let value =
            i128::try_from(value).map_or_else(|_| FieldValue::Text(value.to_string()), FieldValue::Int);
        self.keep(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.keep(field, FieldValue::Float(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, FieldValue::Bool(value));
    }
}

/// A span that the calling thread has entered.
struct Entered {
    id: u64,
    begun: Begun,
    site: &'static Site,
}

thread_local! {
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TracingLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if state() == 0 {
            return;
        }
        unrecorded(|| {
            let mut fields = Fields { callsite: callsite(attributes.metadata()), values: Vec::new() };
            attributes.record(&mut fields);
            if let Some(span) = context.span(id) {
                span.extensions_mut().replace(fields);
            }
        });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if state() == 0 {
            return;
        }
        unrecorded(|| {
            let Some(span) = context.span(id) else { return };
            let mut recorded = Fields { callsite: callsite(span.metadata()), values: Vec::new() };
            values.record(&mut recorded);
            add(id, &recorded.values);
            let mut extensions = span.extensions_mut();
            if let Some(fields) = extensions.get_mut::<Fields>() {
                fields.values.retain(|(key, _)| recorded.values.iter().all(|(newer, _)| newer != key));
                fields.values.append(&mut recorded.values);
            } else {
                extensions.insert(recorded);
            }
        });
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let now = state();
        if now == 0 {
            return;
        }
        let prepared = unrecorded(|| {
            let span = context.span(id)?;
            let mut args = Args::new(now);
            if let Some(fields) = span.extensions().get::<Fields>() {
                fields.values.iter().for_each(|(key, value)| value.put(*key, &mut args));
            }
            Some((args, &callsite(span.metadata()).site))
        });
        let Some((args, site)) = prepared else { return };
        let entered = Entered { id: id.into_u64(), begun: span::begin_with(args, site), site };
        let _ = ENTERED.try_with(|stack| unrecorded(|| stack.borrow_mut().push(entered)));
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let is_known = ENTERED.try_with(|stack| exit(&mut stack.borrow_mut(), id.into_u64()));
        // A span that was entered before the recording started.
        if is_known == Ok(false)
            && state() != 0
            && let Some(span) = context.span(id)
        {
            span::end(Begun::default(), unrecorded(|| &callsite(span.metadata()).site));
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let now = state();
        if now == 0 {
            return;
        }
        let (args, site) = unrecorded(|| {
            let metadata = event.metadata();
            let mut fields = Fields { callsite: callsite(metadata), values: Vec::new() };
            event.record(&mut fields);
            let mut args = Args::new(now);
            metadata.level().as_str().put(key::LEVEL, &mut args);
            metadata.target().put(key::TARGET, &mut args);
            fields.values.iter().for_each(|(key, value)| value.put(*key, &mut args));
            (args, &fields.callsite.site)
        });
        span::instant(args, site);
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
fn add(id: &Id, values: &[(u32, FieldValue)]) {
    let _ = ENTERED.try_with(|stack| {
        let stack = stack.borrow();
        let entered = stack.iter().rfind(|entered| entered.id == id.into_u64());
        if let Some(begun) = entered.map(|entered| entered.begun).filter(|&begun| is_open(begun)) {
            let mut args = Args::new(begun.state);
            for (key, value) in values {
                value.put(*key, &mut args);
            }
            span::add(begun, args);
        }
    });
}
