//! Budgets: limits on what a trace measures, absolute or relative to other traces.
//!
//! ```text
//! leaves of a file → Budgets ┐
//! Trace → Subject            ├→ check → outcomes → rows, JUnit, SARIF
//! other traces → Subjects    ┘
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `metric` | what can be limited, and its unit |
//! | `quantity` | values with units |
//! | `parse` | the leaves of a file of budgets, and what can be wrong with them |
//! | [`subject`] | what a trace measures |
//! | `check` | whether budgets hold |
//! | [`formats`] | outcomes as JUnit XML and SARIF |
//! | [`starting_point`] | a file of budgets from measured traces |

mod check;
pub(crate) mod columns;
pub mod formats;
pub(crate) mod metric;
mod parse;
pub(crate) mod quantity;
pub mod starting_point;
pub mod subject;

pub use check::{Checked, Outcome};
pub use columns::{COLUMNS, rows};
pub use parse::{Budgets, Leaf, Wrong};
