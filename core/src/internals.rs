//! What the tests of this project compare with, and nobody else may use: it may change in any release.

pub use crate::demangle::rewrite_name;
pub use crate::dialect::hidden::HIDDEN;
