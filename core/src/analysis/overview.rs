//! A trace as a whole: summary, findings, identities, info, and a preview while it is read.

pub mod check;
pub(crate) mod findings;
pub mod identities;
pub(crate) mod info;
pub mod preview;
pub mod summary;
