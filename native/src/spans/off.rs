//! Empty implementations for a build without the feature `record`. The compiler removes calls to them.

pub(super) mod registry {
    use kinetoscope_stream::record::SpanKind;

    /// A call site.
    #[derive(Debug)]
    pub struct Site;

    impl Site {
        /// A call site.
        pub const fn new(name: &'static str, _: SpanKind, _: &'static str, _: u32) -> Site {
            assert!(!name.is_empty(), "the name of a span or event must not be empty");
            Site
        }
    }

    /// The name of an argument.
    #[derive(Debug)]
    pub struct Name;

    impl Name {
        /// A name.
        pub const fn new(_: &'static str) -> Name {
            Name
        }
    }
}

pub(super) mod names {
    #[inline(always)]
    pub(crate) fn keep(_: &str) -> u32 {
        0
    }
}

pub(super) mod local {
    #[derive(Clone, Copy)]
    pub(crate) struct BegunSpan;

    impl BegunSpan {
        #[inline(always)]
        pub(crate) const fn unrecorded(_: u32) -> BegunSpan {
            BegunSpan
        }
    }
}

pub(super) mod state {
    #[inline(always)]
    pub(crate) fn state() -> u32 {
        0
    }

    #[inline(always)]
    pub(crate) fn is_on(_: u32) -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn wants_more(_: u32) -> bool {
        false
    }

    pub(crate) fn wants_modules(_: u32) -> bool {
        false
    }

    pub(crate) fn left_out(state: u32) -> u32 {
        state
    }

    pub(crate) fn is_paused(_: u32) -> bool {
        false
    }

    pub(crate) fn is_older(_: u32, _: u32) -> bool {
        false
    }
}

pub(super) mod span {
    use super::args::Args;
    use super::local::BegunSpan;
    use super::registry::Site;

    #[inline(always)]
    pub(crate) fn begin(_: u32, _: &'static Site) -> BegunSpan {
        BegunSpan
    }

    pub(crate) fn begin_with(_: Args, _: &'static Site) -> BegunSpan {
        BegunSpan
    }

    pub(crate) fn instant(_: Args, _: &'static Site) {}
}

pub(super) mod args {
    use super::registry::{Name, Site};
    use crate::spans::sequence::Sequence;
    use crate::spans::shape::InputShape;
    use crate::spans::tensor::TensorId;
    use crate::spans::value::Value;
    use kinetoscope_stream::record::Tag;

    /// The arguments of a record.
    #[derive(Debug)]
    pub struct Args;

    #[allow(missing_docs, clippy::unused_self)]
    impl Args {
        pub fn new(_: u32) -> Args {
            Args
        }
        pub fn name(&mut self, _: impl AsRef<str>) {}
        pub fn shapes<T: InputShape>(&mut self, _: impl IntoIterator<Item = T>) {}
        pub fn strides<T: InputShape>(&mut self, _: impl IntoIterator<Item = T>) {}
        pub fn dtype(&mut self, _: &str) {}
        pub fn dtypes(&mut self, _: &[&str]) {}
        pub fn concrete(&mut self, _: &[&dyn std::fmt::Display]) {}
        pub fn tensors<'a, T: Into<TensorId<'a>>>(&mut self, _: impl IntoIterator<Item = T>) {}
        pub fn outputs(self, _: &'static Site) {}
        pub fn flops<T: TryInto<i64>>(&mut self, _: T) {}
        pub fn sequence(&mut self, _: Sequence) {}
        pub fn backward(&mut self, _: Sequence) {}
        pub fn frame(&mut self, _: &str) {}
        pub fn value<T: Value + ?Sized>(&mut self, _: &'static Name, _: &T) {}
        pub fn debug(&mut self, _: &'static Name, _: &dyn std::fmt::Debug) {}
        pub fn display(&mut self, _: &'static Name, _: &dyn std::fmt::Display) {}
        pub fn counter(self, _: &'static Site) {}
        pub fn flow_start(self, _: &'static Site, _: u64) {}
        pub fn flow_step(self, _: &'static Site, _: u64) {}
        pub fn flow_end(self, _: &'static Site, _: u64) {}
        pub fn poll(self, _: Tag, _: &'static Site, _: u64) {}
        pub fn async_begin(self, _: &'static Site, _: u64) -> bool {
            false
        }
        pub fn async_begin_at_start(self, _: &'static Site, _: u64) -> bool {
            false
        }
        pub fn async_end(self, _: &'static Site, _: u64) {}
        pub(crate) fn int(&mut self, _: u32, _: i64) {}
        pub(crate) fn float(&mut self, _: u32, _: f64) {}
        pub(crate) fn bool(&mut self, _: u32, _: bool) {}
        pub(crate) fn text(&mut self, _: u32, _: &str) {}
        pub(crate) fn formatted(&mut self, _: u32, _: std::fmt::Arguments<'_>) {}
        pub(crate) fn number(&mut self, _: u32, _: std::fmt::Arguments<'_>) {}
        pub(crate) fn list(&mut self, _: u32, _: impl FnOnce(&mut String)) {}
    }
}
