//! The command line as its users run it.

mod budgets;
mod cases;
mod commands;
mod edges;
mod hostile;
mod large;
mod provenance;
mod ranks;
mod serving;
mod support;
mod torch;
