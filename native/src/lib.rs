//! x
pub mod inflate;
