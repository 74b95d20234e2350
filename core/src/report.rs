//! Answers as text: torch's table, plain tables, JSON, CSV.

pub mod torch_table;
pub mod units;
