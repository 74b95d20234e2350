//! What is computed from several traces: the ranks of a run, comparisons, budgets, and the history of a metric.

pub mod budget;
pub mod compare;
pub mod history;
pub mod ranks;
