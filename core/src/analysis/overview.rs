//! A trace as a whole: summary, findings, identities, info, and a preview while it is read.

pub mod early;
pub mod findings;
pub mod info;
pub mod ledger;
pub mod summary;
