//! Analyses of a [`Trace`](crate::trace::Trace), one in each file: pure functions from a trace to rows of plain
//! numbers.
//!
//! Each analysis has its query next to it: the options, the columns, and the function that answers. A group may use those above
//! it in this list, and the modules that belong to no group. What several analyses of a trace have in common is computed once:
//! [`context`].
//!
//! | group | contents |
//! |---|---|
//! | [`query`] | what a query, an option and an answer are |
//! | [`torch`] | what `torch.profiler` reports |
//! | [`device`] | device work, idle time and memory |
//! | [`tasks`] | asynchronous spans, when they ran and what they waited for |
//! | [`replay`] | what a trace would have taken if something had been different |
//! | [`serving`] | iterations of inference engines: phases, tokens, graph replays |
//! | [`timeline`] | spans by track and time |
//! | [`overview`] | summary, findings and data quality |

pub(crate) mod children;
pub mod context;
pub mod device;
pub(crate) mod formulas;
pub(crate) mod intervals;
pub mod overview;
pub mod query;
pub mod replay;
pub mod serving;
pub mod tasks;
pub mod timeline;
pub mod torch;
