//! Instrumentation: macros and functions for spans, instant events, counters, flows and modules.
//!
//! Without the feature `record` they compile to nothing, so that a library can use them at no cost. With it, a span
//! costs a load and a branch at its begin and at its end while no profiler records.
//!
//! ```
//! use kinetoscope::{counter, instant, scope};
//!
//! fn matmul(a: &[usize], b: &[usize]) {
//!     let _span = scope!("matmul", shapes: [a, b], dtype: "float", flops: 2 * a[0] * a[1] * b[1]);
//!     instant!("cache miss", line = 7);
//!     counter!("queue", 3);
//! }
//! matmul(&[2, 3], &[3, 4]);
//! ```

#[cfg(feature = "record")]
pub(crate) mod args;
pub(crate) mod arguments;
pub(crate) mod asynchronous;
mod macros;
pub(crate) mod module;
pub mod named;
#[cfg(not(feature = "record"))]
mod off;
pub(crate) mod sequence;
mod shape;
#[cfg(feature = "record")]
pub(crate) mod span;
mod tensor;
pub(crate) mod thread;
pub(crate) mod track;
pub(crate) mod value;

#[cfg(feature = "record")]
use crate::hot::{local, names, registry, state as recorder};
#[cfg(not(feature = "record"))]
use off::{args, local, names, registry, span, state as recorder};

#[doc(hidden)]
pub use args::Args;
pub use arguments::SpanArguments;
pub use asynchronous::AsyncScope;
pub use kinetoscope_stream::record::SpanKind;
pub use module::Module;
#[doc(hidden)]
pub use registry::{Name, Site};
pub use sequence::Sequence;
pub use shape::{InputShape, Shape};
use std::marker::PhantomData;
pub use tensor::TensorId;
pub use thread::name_thread;
pub use track::{DeviceClock, Track, now_ns};
pub use value::Value;

/// Returns whether a profiler records now. Use it to skip work that only a recording needs.
#[inline(always)]
pub fn is_recording() -> bool {
    recorder::is_on(recorder::state())
}

/// Returns the recorder's state: 0 if spans are neither recorded nor mirrored.
#[doc(hidden)]
#[inline(always)]
pub fn state() -> u32 {
    recorder::state()
}

/// The guard of a span: the span lasts from its creation to its drop. It cannot move to another thread.
///
/// Guards can be dropped in any order. A span that ends before one that began inside it keeps its own times; the two
/// then overlap without nesting, and the trace has the diagnostic `ended_out_of_order`. A guard that is forgotten
/// (`std::mem::forget`) never ends its span, and the later spans of the thread are inside it.
///
/// A span that is open when a recording starts is recorded when it ends, from the start of the recording, without its
/// arguments.
#[derive(Debug)]
#[must_use = "a span ends when this is dropped"]
pub struct Scope {
    #[cfg(feature = "record")]
    begun: local::BegunSpan,
    #[cfg(feature = "record")]
    site: &'static Site,
    stays: PhantomData<*const ()>,
}

impl Scope {
    /// Begins a span without arguments.
    #[doc(hidden)]
    #[inline(always)]
    pub fn new(site: &'static Site) -> Scope {
        let state = recorder::state();
        if state == 0 {
            return Scope::none(site);
        }
        if recorder::wants_more(state) {
            return Scope::with_more(site, state);
        }
        Scope::from_begun(span::begin(state, site), site)
    }

    /// Begins a span that needs more than two words: a call stack, a mirror or an id for devices.
    #[cold]
    #[inline(never)]
    fn with_more(site: &'static Site, state: u32) -> Scope {
        Scope::with(site, Args::new(state))
    }

    /// Begins a span with arguments.
    #[doc(hidden)]
    pub fn with(site: &'static Site, args: Args) -> Scope {
        Scope::from_begun(span::begin_with(args, site), site)
    }

    /// Returns the guard of a span that begins while nothing is recorded or mirrored.
    #[doc(hidden)]
    #[inline(always)]
    pub fn none(site: &'static Site) -> Scope {
        Scope::from_begun(local::BegunSpan::unrecorded(0), site)
    }

    /// Returns the guard of a span that is not recorded, with a name that is computed at run time.
    #[inline]
    fn none_named(site: &'static Site, name: &str) -> Scope {
        let state = if name.is_empty() { 0 } else { names::keep(name) };
        Scope::from_begun(local::BegunSpan::unrecorded(state), site)
    }

    /// Returns an empty list of arguments for [`Scope::add`]; `None` if the span is not recorded.
    #[doc(hidden)]
    #[inline]
    pub fn more(&self) -> Option<Args> {
        #[cfg(feature = "record")]
        if local::is_open(self.begun) {
            return Some(Args::new(self.begun.state));
        }
        None
    }

    /// Adds arguments to the open span.
    #[doc(hidden)]
    #[cfg_attr(not(feature = "record"), allow(clippy::needless_pass_by_value))]
    pub fn add(&self, args: Args) {
        #[cfg(feature = "record")]
        span::add(self.begun, args);
        #[cfg(not(feature = "record"))]
        let _ = args;
    }

    #[cfg(feature = "record")]
    #[inline(always)]
    fn from_begun(begun: local::BegunSpan, site: &'static Site) -> Scope {
        Scope { begun, site, stays: PhantomData }
    }

    #[cfg(not(feature = "record"))]
    #[inline(always)]
    fn from_begun(_: local::BegunSpan, _: &'static Site) -> Scope {
        Scope { stays: PhantomData }
    }
}

#[cfg(feature = "record")]
impl Drop for Scope {
    #[inline(always)]
    fn drop(&mut self) {
        // A recording may have started since the span began.
        if self.begun.state != 0 || recorder::state() != 0 {
            span::end(self.begun, self.site);
        }
    }
}

/// Records an instant event.
#[doc(hidden)]
pub fn instant(args: Args, site: &'static Site) {
    span::instant(args, site);
}

/// Begins a user annotation with a name that is computed at run time: PyTorch's `record_function`.
#[inline]
pub fn record_function(name: &str) -> Scope {
    static SITE: Site = Site::new("record_function", SpanKind::Annotation, file!(), line!());
    named_scope(&SITE, name)
}

/// Begins an operator with a name that is computed at run time.
#[inline]
pub fn operator(name: &str) -> Scope {
    static SITE: Site = Site::new("operator", SpanKind::Op, file!(), line!());
    named_scope(&SITE, name)
}

/// Returns the path of the function in which `here` is defined.
#[doc(hidden)]
pub fn function_name<T>(_: T) -> &'static str {
    let path = std::any::type_name::<T>();
    let path = path.strip_suffix("::__kinetoscope_here").unwrap_or(path);
    // Bodies of closures and of asynchronous functions count as the function.
    path.trim_end_matches("::{{closure}}")
}

#[inline]
fn named_scope(site: &'static Site, name: &str) -> Scope {
    match recorder::state() {
        0 => Scope::none_named(site, name),
        state => {
            let mut args = Args::new(state);
            args.name(name);
            Scope::with(site, args)
        }
    }
}
