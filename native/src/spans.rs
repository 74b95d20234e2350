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

#[cfg(feature = "record")]
use crate::hot::{names, registry, state as recorder};
#[cfg(not(feature = "record"))]
use off::{args, names, registry, span, state as recorder};

#[doc(hidden)]
pub use args::Args;
pub use asynchronous::AsyncScope;
pub use kinetoscope_stream::record::Kind;
pub use module::Module;
#[doc(hidden)]
pub use registry::{Name, Site};
pub use sequence::Sequence;
pub use shape::{InputShape, Shape};
use std::marker::PhantomData;
pub use tensor::TensorId;

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
/// A span that is open when a recording starts is recorded when it ends, from the start of the recording, without its
/// arguments.
#[derive(Debug)]
#[must_use = "a span ends when this is dropped"]
pub struct Scope {
    /// The state when the span began; without flags if it is not recorded.
    #[cfg(feature = "record")]
    state: u32,
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
            return Scope::of(0, site);
        }
        if recorder::wants_more(state) {
            return Scope::with_more(site, state);
        }
        Scope::of(span::begin(state, site), site)
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
        Scope::of(span::begin_with(args, site), site)
    }

    /// Returns the guard of a span that begins while nothing is recorded or mirrored.
    #[doc(hidden)]
    #[inline(always)]
    pub fn none(site: &'static Site) -> Scope {
        Scope::of(0, site)
    }

    /// Returns the guard of a span that is not recorded, with a name that is computed at run time.
    #[inline]
    fn none_named(site: &'static Site, name: &str) -> Scope {
        Scope::of(if name.is_empty() { 0 } else { names::keep(name) }, site)
    }

    #[cfg(feature = "record")]
    #[inline(always)]
    fn of(state: u32, site: &'static Site) -> Scope {
        Scope { state, site, stays: PhantomData }
    }

    #[cfg(not(feature = "record"))]
    #[inline(always)]
    fn of(_: u32, _: &'static Site) -> Scope {
        Scope { stays: PhantomData }
    }
}

#[cfg(feature = "record")]
impl Drop for Scope {
    #[inline(always)]
    fn drop(&mut self) {
        // A recording may have started since the span began.
        if self.state != 0 || recorder::state() != 0 {
            span::end(self.state, self.site);
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
    static SITE: Site = Site::new("record_function", Kind::Annotation, file!(), line!());
    named_scope(&SITE, name)
}

/// Begins an operator with a name that is computed at run time.
#[inline]
pub fn operator(name: &str) -> Scope {
    static SITE: Site = Site::new("operator", Kind::Op, file!(), line!());
    named_scope(&SITE, name)
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
