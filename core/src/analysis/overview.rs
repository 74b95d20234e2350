//! The complete trace: summary, findings, identities, info, and a preview during reading.

pub mod bound;
pub mod check;
pub(crate) mod findings;
pub mod fitness;
pub mod identities;
pub(crate) mod info;
pub mod preview;
pub mod summary;
pub mod summary_text;
pub mod validator;
