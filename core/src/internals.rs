//! Internals for the tests of this project. They are not part of the public interface and may change in any release.

pub use crate::base::demangle::rewrite_name;
pub use crate::trace::dialect::hidden::HIDDEN;
