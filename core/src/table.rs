//! The event table: columns, one row an event, and what the rows refer to.

pub(crate) mod append;
pub mod bounds;
pub mod category;
mod column;
pub mod events;
pub mod fields;
pub mod layout;
pub mod metadata;
pub mod tracks;
