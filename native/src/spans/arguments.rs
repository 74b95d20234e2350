//! Arguments that a function of the program adds to a span.

use super::{Args, Value};

/// The arguments of a span, to which a function of the program adds some.
#[derive(Debug)]
pub struct SpanArguments<'a> {
    args: &'a mut Args,
}

#[cfg(feature = "record")]
impl<'a> SpanArguments<'a> {
    pub(crate) fn new(args: &'a mut Args) -> SpanArguments<'a> {
        SpanArguments { args }
    }
}

impl SpanArguments<'_> {
    /// Adds an argument. The arguments of a span take at most 64 KiB; what exceeds that is cut and counted.
    pub fn value(&mut self, name: &'static str, value: impl Value) {
        let key = key(name);
        value.put(key, self.args);
    }
}

#[cfg(feature = "record")]
fn key(name: &'static str) -> u32 {
    crate::hot::local::unrecorded(|| super::registry::registry().name(name))
}

#[cfg(not(feature = "record"))]
fn key(_: &'static str) -> u32 {
    0
}
