//! Answers as text: torch's table, plain tables, Markdown, CSV, JSON.

pub mod document;
pub mod profile;
pub mod summary_text;
pub mod table_options;
pub mod torch_table;
