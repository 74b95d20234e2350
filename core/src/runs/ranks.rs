//! Runs of several ranks: one summary for each rank, and what follows from all of them.
//!
//! A trace is reduced to a [`Summary`](summary::Summary) by itself, so that no two traces are in memory at the same time.
//! Everything else uses summaries only.
//!
//! ```text
//! Trace → calls, phases → Summary ⇄ .ksum
//!                            ↓
//!                   Run → matching → clocks → waits → stragglers → rows, text
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`summary`] | one rank: its steps, phases, collectives, operators, kernels, memory |
//! | [`mod@file`] | the file format of summaries, and how summaries are merged |
//! | `sketch` | distributions of durations that can be merged |
//! | [`run`] | the ranks of a run: which are missing, twice or contradictory |

pub mod alignment;
mod alike;
mod assembly;
mod bandwidth;
pub(crate) mod calls;
mod clocks;
mod evidence;
pub mod file;
pub(crate) mod findings;
mod fitness;
mod matching;
mod nodes;
pub(crate) mod phases;
pub mod query;
pub(crate) mod report;
mod rows;
pub mod run;
pub(crate) mod sketch;
pub(crate) mod step_table;
pub(crate) mod stragglers;
mod structure;
pub mod summary;
mod waits;
