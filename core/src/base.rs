//! What every other part uses: times, units and names, errors and diagnostics, closed vocabularies, rows of answers and their escapes,
//! and the sorts and maps of the engine.

pub(crate) mod demangle;
pub mod diagnostics;
pub mod error;
pub mod escape;
pub(crate) mod handle;
pub(crate) mod index;
pub(crate) mod join;
pub(crate) mod maxima;
pub mod names;
pub(crate) mod order;
pub mod page;
pub(crate) mod random;
pub mod rows;
pub mod time;
pub mod units;
pub(crate) mod varints;
pub(crate) mod without_comments;
pub mod words;
