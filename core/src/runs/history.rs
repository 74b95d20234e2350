//! The history of a program: metrics of recorded traces as JSON Lines, and where they changed for good.
//!
//! | module | contents |
//! |---|---|
//! | [`record`] | the line of a trace |
//! | `series` | the values of each metric over the lines of a file |
//! | `change_points` | where a series changes |
//! | [`trend`] | the answer as rows and text |

mod change_points;
pub mod record;
mod series;
pub mod trend;
