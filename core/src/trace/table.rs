//! The event table: columns with one row per event, and the strings, tracks and layouts that the rows refer to.

pub(crate) mod append;
pub mod bounds;
pub mod category;
mod column;
pub mod events;
pub mod fields;
pub mod layout;
mod merge;
pub(crate) mod merged;
pub mod metadata;
pub(crate) mod packed;
mod rank_numbers;
pub mod tracks;
