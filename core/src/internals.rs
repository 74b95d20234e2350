//! Internals for the tests of this project. They are not part of the public interface and may change in any release.

pub use crate::demangle::rewrite_name;
pub use crate::dialect::hidden::HIDDEN;
