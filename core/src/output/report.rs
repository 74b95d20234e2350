//! Answers as text: PyTorch's table, the summary, JSON documents.

pub mod document;
pub mod profile;
pub mod sort_by;
pub mod summary_text;
pub mod table_options;
pub mod torch_table;
