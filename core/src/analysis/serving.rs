//! Iterations of an inference engine: what each phase takes, what bounds it, and how many tokens it computes.
//!
//! Iterations are ranges whose names say so ([`step_rules`](crate::trace::step_rules)); without such ranges,
//! profiler steps; without both, launches that repeat.

mod answer;
mod energy;
mod found;
mod graphs;
mod groups;
mod inferred;
mod kinds;
mod parts;
mod quantile;
mod served;
pub(crate) mod serving_rows;
mod serving_text;
mod steady;
